"""What sources call the parts of a publication: the record's names, those of our data, and J-PlatPat's headings."""

import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from shirube.ingest.refused import Refused

# For each name the headings that mean it, the one that counts first in front. `abstract`, `applicants` and `inventors`
# are read as J-PlatPat writes them.
_HEADINGS = {
    "doc_id": "doc_id 文献番号",
    "app_doc_id": "app_doc_id",
    "app_id": "app_id application_number 出願番号",
    "pub_id": "pub_id publication_number 公開番号 公表番号 公開・公表番号 再公表番号",
    "exam_id": "exam_id registration_number 登録番号 特許番号 公告番号",
    "title": "title 発明の名称 発明の名称(等) 名称",
    "abst": "abst",
    "abstract": "abstract 要約 要約書",
    "claims": "claims 請求項 請求の範囲 特許請求の範囲",
    "claim": "claim",
    "desc": "desc description 詳細な説明 発明の詳細な説明 明細書",
    "fi_full": "fi_full",
    "fi": "fi",
    "ft": "ft fターム fterm f-term",
    "ipc": "ipc",
    "cpc": "cpc",
    "country": "country 国 発行国",
    "filing_date": "filing_date 出願日",
    "publication_date": "publication_date 公開日 公表日 公知日 発行日 公報発行日 登録公報発行日 登録日",
    "applicant": "applicant",
    "applicants": "applicants 出願人/権利者 出願人 権利者 出願人・権利者",
    "inventor": "inventor",
    "inventors": "inventors 発明者",
    "url": "url 文献url",
}
_NAMES = {heading: name for name, headings in _HEADINGS.items() for heading in headings.split()}
_PLACE = {heading: at for headings in _HEADINGS.values() for at, heading in enumerate(headings.split())}
_SHOWN, _LONGEST = 10, 40


def named(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A row by the record's names, whatever case and width its headings have; what is not known is left out."""
    found: dict[str, tuple[int, Any]] = {}
    known = False
    for written, value in raw.items():
        heading = _plain(written)
        if (name := _NAMES.get(heading)) is None:
            continue
        known = True
        place = _PLACE[heading]
        if value not in (None, "", []) and (name not in found or place < found[name][0]):
            found[name] = place, value
    if not known:
        unknown = ", ".join(str(each)[:_LONGEST] for each in list(raw)[:_SHOWN])
        raise Refused(
            f"no column is known: {unknown}",
            f"知らない列だけです（{unknown}）。文献番号・発明の名称・要約などの列が必要です。",
        )
    return {name: value for name, (_, value) in found.items()}


def known(headings: Sequence[str]) -> int:
    """How many of these mean something."""
    return sum(_plain(each) in _NAMES for each in headings)


@lru_cache(1000)
def _plain(heading: str) -> str:
    return "".join(unicodedata.normalize("NFKC", heading).casefold().split()).strip("\ufeff")
