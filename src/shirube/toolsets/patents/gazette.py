"""The gazettes of the Japan Patent Office in XML, as rows for `read_publication`.

Two forms are read: that after WIPO ST.96, and the older one after ST.36 (jp-official-gazette). Elements go
by their local names, and a field is the shallowest element of its name: prefixes, versions and wrappers do
not matter.
"""

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from shirube.ingest.readers.contract import Unreadable
from shirube.ingest.readers.encoding import decode
from shirube.ingest.refused import Refused
from shirube.toolsets.patents.codes import normal_symbol
from shirube.toolsets.patents.elements import blocks, content, every, first, local, plain
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
# The one that the office's own gazettes have: the name of its DTD, without a part inside the file.
_OF_OFFICE = re.compile(
    r"""<!DOCTYPE\s+[\w.:-]{1,100}\s+PUBLIC\s+(?:"-//JPO//[^"<>\[\]]{0,200}"|'-//JPO//[^'<>\[\]]{0,200}')"""
    r"""(?:\s+(?:"[^"<>\[\]]{0,500}"|'[^'<>\[\]]{0,500}'))?\s*>"""
)

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

# Columns are padded: "B60W  30/12        624A" is B60W30/12,624@A. An IPC symbol is followed by its version.
_SYMBOL = re.compile(
    r"\s*([A-H][0-9]{2}[A-Z])\s*([0-9]{1,4})\s*([/:])\s*([0-9]{2,6})"
    r"(?:[\s,]*([0-9]{3})(?![0-9]))?((?:[\s,@]*[A-Z]{1,3}(?![A-Z0-9]))*)"
)
_TERM = re.compile("[0-9][A-Z][0-9]{3}[A-Z]{2}[0-9]{2}")
_DAY = re.compile(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})(?:Z|[+-][0-9]{2}:[0-9]{2})?")
_TEN_DIGITS = re.compile("^([0-9]{4})([0-9]{6})$")
_PATENT = re.compile("0*([0-9]{6,7})")
# The numbers of a year from here on are 特表; those of 特開 do not reach them.
_FIRST_NATIONAL = "500001"


def read_gazette(data: bytes) -> list[dict[str, Any] | Refused]:
    """The publications of a gazette file, in the names of the record; for one that is none, the reason.

    The text is that of the publication itself: amendments printed after it are left out. A description has
    its headings as 【背景技術】 and each paragraph on a line of its own. A file that is no gazette is refused.
    """
    publications = list(every(_parsed(data), *_PUBLICATIONS))
    if not publications:
        raise Refused(
            "neither a JPO gazette in ST.96 nor jp-official-gazette",
            "特許庁の公報 XML（ST.96 または jp-official-gazette）ではありません。",
        )
    return [_row_or_reason(publication) for publication in publications]


def _row_or_reason(publication: "_Element") -> dict[str, Any] | Refused:
    try:
        return _row(publication)
    except Refused as refused:
        return refused


def _parsed(data: bytes) -> "_Element":
    from lxml import etree

    if len(data) > _LARGEST:
        raise Refused(
            f"larger than {_LARGEST:,} bytes", f"ファイルが大きすぎます（上限は {_LARGEST:,} バイト）。"
        )
    text = _decoded(data)
    if declared := _DOCTYPE.match(text):
        office = _OF_OFFICE.match(text, declared.end() - len("<!DOCTYPE"))
        if office is None:
            raise Refused(
                "a document type declaration (DOCTYPE) that is not the office's own is not accepted; take it out",
                "特許庁のものでない文書型宣言（DOCTYPE）は受け付けません。宣言を取り除いてください。",
            )
        # Blanks in its place: nothing looks at the DTD, and lines keep their numbers.
        text = text[: office.start()] + re.sub(r"\S", " ", office[0]) + text[office.end() :]
        if _DOCTYPE.match(text):
            raise Refused("two document type declarations", "文書型宣言（DOCTYPE）が 2 つあります。")
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
    bibliography = first(publication, *_BIBLIOGRAPHY)
    about = publication if bibliography is None else bibliography
    published, applied = first(about, *_PUBLISHED), first(about, *_APPLIED)
    return {
        **_numbers(publication, about),
        "app_id": _application(content(applied, "ApplicationNumberText", "ApplicationNumber", "doc-number")),
        "title": content(about, "InventionTitle", "invention-title")
        or content(publication, "InventionTitle", "invention-title"),
        "abst": "\n".join(blocks(first(publication, "Abstract", "abstract"))),
        "claims": _claims(publication),
        "desc": _description(publication),
        "fi": _symbols(about, _FI, whole=True),
        "ft": _terms(about),
        "ipc": _symbols(about, _IPC, whole=False),
        "country": _country(publication, about),
        "filing_date": _day(content(applied, "FilingDate", "date")),
        "publication_date": _day(content(published, "PublicationDate", "date")),
        "applicant": _parties(about, "Applicant", "applicant"),
        "inventor": _parties(about, "Inventor", "inventor"),
    }


def _country(publication: "_Element", about: "_Element") -> str:
    published = first(about, *_PUBLISHED)
    code = content(published, "IPOfficeCode", "country") or publication.get("country") or "JP"
    country = normal_symbol(code)
    if country not in ("JP", "WO"):
        raise Refused("not a publication of the Japan Patent Office", "日本国特許庁の公報ではありません。")
    return country


def _numbers(publication: "_Element", about: "_Element") -> dict[str, str | None]:
    """A patent's gazette has the number of the patent where others have that of the publication."""
    number = content(first(about, *_PUBLISHED), "PublicationNumber", "doc-number")
    granted = content(first(about, "PatentGrantIdentification"), "PatentNumber")
    marks = _marks(publication, about)
    if any(mark.startswith(("U", "Y")) or "実用新案" in mark for mark in marks):
        raise Refused("a utility model, not a patent", "特許ではなく実用新案の公報です。")
    if any(mark in ("A5", "A6") or "補正" in mark for mark in marks):
        raise Refused("an amendment, not a publication", "公報本体ではなく補正の掲載です。")
    if _is_patent(publication, marks, number):
        before = content(first(about, "PreviousPublishedDocument"), "PublicationNumber", "doc-number")
        return {"pub_id": _unexamined(before, "特開"), "exam_id": _patent(granted or number)}
    return {"pub_id": _unexamined(number, _series(publication, marks)), "exam_id": _patent(granted)}


def _is_patent(publication: "_Element", marks: list[str], number: str) -> bool:
    if local(publication) == "RegisteredPatentPublication":
        return True
    if not marks:
        return bool(_PATENT.fullmatch(normal_symbol(number)))
    return any(mark.startswith("B") or "(B" in mark for mark in marks)


def _series(publication: "_Element", marks: list[str]) -> str:
    if any("再公表" in mark for mark in marks):
        return "再表"
    is_national = local(publication) == "InternationalPatentPublication"
    return "特表" if is_national or any(mark == "T" or "公表" in mark for mark in marks) else "特開"


def _marks(publication: "_Element", about: "_Element") -> list[str]:
    """What says of which kind a publication is: codes (A, B2) or words (公表特許公報(A))."""
    written = (
        publication.get("kind-of-st16"),
        publication.get("kind-of-jp"),
        content(first(about, *_PUBLISHED), "PatentDocumentKindCode", "kind"),
        content(about, "PlainLanguageDesignationText"),
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
    for container in every(about, *containers):
        for text in container.itertext():
            written = unicodedata.normalize("NFKC", str(text).strip()[:_LONGEST_SYMBOL]).upper()
            if symbol := _SYMBOL.match(written):
                subclass, group, mark, subgroup, expansion, letters = symbol.groups()
                name = f"{subclass}{int(group)}{mark}{subgroup}"
                if whole:
                    name += f",{expansion}" if expansion else ""
                    name += "".join(f"@{each}" for each in re.findall("[A-Z]+", letters))
                found.append(name)
    return list(dict.fromkeys(found))


def _terms(about: "_Element") -> list[str]:
    written = (normal_symbol(plain(node)) for node in every(about, *_F_TERM))
    return list(dict.fromkeys(term for term in written if _TERM.match(term)))


def _parties(about: "_Element", *names: str) -> list[str]:
    """One name a party: the Japanese one, where the name in its own language stands beside it."""
    found = []
    for party in every(about, *names):
        contacts = sorted(every(party, *_CONTACTS), key=_is_foreign) or [party]
        written = (content(contact, *_NAMES) for contact in contacts)
        found.append(next((name for name in written if name), ""))
    return list(dict.fromkeys(name for name in found if name))


def _is_foreign(contact: "_Element") -> bool:
    marks = {str(name).rpartition("}")[2].lower(): value for name, value in contact.attrib.items()}
    original = marks.get("originallanguageindicator") or content(contact, "OriginalLanguageIndicator")
    language = marks.get("lang") or marks.get("languagecode") or "ja"
    return original == "true" or language != "ja"


def _claims(publication: "_Element") -> list[str]:
    claims = first(publication, "Claims", "claims")
    texts = ("\n".join(blocks(claim)) for claim in every(claims, "Claim", "claim"))
    return [text for text in texts if text]


def _description(publication: "_Element") -> str:
    lines = [block.replace("\n", " ") for block in blocks(first(publication, "Description", "description"))]
    # A section may begin with a heading that says what it is once more.
    again = {at for at in range(1, len(lines)) if lines[at] == lines[at - 1] and lines[at].startswith("【")}
    return "\n".join(line for at, line in enumerate(lines) if at not in again)
