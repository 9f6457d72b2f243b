"""The gazettes of the Japan Patent Office in XML, as rows for `read_publication`.

Two forms are read: that after WIPO ST.96, and the older one after ST.36 (jp-official-gazette). Elements go
by their local names, and a field is the shallowest element of its name: prefixes, versions and wrappers do
not matter.
"""

import re
import unicodedata
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from shirube.ingest.readers.contract import Unreadable
from shirube.ingest.readers.encoding import decode
from shirube.ingest.refused import Refused
from shirube.toolsets.patents.codes import normal_symbol
from shirube.toolsets.patents.numbers import application_in_japanese, read_number

if TYPE_CHECKING:
    from lxml.etree import _Element

_LARGEST, _MOST_ELEMENTS, _LONGEST_SYMBOL = 50_000_000, 1_000_000, 100
_DECLARED = re.compile(rb"""\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_ENCODINGS = {
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j", "cp932", "ms932"), "cp932"),
    **dict.fromkeys(("euc-jp", "x-euc-jp", "eucjp"), "euc_jp"),
}
_DOCTYPE = re.compile(r"(?:\s|(?><\?.*?\?>)|(?><!--.*?-->))*+<!DOCTYPE", re.DOTALL)

_PUBLICATIONS = (
    "jp-official-gazette",
    "JPPatentPublication",
    "UnexaminedPatentPublication",
    "InternationalPatentPublication",
    "RegisteredPatentPublication",
    "PatentPublication",
)
_BIBLIOGRAPHY = (
    "bibliographic-data",
    "BibliographicData",
    "UnexaminedPatentPublicationBibliographicData",
    "InternationalPatentPublicationBibliographicData",
    "RegisteredPatentPublicationBibliographicData",
)
# What a publication says of other documents, of other versions of its own text and of searches made for it.
_ELSEWHERE = frozenset(
    (
        "WrittenAmendmentBag written-amendment-group PriorityClaimBag priority-claims RelatedDocumentBag "
        "related-documents PreviousPublishedDocument InternationalFilingData InternationalPublishingData "
        "pct-or-regional-filing-data pct-or-regional-publishing-data ReferenceCitationBag references-cited "
        "SearchReportBag SearchField field-of-search"
    ).split()
)
_PUBLISHED = ("PatentPublicationIdentification", "publication-reference")
_APPLIED = ("ApplicationIdentification", "application-reference")
_CONTACTS = ("Contact", "PublicationContact", "addressbook")
_NAMES = ("EntityName", "OrganizationStandardName", "PersonFullName", "name", "orgname")
_IPC = (
    "IPCClassification",
    "IPCRClassification",
    "classification-ipc",
    "classifications-ipc",
    "classification-ipcr",
)
_FI = ("NationalClassification", "classification-national", "FileIndexText", "FI")
_F_TERM = ("FtermInformation", "FTermInformation", "FTermText", "FTerm", "f-term")

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

# Columns are padded: "B60W  30/12        624A" is B60W30/12,624@A. An IPC symbol is followed by its version.
_SYMBOL = re.compile(
    r"\s*([A-H][0-9]{2}[A-Z])\s*([0-9]{1,4})\s*/\s*([0-9]{2,6})"
    r"(?:[\s,]*([0-9]{3})(?![0-9]))?((?:[\s,@]*[A-Z]{1,3}(?![A-Z0-9]))*)"
)
_TERM = re.compile("[0-9][A-Z][0-9]{3}[A-Z]{2}[0-9]{2}")
_DAY = re.compile(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})(?:Z|[+-][0-9]{2}:[0-9]{2})?")
_TEN_DIGITS = re.compile("^([0-9]{4})([0-9]{6})$")
_PATENT = re.compile("0*([0-9]{6,7})")
# The numbers of a year from here on are 特表; those of 特開 do not reach them.
_FIRST_NATIONAL = "500001"


def read_gazette(data: bytes) -> list[dict[str, Any]]:
    """The publications of a gazette file, in the names of the record.

    The text is that of the publication itself: amendments printed after it are left out. A description has
    its headings as 【背景技術】 and each paragraph on a line of its own. What is no patent publication of the
    office is refused, with all that stands beside it in the file.
    """
    publications = list(_all(_parsed(data), *_PUBLICATIONS))
    if not publications:
        raise Refused(
            "neither a JPO gazette in ST.96 nor jp-official-gazette",
            "特許庁の公報 XML（ST.96 または jp-official-gazette）ではありません。",
        )
    return [_row(publication) for publication in publications]


def _parsed(data: bytes) -> "_Element":
    from lxml import etree

    if len(data) > _LARGEST:
        raise Refused(
            f"larger than {_LARGEST:,} bytes", f"ファイルが大きすぎます（上限は {_LARGEST:,} バイト）。"
        )
    text = _decoded(data)
    if _DOCTYPE.match(text):
        raise Refused(
            "a document type declaration (DOCTYPE) is not accepted; take it out",
            "文書型宣言（DOCTYPE）は受け付けません。宣言を取り除いてください。",
        )
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root: _Element = etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError as error:
        line, why = error.position[0], str(error.msg).partition(", line ")[0]
        raise Refused(
            f"not readable as XML at line {line}: {why}", f"{line} 行目で XML として読めません（{why}）。"
        ) from None
    if sum(1 for _ in root.iter()) > _MOST_ELEMENTS:
        raise Refused(
            f"more than {_MOST_ELEMENTS:,} elements", f"要素が多すぎます（上限は {_MOST_ELEMENTS:,} 個）。"
        )
    return root


def _decoded(data: bytes) -> str:
    """Not left to the parser, whose Shift_JIS and EUC-JP lack what Windows has added to them (①, ㈱)."""
    declared = _DECLARED.match(data)
    try:
        return decode(data, _ENCODINGS.get(declared[1].decode("ascii").lower()) if declared else None)
    except Unreadable as error:
        raise Refused(error.en, error.ja) from None


def _row(publication: "_Element") -> dict[str, Any]:
    bibliography = _first(publication, *_BIBLIOGRAPHY)
    about = publication if bibliography is None else bibliography
    published, applied = _first(about, *_PUBLISHED), _first(about, *_APPLIED)
    return {
        **_numbers(publication, about),
        "app_id": _application(_content(applied, "ApplicationNumberText", "ApplicationNumber", "doc-number")),
        "title": _content(about, "InventionTitle", "invention-title")
        or _content(publication, "InventionTitle", "invention-title"),
        "abst": "\n".join(_blocks(_first(publication, "Abstract", "abstract"))),
        "claims": _claims(publication),
        "desc": _description(publication),
        "fi": _symbols(about, _FI, whole=True),
        "ft": _terms(about),
        "ipc": _symbols(about, _IPC, whole=False),
        "country": _country(publication, about),
        "filing_date": _day(_content(applied, "FilingDate", "date")),
        "publication_date": _day(_content(published, "PublicationDate", "date")),
        "applicant": _parties(about, "Applicant", "applicant"),
        "inventor": _parties(about, "Inventor", "inventor"),
    }


def _country(publication: "_Element", about: "_Element") -> str:
    published = _first(about, *_PUBLISHED)
    code = _content(published, "IPOfficeCode", "country") or publication.get("country") or "JP"
    country = normal_symbol(code)
    if country not in ("JP", "WO"):
        raise Refused("not a publication of the Japan Patent Office", "日本国特許庁の公報ではありません。")
    return country


def _numbers(publication: "_Element", about: "_Element") -> dict[str, str | None]:
    """A patent's gazette has the number of the patent where others have that of the publication."""
    number = _content(_first(about, *_PUBLISHED), "PublicationNumber", "doc-number")
    granted = _content(_first(about, "PatentGrantIdentification"), "PatentNumber")
    marks = _marks(publication, about)
    if any(mark.startswith(("U", "Y")) or "実用新案" in mark for mark in marks):
        raise Refused("a utility model, not a patent", "特許ではなく実用新案の公報です。")
    if any(mark in ("A5", "A6") or "補正" in mark for mark in marks):
        raise Refused("an amendment, not a publication", "公報本体ではなく補正の掲載です。")
    if _is_patent(publication, marks, number):
        before = _content(_first(about, "PreviousPublishedDocument"), "PublicationNumber", "doc-number")
        return {"pub_id": _unexamined(before, "特開"), "exam_id": _patent(granted or number)}
    return {"pub_id": _unexamined(number, _series(publication, marks)), "exam_id": _patent(granted)}


def _is_patent(publication: "_Element", marks: list[str], number: str) -> bool:
    if _local(publication) == "RegisteredPatentPublication":
        return True
    if not marks:
        return bool(_PATENT.fullmatch(normal_symbol(number)))
    return any(mark.startswith("B") or "(B" in mark for mark in marks)


def _series(publication: "_Element", marks: list[str]) -> str:
    if any("再公表" in mark for mark in marks):
        return "再表"
    is_national = _local(publication) == "InternationalPatentPublication"
    return "特表" if is_national or any(mark == "T" or "公表" in mark for mark in marks) else "特開"


def _marks(publication: "_Element", about: "_Element") -> list[str]:
    """What says of which kind a publication is: codes (A, B2) or words (公表特許公報(A))."""
    written = (
        publication.get("kind-of-st16"),
        publication.get("kind-of-jp"),
        _content(_first(about, *_PUBLISHED), "PatentDocumentKindCode", "kind"),
        _content(about, "PlainLanguageDesignationText"),
    )
    return [normal_symbol(mark) for mark in written if mark]


def _unexamined(written: str, series: str) -> str | None:
    """特開2023-123456 or 特表2023-500001 of 2023123456 or 2023-123456; as it is where it says what it is."""
    number = normal_symbol(written)
    if not number or read_number(number):
        return number or None
    read = read_number("特開" + _TEN_DIGITS.sub(r"\1-\2", number))
    if read is None:
        return number
    year, serial = read.id[2:6], read.id[7:13]
    if series == "特開" and serial >= _FIRST_NATIONAL:
        series = "特表"
    return f"{series}{year}-{serial}"


def _patent(written: str) -> str | None:
    number = normal_symbol(written)
    digits = _PATENT.fullmatch(number)
    return f"特許第{digits[1]}号" if digits else number or None


def _application(written: str) -> str | None:
    number = normal_symbol(written)
    read = read_number(f"特願{number}") or read_number(number)
    return (application_in_japanese(read.id) if read else None) or number or None


def _day(written: str) -> str | None:
    day = unicodedata.normalize("NFKC", written)
    parts = _DAY.fullmatch(day)
    return "-".join(parts.groups()) if parts else day or None


def _symbols(about: "_Element", containers: tuple[str, ...], *, whole: bool) -> list[str]:
    """Class symbols; whole ones with 展開記号 after a comma, 分冊識別記号 and ファセット after @."""
    found = []
    for container in _all(about, *containers):
        for text in container.itertext():
            written = unicodedata.normalize("NFKC", str(text).strip()[:_LONGEST_SYMBOL]).upper()
            if symbol := _SYMBOL.match(written):
                subclass, group, subgroup, expansion, letters = symbol.groups()
                name = f"{subclass}{int(group)}/{subgroup}"
                if whole:
                    name += f",{expansion}" if expansion else ""
                    name += "".join(f"@{each}" for each in re.findall("[A-Z]+", letters))
                found.append(name)
    return list(dict.fromkeys(found))


def _terms(about: "_Element") -> list[str]:
    written = (normal_symbol(_plain(node)) for node in _all(about, *_F_TERM))
    return list(dict.fromkeys(term for term in written if _TERM.match(term)))


def _parties(about: "_Element", *names: str) -> list[str]:
    """One name a party: the Japanese one, where the name in its own language stands beside it."""
    found = []
    for party in _all(about, *names):
        contacts = sorted(_all(party, *_CONTACTS), key=_is_foreign) or [party]
        written = (_content(contact, *_NAMES) for contact in contacts)
        found.append(next((name for name in written if name), ""))
    return list(dict.fromkeys(name for name in found if name))


def _is_foreign(contact: "_Element") -> bool:
    marks = {str(name).rpartition("}")[2].lower(): value for name, value in contact.attrib.items()}
    original = marks.get("originallanguageindicator") or _content(contact, "OriginalLanguageIndicator")
    language = marks.get("lang") or marks.get("languagecode") or "ja"
    return original == "true" or language != "ja"


def _claims(publication: "_Element") -> list[str]:
    claims = _first(publication, "Claims", "claims")
    texts = ("\n".join(_blocks(claim)) for claim in _all(claims, "Claim", "claim"))
    return [text for text in texts if text]


def _description(publication: "_Element") -> str:
    lines = [block.replace("\n", " ") for block in _blocks(_first(publication, "Description", "description"))]
    # A section may begin with a heading that says what it is once more.
    again = {at for at in range(1, len(lines)) if lines[at] == lines[at - 1] and lines[at].startswith("【")}
    return "\n".join(line for at, line in enumerate(lines) if at not in again)


def _blocks(top: "_Element | None") -> Iterator[str]:
    """The headings and paragraphs below an element; a line feed is where a paragraph breaks its line."""
    held: list[str] = []
    for node, begins in _walked(top):
        name = _local(node)
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
            if _local(node) not in _UNREAD:
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


def _content(node: "_Element | None", *names: str) -> str:
    found = _first(node, *names)
    return "" if found is None else _plain(found)


def _plain(node: "_Element") -> str:
    return _unwrapped("".join(map(str, node.itertext())))


def _first(node: "_Element | None", *names: str) -> "_Element | None":
    """The shallowest element below that has one of the names and is of the publication itself."""
    waiting = deque(_where(node, names))
    while waiting:
        for child in waiting.popleft():
            name = _local(child)
            if name in names:
                return child
            if name not in _ELSEWHERE:
                waiting.append(child)
    return None


def _all(node: "_Element | None", *names: str) -> Iterator["_Element"]:
    """The outermost elements that have one of the names, in document order; the given one too."""
    waiting = _where(node, names)
    while waiting:
        each = waiting.pop()
        name = _local(each)
        if name in names:
            yield each
        elif name not in _ELSEWHERE:
            waiting.extend(reversed(each))


def _where(node: "_Element | None", names: tuple[str, ...]) -> list["_Element"]:
    """The element, if there is anything to find in it: most names are not there, and walks are long."""
    if node is None or next(node.iter(*(f"{{*}}{name}" for name in names)), None) is None:
        return []
    return [node]


def _local(node: "_Element") -> str:
    return str(node.tag).rpartition("}")[2]
