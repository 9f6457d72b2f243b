"""Two texts of one application, the laid-open and the granted one, as one publication."""

from collections.abc import Mapping
from typing import Any


def merged(held: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What the later of the two says, and of the other what it does not: numbers, texts and codes are not lost.

    Which stage is later does not depend on which came first, so that files may be taken in again and in any order.
    """
    first, last = (given, held) if _is_earlier(given, held) else (held, given)
    return {**first, **{name: value for name, value in last.items() if value or not first.get(name)}}


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
