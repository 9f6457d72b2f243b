"""Elements of a gazette: found by their local names, and read as the lines that a person sees."""

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element

# What a publication says of other documents, of other versions of its own text and of searches made for it.
_ELSEWHERE = frozenset(
    (
        "WrittenAmendmentBag written-amendment-group PriorityClaimBag priority-claims RelatedDocumentBag "
        "related-documents PreviousPublishedDocument InternationalFilingData InternationalPublishingData "
        "pct-or-regional-filing-data pct-or-regional-publishing-data ReferenceCitationBag references-cited "
        "SearchReportBag SearchField field-of-search"
    ).split()
)
# The headings of a description (様式第29), which both forms write as elements.
_HEADS = {
    **dict.fromkeys(("technical-field", "TechnicalField"), "技術分野"),
    **dict.fromkeys(("background-art", "BackgroundArt"), "背景技術"),
    **dict.fromkeys(("citation-list", "CitationBag"), "先行技術文献"),
    **dict.fromkeys(("patent-literature", "PatentCitationBag"), "特許文献"),
    **dict.fromkeys(("non-patent-literature", "NPLCitationBag"), "非特許文献"),
    **dict.fromkeys(("summary-of-invention", "InventionSummary"), "発明の概要"),
    **dict.fromkeys(("disclosure", "Disclosure"), "発明の開示"),
    **dict.fromkeys(("tech-problem", "TechnicalProblem"), "発明が解決しようとする課題"),
    **dict.fromkeys(("tech-solution", "TechnicalSolution"), "課題を解決するための手段"),
    **dict.fromkeys(("advantageous-effects", "AdvantageousEffects"), "発明の効果"),
    **dict.fromkeys(("description-of-drawings", "DrawingDescription"), "図面の簡単な説明"),
    **dict.fromkeys(
        ("description-of-embodiments", "mode-for-invention", "EmbodimentDescription", "InventionMode"),
        "発明を実施するための形態",
    ),
    **dict.fromkeys(("best-mode", "BestMode"), "発明を実施するための最良の形態"),
    **dict.fromkeys(("embodiments-example", "embodiment-example", "EmbodimentExample"), "実施例"),
    **dict.fromkeys(("industrial-applicability", "IndustrialApplicability"), "産業上の利用可能性"),
    **dict.fromkeys(("reference-signs-list", "ReferenceSignBag", "ReferenceSignsList"), "符号の説明"),
    **dict.fromkeys(
        ("reference-to-deposited-biological-material", "DepositedBiologicalMaterialReference"), "受託番号"
    ),
    **dict.fromkeys(("sequence-list-text", "SequenceListText"), "配列表フリーテキスト"),
}
_HEADINGS = frozenset({"heading", "Heading"})
_BLOCKS = frozenset({*_HEADS, *_HEADINGS, "p", "P", "claim-text", "ClaimText"})
_BREAKS = frozenset({"br", "Br", "row", "Row", "entry", "Entry"})
# An image is written as the name of its file and its measures.
_UNREAD = frozenset(
    {"Image", "TableImage", "PageImage", "img", "ClaimNumber", "InventionTitle", "invention-title"}
)
# No character of XML, so that no text has it.
_BREAK = "\v"


def blocks(top: "_Element | None") -> Iterator[str]:
    """The headings and paragraphs below an element; a line feed is where a paragraph breaks its line."""
    held: list[str] = []
    for node, begins in _walked(top):
        name = local(node)
        if name in _BLOCKS:
            if text := _unwrapped("".join(held)):
                yield _head(text) if name in _HEADINGS and not begins else text
            held.clear()
        if begins:
            if name in _HEADS:
                yield f"【{_HEADS[name]}】"
            if name in _BREAKS:
                held.append(_BREAK)
            held.append("" if name in _UNREAD else node.text or "")
        elif node is not top:
            held.append(node.tail or "")
    if text := _unwrapped("".join(held)):
        yield text


def _walked(top: "_Element | None") -> Iterator[tuple["_Element", bool]]:
    """Every element where it begins and where it ends. Iterative: nesting is the file's to choose."""
    waiting = [] if top is None else [(top, True)]
    while waiting:
        node, begins = waiting.pop()
        yield node, begins
        if begins:
            waiting.append((node, False))
            if local(node) not in _UNREAD:
                waiting.extend((child, True) for child in reversed(node))


def _head(text: str) -> str:
    return f"【{text}】" if text in _HEADS.values() else text


def _unwrapped(text: str) -> str:
    """Lines as the breaks have them, not as the file is laid out: there, only Latin words part at an end."""
    lines = []
    for line in text.split(_BREAK):
        parts: list[str] = []
        for part in filter(None, map(str.strip, line.split("\n"))):
            if parts and parts[-1][-1].isascii() and part[0].isascii():
                parts.append(" ")
            parts.append(part)
        lines.append("".join(parts))
    return "\n".join(filter(None, lines))


def content(node: "_Element | None", *names: str) -> str:
    found = first(node, *names)
    return "" if found is None else plain(found)


def plain(node: "_Element") -> str:
    return _unwrapped("".join(map(str, node.itertext())))


def first(node: "_Element | None", *names: str) -> "_Element | None":
    """The shallowest element below that has one of the names and is of the publication itself."""
    waiting = deque(_where(node, names))
    while waiting:
        for child in waiting.popleft():
            name = local(child)
            if name in names:
                return child
            if name not in _ELSEWHERE:
                waiting.append(child)
    return None


def every(node: "_Element | None", *names: str) -> Iterator["_Element"]:
    """The outermost elements that have one of the names, in document order; the given one too."""
    waiting = _where(node, names)
    while waiting:
        each = waiting.pop()
        name = local(each)
        if name in names:
            yield each
        elif name not in _ELSEWHERE:
            waiting.extend(reversed(each))


def _where(node: "_Element | None", names: tuple[str, ...]) -> list["_Element"]:
    """The element, if there is anything to find in it: most names are not there, and walks are long."""
    if node is None or next(node.iter(*(f"{{*}}{name}" for name in names)), None) is None:
        return []
    return [node]


def local(node: "_Element") -> str:
    return str(node.tag).rpartition("}")[2]
