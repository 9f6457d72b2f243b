"""The rows of a file of publications, each with its line. A row that cannot be read is the reason why."""

import csv
import json
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shirube.ingest.readers.contract import Unreadable
from shirube.ingest.readers.encoding import decode
from shirube.ingest.refused import Refused
from shirube.toolsets.patents.gazette import read_gazette
from shirube.toolsets.patents.headings import known
from shirube.toolsets.patents.record import read_publication

if TYPE_CHECKING:
    from _csv import Reader

Record = dict[str, Any]
# A field of a table holds a whole description.
_LARGEST_FIELD = 20_000_000
_TABLES = (".csv", ".tsv")
# The one by which the most headings are known, whatever the file is called; the first where none is.
_SEPARATORS = (",", "\t", ";")
# Excel's own note on it, in the first line.
_SEPARATOR = re.compile('"?sep=(.)"?[,;\t]*(?=\r|\n|\\Z)', re.IGNORECASE)


def records(path: Path) -> Iterator[tuple[int, Record | Refused]]:
    """The publications of a file: of a gazette counted from 1, of others with the line where each begins."""
    is_gazette = path.suffix.lower() == ".xml"
    try:
        data = path.read_bytes()
    except OSError as error:
        yield 1, Refused(f"cannot be read: {error.strerror}", f"読めません（{error.strerror}）。")
        return
    for line, row in _gazette(data) if is_gazette else _rows(path, data):
        if isinstance(row, Refused):
            yield line, row
            continue
        try:
            yield line, read_publication(row, is_marked_up=not is_gazette)
        except Refused as refused:
            yield line, refused


def _gazette(data: bytes) -> Iterator[tuple[int, Any]]:
    try:
        yield from enumerate(read_gazette(data), start=1)
    except Refused as refused:
        yield 1, refused


def _rows(path: Path, data: bytes) -> Iterator[tuple[int, Any]]:
    try:
        text = decode(data)
    except Unreadable as error:
        yield 1, Refused(error.en, error.ja)
        return
    # Excel's "Unicode text" is a table too.
    is_table = path.suffix.lower() in _TABLES or (path.suffix.lower() == ".txt" and not _is_json(text))
    if is_table:
        yield from _table(text)
    elif (whole := _whole(text)) is not None:
        yield from enumerate(whole, start=1)
    else:
        yield from _lines(text)


def _is_json(text: str) -> bool:
    return text.lstrip().startswith(("[", "{"))


def _whole(text: str) -> list[Any] | None:
    """The publications of a text that is one JSON value, a list or one alone; None where each line is a value."""
    if not _is_json(text):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else [value]


def _table(text: str) -> Iterator[tuple[int, Any]]:
    csv.field_size_limit(_LARGEST_FIELD)
    if said := _SEPARATOR.match(text):
        # Its line stays, so that the others keep their numbers.
        reader = _reader(text[said.end() :], said[1])
    else:
        reader = _reader(text, max(_SEPARATORS, key=lambda each: known(_headings(text, each))))
    headings: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            values = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, Refused(f"not readable as a table: {error}", f"表として読めません（{error}）。")
            continue
        if not any(values):
            continue
        if headings:
            cells = zip(headings, values, strict=False)
            yield line, {heading: value for heading, value in cells if heading and value}
        else:
            headings = values


def _reader(text: str, separator: str) -> "Reader":
    # Strict, or a quotation mark that is never closed would swallow the rest of the file without a word.
    return csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)


def _headings(text: str, separator: str) -> list[str]:
    """What stands in the first line that is not empty, read with this separator."""
    try:
        return next((values for values in _reader(text, separator) if any(values)), [])
    except csv.Error:
        return []


def _lines(text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                yield number, Refused("not valid JSON", "正しい JSON ではありません。")
