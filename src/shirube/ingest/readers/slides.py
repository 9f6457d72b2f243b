"""PowerPoint: a page for each slide, its title as heading, what stands on it from top to bottom, then the notes."""

from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from typing import Any

from shirube.ingest.readers import archive
from shirube.ingest.readers.contract import Content
from shirube.ingest.readers.tables import Cell, lines
from shirube.ingest.readers.writing import Writer, one_line, sensible_title

# Shapes whose tops differ by less stand beside each other: a quarter of an inch.
_SAME_HEIGHT = 914_400 // 4
_DEEPEST_GROUP = 20


def read(data: bytes, on_page: Callable[[], None]) -> Content:
    archive.check(data)
    import pptx

    deck = pptx.Presentation(BytesIO(data))
    writer = Writer()
    for slide in deck.slides:
        # A hidden slide still counts: its number is on the others.
        writer.page()
        if slide._element.get("show") in ("0", "false"):
            continue
        _write(writer, slide)
    return writer.content(sensible_title(deck.core_properties.title))


def _write(writer: Writer, slide: Any) -> None:
    title = slide.shapes.title
    if title is not None and title.has_text_frame:
        writer.heading(title.text_frame.text.replace("\v", " "), 1)
    for shape in _in_order(slide.shapes):
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if getattr(shape, "has_table", False):
            table = shape.table
            for text in lines(_rows(table), int(table.first_row)):
                writer.line(text)
        elif shape.has_text_frame:
            _paragraphs(writer, shape.text_frame)
        elif getattr(shape, "has_chart", False):
            _chart(writer, shape.chart)
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) is not None:
        written = one_line(notes.text)
        writer.line(f"ノート: {written}" if written else "")


def _rows(table: Any) -> list[list[Cell]]:
    above: dict[int, Cell] = {}
    return [_row(line, above) for line in table.rows]


def _row(line: Any, above: dict[int, Cell]) -> list[Cell]:
    """The cells of a row. `above` is what reaches down by column."""
    found: list[Cell] = []
    covered = 0
    for at, each in enumerate(line.cells):
        if covered:
            covered -= 1
            continue
        if each.is_spanned:
            cell = above[at].repeated() if each._tc.vMerge and at in above else Cell("")
        else:
            cell = Cell(each.text_frame.text, each.span_width if each.is_merge_origin else 1)
            above.pop(at, None)
            if each.is_merge_origin and each.span_height > 1:
                above[at] = cell
        covered = cell.columns - 1
        found.append(cell)
    return found


def _paragraphs(writer: Writer, frame: Any) -> None:
    for paragraph in frame.paragraphs:
        writer.line(one_line(paragraph.text.replace("\v", " ")))


def _chart(writer: Writer, chart: Any) -> None:
    """A chart by its title, as it is all that can be read of it."""
    if chart.has_title and chart.chart_title.has_text_frame:
        _paragraphs(writer, chart.chart_title.text_frame)


def _in_order(shapes: Iterable[Any], depth: int = 0) -> Iterator[Any]:
    """From top to bottom and left to right; a group is read as a whole."""
    lines: list[list[Any]] = []
    for shape in sorted(shapes, key=lambda each: each.top or 0):
        if lines and (shape.top or 0) - (lines[-1][0].top or 0) < _SAME_HEIGHT:
            lines[-1].append(shape)
        else:
            lines.append([shape])
    for line in lines:
        for shape in sorted(line, key=lambda each: each.left or 0):
            if hasattr(shape, "shapes"):
                if depth < _DEEPEST_GROUP:
                    yield from _in_order(shape.shapes, depth + 1)
            else:
                yield shape
