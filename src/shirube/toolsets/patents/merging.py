"""Several records of one application, the laid-open and the granted one above all, as one publication."""

from collections.abc import Mapping, Sequence
from typing import Any

from shirube.store.patents import telling


def together(records: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """The places of those that are one publication: they have a number in common, and not two applications."""
    leaders = list(range(len(records)))
    applications = [each["app_doc_id"] for each in records]
    holding: dict[tuple[str, str], list[int]] = {}

    def leader(at: int) -> int:
        while leaders[at] != at:
            at = leaders[at]
        return at

    for at, record in enumerate(records):
        for number in telling(record):
            others = holding.setdefault(number, [])
            for other in others:
                first, last = sorted((leader(other), leader(at)))
                known = {applications[first], applications[last]} - {None}
                if len(known) < 2:
                    leaders[last] = first
                    applications[first] = next(iter(known), None)
            others.append(at)
    groups: dict[int, list[int]] = {}
    for at in range(len(records)):
        groups.setdefault(leader(at), []).append(at)
    return list(groups.values())


def merged(held: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What the later of the two says, and of the other what it does not: numbers, texts and codes are not lost.

    Which stage is later does not depend on which came first, so that files may be taken in again and in any order.
    """
    first, last = (given, held) if _is_earlier(given, held) else (held, given)
    both = {**first, **{name: value for name, value in last.items() if value or not first.get(name)}}
    return {**both, "doc_id": both["app_doc_id"] or both["pub_id"] or both["doc_id"]}


def _is_earlier(given: Mapping[str, Any], held: Mapping[str, Any]) -> bool:
    """Whether a record is of a stage before that of the one that is there: not granted yet, or published before.

    Of one and the same text the record that is given corrects the one that is there.
    """
    granted = bool(given["exam_id"]), bool(held["exam_id"])
    if granted[0] != granted[1]:
        return granted[1]
    same = all(given.get(name) == held.get(name) for name in ("pub_id", "exam_id"))
    days = given["publication_date"], held["publication_date"]
    return not same and all(days) and days[0] < days[1]
