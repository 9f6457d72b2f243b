"""Numbers of applications, publications and patents, as people write them and as records hold them.

特願2023-123456 ⇄ JP2023123456, 特開2023-123456 ⇄ JP2023-123456A, 特表2023-500001 ⇄ JP2023-500001A,
再表2023/123456 ⇄ WO2023/123456, 特許第7123456号 ⇄ JP7123456B; in any width, with imperial years (平10, H10, 令5).
特許第7123456号(P7123456) and P2023-123456A, as gazettes have them, are known too.
Examined publications (特公平6-12345) end in B; numbers of utility models (実願, 実開, 実公, 実登) in U and Y.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

Kind = Literal["app_doc_id", "pub_id", "exam_id"]

# The year of an era is counted from these.
_ERAS = {
    "昭和": 1925,
    "昭": 1925,
    "S": 1925,
    "平成": 1988,
    "平": 1988,
    "H": 1988,
    "令和": 2018,
    "令": 2018,
    "R": 2018,
}
_ERA = "|".join(sorted(_ERAS, key=len, reverse=True))
_YEAR = rf"(?:(?P<era>{_ERA})(?P<count>元|[0-9]{{1,2}})(?:年)?|(?P<year>(?:18|19|20)[0-9]{{2}}))"
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−ー", "-"))

_COMMA = re.compile("(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")

# Without a dash, only six figures tell where the year ends.
_SERIAL = "(?:(?:[-/]|第)(?P<number>[0-9]{1,6})|(?P<whole>[0-9]{6}))"
_APPLICATION = re.compile(rf"(?:JP)?(?P<right>特|実)願{_YEAR}{_SERIAL}号?")
_PUBLICATION = re.compile(rf"(?P<right>特|実)(?:開|表|全){_YEAR}{_SERIAL}号?(?:公報)?[AU]?")
_EXAMINED = re.compile(rf"(?P<right>特|実)公{_YEAR}{_SERIAL}号?(?:公報)?(?:B[0-9]?)?")
_INTERNATIONAL = re.compile(
    r"(?:(?:再表|再公表|国際公開(?:第)?)(?:WO)?|WO)"
    r"(?:(?P<year>[0-9]{4})[/-]?(?P<number>[0-9]{6})|(?P<short>[0-9]{2})/(?P<few>[0-9]{5,6}))号?(?:A1)?"
)
_PATENT = re.compile(
    r"(?:日本国?)?特許(?:番号)?第?0*(?P<number>[1-9][0-9]{5,6})号?(?:公報)?(?:B[0-9]?)?"
    r"|JP(?P<written>[1-9][0-9]{5,6})(?:B[0-9]?)?|JP0+(?P<padded>[1-9][0-9]{5,6})B[0-9]?"
)
_UTILITY = re.compile(
    r"実(?:登|用新案登録)第?0*(?P<number>[1-9][0-9]{5,6})号?(?:公報)?(?:U[0-9]?)?"
    r"|JP(?P<written>[1-9][0-9]{5,6})[UY][0-9]?|JP0+(?P<padded>[1-9][0-9]{5,6})[UY][0-9]?"
)
# H08-016995A of JPH08-016995A: as offices abroad write imperial years.
_ERA_PUBLICATION = re.compile(
    r"JP(?P<era>[SHR])(?P<count>[0-9]{2})-?(?P<number>[0-9]{6})(?P<kind>[ABUY])[0-9]?"
)
# JP-2022-514157, JP-2023-123456-A, JP-7123456-B2: as addresses of J-PlatPat and lists of numbers have them.
_HYPHENS = re.compile(r"JP-(?=[0-9SHR])|(?<=[0-9])-(?=[ABUY][0-9]?\Z)")
_EPODOC = re.compile(r"JP(?P<year>(?:18|19|20)[0-9]{2})(?P<number>[0-9]{6})U?")
# Ten figures and U are the application of a utility model.
_JP_PUBLICATION = re.compile(
    r"JP(?P<year>(?:18|19|20)[0-9]{2})"
    r"(?:-(?P<number>[0-9]{1,6})(?:(?P<kind>[ABUY])[0-9]?)?|(?P<whole>[0-9]{6})(?P<letter>[ABY])[0-9]?)"
)
# What a number without a word before it is, where somebody says so.
_SAID = {"pub_id": "特開", "app_doc_id": "特願", "app_id": "特願", "exam_id": "特許"}
_BARE = re.compile(rf"(?:(?:{_ERA})[0-9]{{1,2}}[-/])?[0-9][0-9,/-]*号?|第[0-9]+号")
# Without a letter behind it, this is an application's number where somebody says so.
_YEAR_AND_NUMBER = re.compile(r"JP(?P<year>(?:18|19|20)[0-9]{2})-(?P<number>[0-9]{1,6})")
# P2022-514157A and P7178061: as gazettes have them, by themselves or once more behind the number.
_SHORT = re.compile(r"P(?:[0-9]{4}-[0-9]{1,6}[ABUY]?[0-9]?|[1-9][0-9]{5,6}(?:B[0-9]?)?)")
_TWICE = re.compile(r"(?P<number>[^()]+)\((?P<again>P[^()]+)\)")


_FIRST_INTERNATIONAL = 78


@dataclass(frozen=True)
class Number:
    """What a number is of, in the form in which records hold it."""

    kind: Kind
    id: str


def read_number(written: str, said: str | None = None) -> Number | None:
    """The number that a text is; None where it is none of those above. `said` is what a bare one is called."""
    text = "".join(unicodedata.normalize("NFKC", written).translate(_DASHES).upper().split())
    text = _HYPHENS.sub(lambda found: "JP" if found[0].startswith("JP") else "", _COMMA.sub("", text))
    if found := _TWICE.fullmatch(text):
        first, again = read_number(found["number"], said), read_number(found["again"])
        return first if first == again else None
    if _SHORT.fullmatch(text):
        text = f"J{text}"
    elif said in _SAID and _BARE.fullmatch(text):
        text = _SAID[said] + text
    elif said in ("app_id", "app_doc_id") and (found := _YEAR_AND_NUMBER.fullmatch(text)):
        return Number("app_doc_id", f"JP{found['year']}{_padded(found['number'])}")
    if found := _APPLICATION.fullmatch(text):
        return Number("app_doc_id", f"JP{_year(found)}{_serial(found)}{_model(found)}")
    if found := _PUBLICATION.fullmatch(text):
        return Number("pub_id", f"JP{_year(found)}-{_serial(found)}{_model(found) or 'A'}")
    if found := _EXAMINED.fullmatch(text):
        return Number("exam_id", f"JP{_year(found)}-{_serial(found)}{'Y' if _model(found) else 'B'}")
    if _EPODOC.fullmatch(text):
        return Number("app_doc_id", text)
    if found := _ERA_PUBLICATION.fullmatch(text):
        kind = found["kind"]
        return Number("pub_id" if kind in "AU" else "exam_id", f"JP{_year(found)}-{found['number']}{kind}")
    if found := _JP_PUBLICATION.fullmatch(text):
        kind = found["kind"] or found["letter"] or "A"
        return Number("pub_id" if kind in "AU" else "exam_id", f"JP{found['year']}-{_serial(found)}{kind}")
    if found := _INTERNATIONAL.fullmatch(text):
        return Number("pub_id", f"WO{_international_year(found)}/{int(found['number'] or found['few']):06}")
    for form, kind in ((_PATENT, "B"), (_UTILITY, "U")):
        if found := form.fullmatch(text):
            return Number("exam_id", f"JP{int(found['number'] or found['written'] or found['padded'])}{kind}")
    return None


def _international_year(found: re.Match[str]) -> int:
    """Two figures were written until 2002; the first were published in 1978."""
    if found["year"]:
        return int(found["year"])
    return int(found["short"]) + (1900 if int(found["short"]) >= _FIRST_INTERNATIONAL else 2000)


def _serial(found: re.Match[str]) -> str:
    return _padded(found["number"] or found["whole"])


def _padded(number: str) -> str:
    return f"{int(number):06}"


def _model(found: re.Match[str]) -> str:
    """U for a utility model."""
    return "U" if found["right"] == "実" else ""


def application_in_japanese(app_doc_id: str) -> str | None:
    """特願2023-123456 of JP2023123456."""
    found = _EPODOC.fullmatch(app_doc_id)
    right = "実願" if app_doc_id.endswith("U") else "特願"
    return f"{right}{found['year']}-{found['number']}" if found else None


def _year(found: re.Match[str]) -> int:
    groups = found.groupdict()
    if groups.get("year"):
        return int(groups["year"])
    return _ERAS[groups["era"]] + (1 if groups["count"] == "元" else int(groups["count"]))
