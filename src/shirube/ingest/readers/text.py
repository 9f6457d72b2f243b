"""Plain text."""

from shirube.ingest.readers.contract import Content
from shirube.ingest.readers.encoding import decode
from shirube.ingest.readers.markdown import check_access


def read(data: bytes) -> Content:
    text = decode(data)
    check_access(text, {})
    return Content(text)
