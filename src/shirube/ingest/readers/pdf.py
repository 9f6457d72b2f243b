"""PDF: text by page in the order it was written, lines put together to paragraphs, tables as rows, headings.

Headings come from the outline, or from lines in larger type where there is none. A page that is only an image goes
through Tesseract. What repeats at the top or bottom of pages is kept once, page numbers not at all.
"""

from collections.abc import Callable
from typing import Any

from shirube.ingest.readers import headings as marked
from shirube.ingest.readers import layout, tesseract
from shirube.ingest.readers.contract import Content, Heading, Unreadable
from shirube.ingest.readers.headings import Mark
from shirube.ingest.readers.kinds import encrypted
from shirube.ingest.readers.layout import Block, Page
from shirube.ingest.readers.lines import begins, clean, ends, glued
from shirube.ingest.readers.scans import MOST_PAGES as MOST_SCANNED
from shirube.ingest.readers.writing import sensible_title

# The longest laws and manuals have some thousands.
_MOST_PAGES = 10_000
_MOST_LETTERS = 64 * 1024 * 1024
_MOST_MARKS = 20_000
_DPI = 300
_POINT = 1 / 72
# A page with less text than this and an image over much of it was scanned, with a stamp or a number put on later.
_FEW_LETTERS = 16
_MUCH = 0.4
_NAMED_PAGES = 10


def read(data: bytes, on_page: Callable[[], None]) -> Content:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code in (pypdfium2.raw.FPDF_ERR_PASSWORD, pypdfium2.raw.FPDF_ERR_SECURITY):
            raise encrypted() from error
        raise Unreadable("damaged, or not a PDF", "壊れているか、PDF ではありません。") from error
    if len(document) > _MOST_PAGES:
        raise Unreadable(
            f"{len(document):,} pages, more than {_MOST_PAGES:,}; split it",
            f"{len(document):,} ページあり、{_MOST_PAGES:,} を超えています。分割してください。",
        )
    pages, warnings, incomplete = _pages(document, on_page)
    layout.drop_running_lines(pages)
    blocks = [layout.blocks(page) for page in pages]
    marks = _outline(document)
    if marks:
        marked.place(marks, blocks)
    else:
        marked.find_headings(blocks)
    text, headings, starts = _written(blocks)
    title = sensible_title(_said(lambda: document.get_metadata_value("Title")))
    return Content(
        text,
        title or next((each.text for each in headings), None),
        headings,
        warnings=warnings,
        pages=starts,
        incomplete=incomplete,
    )


def _pages(document: Any, on_page: Callable[[], None]) -> tuple[list[Page], list[str], bool]:
    """The pages with their lines, those of scanned pages too, and what is to be said of pages not read.

    Also whether some may be read another time: Tesseract is there, and failed.
    """
    import pypdfium2

    pages: list[Page] = []
    broken: list[int] = []
    unread: list[int] = []
    failed = 0
    scanned = letters = 0
    for number in range(len(document)):
        try:
            opened = document[number]
            page = layout.page(opened)
        except pypdfium2.PdfiumError:
            pages.append(Page())
            broken.append(number + 1)
            continue
        if _is_scanned(opened, page.letters):
            on_page()
            scanned += 1
            recognised = _recognised(opened) if scanned <= MOST_SCANNED else None
            if recognised is None:
                unread.append(number + 1)
                failed += scanned <= MOST_SCANNED and tesseract.languages() is not None
            page = recognised or page
            on_page()
        opened.close()
        pages.append(page)
        letters += pages[-1].letters
        if letters > _MOST_LETTERS:
            raise Unreadable("too much text; split it", "文字が多すぎます。分割してください。")
    if not letters:
        if unread:
            raise tesseract.missing() if tesseract.languages() is None else _nothing_recognised()
        raise Unreadable("no text in it", "本文がありません。")
    said = []
    if broken:
        said.append(f"壊れたページがあります。 Damaged pages: {_numbers(broken)}")
    if unread:
        why = (
            "" if tesseract.languages() else "（tesseract-ocr-jpn がありません。 install tesseract with jpn）"
        )
        said.append(
            f"文字のないページは読めませんでした{why}。 Pages without text, not read: {_numbers(unread)}"
        )
    return pages, said, bool(failed)


def _nothing_recognised() -> Unreadable:
    return Unreadable(
        "scanned, and no text was recognised", "スキャンした PDF ですが、文字を認識できません。"
    )


def _numbers(pages: list[int]) -> str:
    more = f" … ({len(pages)})" if len(pages) > _NAMED_PAGES else ""
    return ", ".join(map(str, pages[:_NAMED_PAGES])) + more


def _is_scanned(opened: Any, letters: int) -> bool:
    """Whether a page is an image of one."""
    import pypdfium2

    if letters >= _FEW_LETTERS:
        return False
    width, height = opened.get_size()
    covered = 0.0
    for image in opened.get_objects(filter=[pypdfium2.raw.FPDF_PAGEOBJ_IMAGE], max_depth=4):
        left, bottom, right, top = image.get_bounds()
        covered = max(covered, (right - left) * (top - bottom))
    return covered > (_MUCH * width * height if letters else 0)


def _recognised(opened: Any) -> Page | None:
    """What Tesseract reads on a page, or None where it is not there or fails."""
    if tesseract.languages() is None:
        return None
    width, height = opened.get_size()
    scale = min(_DPI * _POINT, (tesseract.PIXELS / max(width * height, 1)) ** 0.5)
    image = opened.render(scale=scale, grayscale=True).to_pil()
    try:
        return Page.of_text(tesseract.text_of(image))
    except Unreadable:
        return None


def _outline(document: Any) -> list[Mark]:
    """The bookmarks that lead to a page."""
    found: list[Mark] = []
    for number, mark in enumerate(document.get_toc(max_depth=6)):
        if number >= _MOST_MARKS:
            break
        target = mark.get_dest()
        page = target.get_index() if target else None
        title = clean(_said(mark.get_title))
        if title and page is not None and 0 <= page < len(document):
            found.append(Mark(title, mark.level + 1, page, _height(target)))
    return found


def _said(text: Callable[[], str]) -> str:
    """A text beside the pages; for a broken one nobody has to miss them."""
    try:
        return text().replace("\0", "")
    except UnicodeDecodeError:
        return ""


def _height(target: Any) -> float | None:
    import pypdfium2

    mode, place = target.get_view()
    at = {pypdfium2.raw.PDFDEST_VIEW_XYZ: 1, pypdfium2.raw.PDFDEST_VIEW_FITH: 0}.get(mode)
    return place[at] if at is not None and len(place) > at and place[at] is not None else None


def _written(pages: list[list[Block]]) -> tuple[str, list[Heading], list[int]]:
    """All blocks as one text. A paragraph may go on over the border of two pages."""
    parts: list[str] = []
    headings: list[Heading] = []
    starts: list[int] = []
    length = 0
    before: Block | None = None

    def add(text: str) -> None:
        nonlocal length
        parts.append(text)
        length += len(text)

    for blocks in pages:
        opened = False
        for block in blocks:
            if before is not None:
                if _goes_on(before, block):
                    whole = parts.pop()
                    left, between = glued(whole, block.text)
                    length -= len(whole)
                    add(left)
                    add(between)
                else:
                    add("\n")
            if not opened:
                starts.append(length)
                opened = True
            if block.level is not None:
                headings.append(Heading(length, length + len(block.text), block.level, block.text))
            add(block.text)
            before = block
        if not opened:
            starts.append(length)
    return "".join(parts).replace("\xad", "-"), headings, starts


def _goes_on(before: Block, block: Block) -> bool:
    """Whether a line belongs to the paragraph of the one before."""
    if before.level is not None or block.level is not None or before.line is None or block.line is None:
        return False
    if ends(before.text) or begins(block.text):
        return False
    return layout.follows(before.line, block.line)
