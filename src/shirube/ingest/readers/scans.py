"""Images of pages: what Tesseract reads on them."""

import warnings
from collections.abc import Callable
from io import BytesIO

from shirube.ingest.readers import tesseract
from shirube.ingest.readers.contract import Content, Unreadable
from shirube.ingest.readers.writing import Writer

_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP")
# A0 at 300 dpi is 140 million.
_MOST_PIXELS = 150_000_000
MOST_PAGES = 300


def read(data: bytes, on_page: Callable[[], None]) -> Content:
    from PIL import Image, ImageOps, UnidentifiedImageError

    if tesseract.languages() is None:
        raise tesseract.missing("an image;", "画像です。読み取るには、")
    Image.MAX_IMAGE_PIXELS = _MOST_PIXELS
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    writer = Writer()
    try:
        with Image.open(BytesIO(data), formats=_FORMATS) as image:
            count = getattr(image, "n_frames", 1)
            if count > MOST_PAGES:
                raise too_many(count)
            for number in range(count):
                image.seek(number)
                writer.page()
                on_page()
                writer.line(tesseract.text_of(ImageOps.exif_transpose(image)))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise Unreadable(
            f"more than {_MOST_PIXELS // 1_000_000} million pixels; make it smaller",
            f"{_MOST_PIXELS // 10_000:,} 万画素を超えています。小さくしてください。",
        ) from error
    except (UnidentifiedImageError, OSError, SyntaxError, EOFError) as error:
        raise Unreadable("damaged, or not an image", "壊れているか、画像ではありません。") from error
    return Content(writer.text(), pages=writer.pages if count > 1 else ())


def too_many(count: int) -> Unreadable:
    return Unreadable(
        f"{count:,} scanned pages, more than {MOST_PAGES}; split it",
        f"スキャンしたページが {count:,} あり、{MOST_PAGES} を超えています。分割してください。",
    )
