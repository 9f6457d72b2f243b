"""Plain text."""

from shirube.ingest.readers.contract import Content
from shirube.ingest.readers.encoding import decode


def read(data: bytes) -> Content:
    return Content(decode(data))
