"""Tesseract, where it is installed: an image in, the paragraphs on it out."""

import os
import re
import shutil
import subprocess
from functools import cache
from io import BytesIO
from typing import Any

from shirube.ingest.readers.contract import Closed
from shirube.ingest.readers.lines import begins, ends, joined, without_gaps

# A page of small print takes about ten.
SECONDS = 50
# A3 at 400 dpi; a larger page is made smaller, a far larger image refused.
PIXELS = 32_000_000
_BLANK = re.compile(r"\n\s*\n")
# A line this much shorter than the longest of its paragraph ends it.
_SHORT = 0.8


@cache
def languages() -> str | None:
    """What is read, as Tesseract wants it said, or None where it is not installed with Japanese."""
    program = shutil.which("tesseract")
    if program is None:
        return None
    try:
        said = subprocess.run(
            [program, "--list-langs"], capture_output=True, timeout=20, check=True, text=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    known = said.stdout.split()
    return None if "jpn" not in known else "jpn+eng" if "eng" in known else "jpn"


def missing(en: str = "no text; scanned?", ja: str = "文字がありません。スキャンしたものなら、") -> Closed:
    return Closed(
        f"{en} install tesseract with jpn (Debian: tesseract-ocr-jpn, macOS: tesseract-lang)",
        f"{ja}日本語の入った Tesseract（Debian は tesseract-ocr-jpn、macOS は tesseract-lang）を入れてください。",
    )


def text_of(image: Any) -> str:
    """The text on an image of Pillow's, a paragraph a line. Closed where it fails or takes too long."""
    spoken = languages()
    if spoken is None:
        raise missing()
    written = BytesIO()
    _fitting(_opaque(image)).convert("L").save(written, "PNG", compress_level=1)
    try:
        done = subprocess.run(
            ["tesseract", "stdin", "stdout", "-l", spoken, "--dpi", "300"],
            input=written.getvalue(),
            capture_output=True,
            timeout=SECONDS,
            check=True,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
    except subprocess.TimeoutExpired as error:
        raise Closed(
            f"recognising a page took longer than {SECONDS} seconds",
            f"1ページの文字認識が {SECONDS} 秒で終わりません。",
        ) from error
    except (OSError, subprocess.CalledProcessError) as error:
        raise Closed("tesseract failed on it", "Tesseract が失敗しました。") from error
    return paragraphs(done.stdout.decode("utf-8", "replace"))


def paragraphs(recognised: str) -> str:
    """What Tesseract prints as text: without spaces between letters, lines joined, long vowels restored."""
    from shirube.text.ocr import long_vowels  # loads the dictionary, which most files do without

    found: list[str] = []
    for block in _BLANK.split(recognised.replace("\f", "\n")):
        lines = [line for line in (without_gaps(line.strip()) for line in block.split("\n")) if line]
        widest = max(map(len, lines), default=0)
        before = ""
        for line in lines:
            goes_on = found and before and not ends(before) and len(before) >= _SHORT * widest
            if goes_on and not begins(line):
                found[-1] = joined(found[-1], line)
            else:
                found.append(line)
            before = line
    return long_vowels("\n".join(found))[0]


def _opaque(image: Any) -> Any:
    """On white paper: what is transparent would become black."""
    if not image.has_transparency_data:
        return image
    paper = image.convert("RGBA")
    paper.paste((255, 255, 255, 255), mask=paper.getchannel("A").point(lambda alpha: 255 - alpha))
    return paper


def _fitting(image: Any) -> Any:
    """The image, made smaller where it has more pixels than are of use."""
    pixels = image.width * image.height
    if pixels <= PIXELS:
        return image
    factor = (PIXELS / pixels) ** 0.5
    return image.resize((max(1, int(image.width * factor)), max(1, int(image.height * factor))))
