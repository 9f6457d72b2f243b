"""Answers that fit into an agent's memory: longer ones are cut between items, and the rest is a resource.

Tokens are estimated: a Japanese character is about one, of Latin letters three to four make one.
"""

import json
from collections.abc import Mapping
from typing import Any

BUDGET = 20_000
_ASCII_A_TOKEN = 3.5
Place = tuple[str | int, ...]


def tokens(text: str) -> int:
    """About how many tokens a text takes, rather too many than too few."""
    ascii_ = sum(map(str.isascii, text))
    return int(ascii_ / _ASCII_A_TOKEN + (len(text) - ascii_)) + 1


def size(value: Any) -> int:
    return tokens(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def cut(body: Mapping[str, Any], budget: int = BUDGET) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """A body that fits, and what was taken out of it by its place; None where it fits as it is.

    What takes the most room is shortened first: a list by its last items, a text by its last paragraphs.
    """
    whole = size(body)
    if whole <= budget:
        return None
    shown: dict[str, Any] = json.loads(json.dumps(body))
    rest: dict[str, Any] = {}
    # Room for the note on what is missing.
    aim = budget - 300
    while (over := size(shown) - aim) > 0:
        place = _largest(shown)
        if place is None:
            break
        held = _at(shown, place)
        keep = _kept(held, over)
        name = "/".join(map(str, place))
        _put(shown, place, held[:keep])
        # The last to be cut stands last: put back from the end, everything finds its place.
        rest[name] = held[keep:] + rest.pop(name, held[:0])
    return shown, rest


def after(body: Mapping[str, Any], cuts: int) -> Mapping[str, Any]:
    """What is left of a body when so many parts of it have been shown."""
    for _ in range(cuts):
        made = cut(body)
        body = made[1] if made else {}
    return body


def _largest(body: Any, place: Place = ()) -> Place | None:
    """The longest list or text that can still be shortened; of nested ones the outermost with more than one item."""
    found: list[tuple[int, Place]] = []

    def walk(node: Any, at: Place) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                walk(value, (*at, key))
        elif isinstance(node, list):
            if len(node) > 1:
                found.append((size(node), at))
            else:
                for index, value in enumerate(node):
                    walk(value, (*at, index))
        elif isinstance(node, str) and len(node) > 200:
            found.append((tokens(node), at))

    walk(body, place)
    return max(found, default=(0, None), key=lambda each: each[0])[1]


def _kept(held: list[Any] | str, over: int) -> int:
    """How much of it stays when so many tokens have to go; at least one item, or a hundred characters."""
    if isinstance(held, list):
        room = size(held) - over
        kept = used = 0
        for item in held:
            used += size(item)
            if used > room:
                break
            kept += 1
        return min(max(kept, 1), len(held) - 1)
    kept = max(100, len(held) - over - 1)
    border = held.rfind("\n", 100, kept)
    return border if border > kept // 2 else kept


def _at(body: Any, place: Place) -> Any:
    for step in place:
        body = body[step]
    return body


def _put(body: Any, place: Place, value: Any) -> None:
    _at(body, place[:-1])[place[-1]] = value
