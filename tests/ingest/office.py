"""Office files, made by the libraries that others make them with, and some that nobody should make."""

import io
import zipfile
from functools import cache
from typing import Any

import docx
import openpyxl
import pptx


def saved(document: Any) -> bytes:
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def word(*blocks: tuple[str, str] | str) -> bytes:
    """A document of paragraphs, or (style, text)."""
    document = docx.Document()
    for block in blocks:
        style, text = block if isinstance(block, tuple) else ("Normal", block)
        document.add_paragraph(text, style=style)
    return saved(document)


def sheets(**contents: list[list[Any]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in contents.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    return saved(book)


def deck(*slides: tuple[str, str]) -> bytes:
    """Slides of a title and a text."""
    made = pptx.Presentation()
    for title, text in slides:
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
    return saved(made)


def changed(data: bytes, part: str, old: bytes, new: bytes, packed: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An Office file with something else in one of its parts."""
    written = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as before,
        zipfile.ZipFile(written, "w", packed) as after,
    ):
        for name in before.namelist():
            content = before.read(name)
            if name == part:
                assert old in content
                content = content.replace(old, new)
            after.writestr(name, content)
    return written.getvalue()


@cache
def bomb() -> bytes:
    """A Word file of some hundred kilobytes with 600 MB in it."""
    written = io.BytesIO(word("本文です。"))
    with (
        zipfile.ZipFile(written, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("word/media/a.bin", "w") as part,
    ):
        for _ in range(600):
            part.write(bytes(1_000_000))
    return written.getvalue()


LAUGHS = (
    b'<!DOCTYPE lol [<!ENTITY a0 "'
    + "笑".encode() * 10
    + b'">'
    + b"".join(b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 10))
    + b"]>"
)
