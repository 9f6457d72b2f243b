"""The rows of a file of publications, each with its line. A row that cannot be read is the reason why."""

import csv
import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

from shirube.errors import InvalidInput, NotFound
from shirube.ingest.readers.contract import Unreadable
from shirube.ingest.readers.encoding import decode
from shirube.ingest.refused import Refused
from shirube.toolsets.patents.gazette import read_gazette
from shirube.toolsets.patents.record import read_publication

Record = dict[str, Any]
# A field of a table holds a whole description.
_LARGEST_FIELD = 20_000_000


def records(path: Path) -> Iterator[tuple[int, Record | Refused]]:
    """The publications of a file: of a gazette counted from 1, of others with the line where each begins."""
    is_gazette = path.suffix.lower() == ".xml"
    for line, row in _gazette(path) if is_gazette else _rows(path):
        if isinstance(row, Refused):
            yield line, row
            continue
        try:
            yield line, read_publication(row, is_marked_up=not is_gazette)
        except Refused as refused:
            yield line, refused


def _gazette(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        yield from enumerate(read_gazette(_bytes(path)), start=1)
    except Refused as refused:
        yield 1, refused


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        text = decode(_bytes(path))
    except Unreadable as error:
        raise InvalidInput(f"{path.name}: {error}", f"{path.name} を読めません（{error}）。") from None
    match path.suffix.lower():
        case ".csv" | ".tsv" as suffix:
            yield from _table(text, "\t" if suffix == ".tsv" else ",")
        case _ if text.lstrip().startswith("["):
            try:
                yield from enumerate(json.loads(text), start=1)
            except (ValueError, RecursionError, TypeError) as error:
                raise InvalidInput(
                    f"{path.name} is not JSON: {error}", f"{path.name} が正しい JSON ではありません。"
                ) from None
        case _:
            yield from _lines(text)


def _table(text: str, separator: str) -> Iterator[tuple[int, Any]]:
    csv.field_size_limit(_LARGEST_FIELD)
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator)
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


def _lines(text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                yield number, Refused("not valid JSON", "正しい JSON ではありません。")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise NotFound(
            f"{path.name} cannot be read: {error.strerror}", f"{path.name} を読めません（{error.strerror}）。"
        ) from None
