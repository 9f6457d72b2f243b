"""The zip around an Office file, looked through before any library unpacks it."""

import re
import zipfile
import zlib
from io import BytesIO

from shirube.ingest.readers.contract import Unreadable
from shirube.ingest.readers.kinds import encrypted

# What Office writes stays far below all of these; a sheet of repeated rows shrinks to a hundredth.
_MOST_PARTS = 10_000
_LARGEST = 512 * 1024 * 1024
_RATIO = 200
# Below this a part may be packed as tightly as it likes.
_HARMLESS = 16 * 1024 * 1024
_READ = 1024 * 1024
# No Office file declares types or entities; who does wants them expanded.
_DECLARES = re.compile(rb"<\0?!\0?(?:D\0?O\0?C\0?T\0?Y\0?P\0?E|E\0?N\0?T\0?I\0?T\0?Y)")
_OVERLAP = 32
_BEFORE_XML = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"


def check(data: bytes) -> None:
    """Refuse zip bombs and XML with a DTD. Both what the directory says and what really comes out is counted."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            parts = archive.infolist()
            if len(parts) > _MOST_PARTS:
                raise _bomb()
            left = _LARGEST
            if sum(part.file_size for part in parts) > left:
                raise _bomb()
            for part in parts:
                if part.flag_bits & 1:
                    raise encrypted()
                left -= _check_part(archive, part, left)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError) as error:
        raise Unreadable(
            "damaged or cut off; save it again", "壊れているか、途中で切れています。保存し直してください。"
        ) from error


def _check_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo, left: int) -> int:
    """The size of a part, unpacked bit by bit."""
    is_xml = False
    packed = max(part.compress_size, 1)
    size = 0
    tail = b""
    with archive.open(part) as source:
        while piece := source.read(_READ):
            size += len(piece)
            if size > left or (size > _HARMLESS and size > _RATIO * packed):
                raise _bomb()
            if not tail:
                # By how it begins: any name will do for a part. Drawings may have a DTD, and are not read.
                is_xml = piece.lstrip(_BEFORE_XML)[:1] == b"<" and not part.filename.lower().endswith(".svg")
            if is_xml and _DECLARES.search(tail + piece):
                raise Unreadable(
                    "its XML declares entities, which no Office file does",
                    "XML に実体の宣言があります。Office のファイルではありえません。",
                )
            tail = piece[-_OVERLAP:]
    return size


def _bomb() -> Unreadable:
    return Unreadable(
        "unpacks to far more than it should (a zip bomb?)",
        "展開すると異常に大きくなります（zip 爆弾の可能性）。",
    )
