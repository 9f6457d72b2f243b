"""NEAR over one text: one sweep from left to right, in time that grows with the places of its words.

Two words not far apart, which is what most ask for, are left to patterns. For the rest, what is known at a position is
which sets of groups can stand in a row that ends there. A set is a number below 2^k, and those that are reached are the
bits of one number: putting one more group behind all of them is a shift.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import product

from shirube.query.tree import Near, Term
from shirube.toolsets.patents.words import chains, places, stands

# A pattern looks at so many characters behind each place of its first word at most,
_NOT_FAR = 100
# and so many of them go through a text faster than one sweep does.
_PATTERNS = 8


def is_near(node: Near, text: str) -> bool:
    if patterns := _patterns(node):
        return any(pattern.search(text) for pattern in patterns)
    if not all(any(stands(term, text) for term in terms) for terms in node.groups):
        return False
    sweep = _Sweep()
    for group, terms in enumerate(node.groups):
        sweep.add(group, terms, text)
    return sweep.reaches_all(_extensible(len(node.groups), node.ordered), node.distance)


@lru_cache(1000)
def _patterns(node: Near) -> tuple[re.Pattern[str], ...]:
    """One for each way in which two words may follow each other; none for what they would take too long for."""
    terms = [term for group in node.groups for term in group]
    if len(node.groups) != 2 or node.distance > _NOT_FAR or any(term.wildcard for term in terms):
        return ()
    pairs = list(product(*node.groups))
    pairs += [] if node.ordered else [(second, first) for first, second in pairs]
    if len(pairs) > _PATTERNS:
        return ()
    between = f".{{0,{node.distance}}}?"
    return tuple(
        re.compile(re.escape(first.parts[0]) + between + re.escape(second.parts[0]), re.DOTALL)
        for first, second in pairs
    )


@cache
def _extensible(count: int, ordered: bool) -> list[int]:
    """For each group, the sets (as bits) behind which it may stand: all without it, or those before it."""
    if ordered:
        return [1 << ((1 << group) - 1) for group in range(count)]
    return [
        sum(1 << chosen for chosen in range(1 << count) if not chosen >> group & 1) for group in range(count)
    ]


@dataclass
class _Window:
    """What was reached at the positions not too far back; each is put in and taken out once."""

    older: list[tuple[int, int]] = field(default_factory=list)
    newer: list[tuple[int, int]] = field(default_factory=list)
    newer_all: int = 0

    def put(self, position: int, reached: int) -> None:
        self.newer.append((position, reached))
        self.newer_all |= reached

    def since(self, position: int) -> int:
        """All that was reached at this position or behind it; it never goes back."""
        while self.older and self.older[-1][0] < position:
            self.older.pop()
        if not self.older and self.newer and self.newer[0][0] < position:
            together = 0
            for at, reached in reversed(self.newer):
                if at < position:
                    break
                together |= reached
                self.older.append((at, together))
            self.newer, self.newer_all = [], 0
        return self.newer_all | (self.older[-1][1] if self.older else 0)


@dataclass
class _Sweep:
    """The places of the words of a NEAR. `starts` has group, where it is done, and of a wildcard its number and run."""

    starts: defaultdict[int, list[tuple[int, int, int, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    endings: defaultdict[int, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    stops: set[int] = field(default_factory=set)
    wildcards: int = 0

    def add(self, group: int, terms: Sequence[Term], text: str) -> None:
        for term in terms:
            if term.wildcard:
                self._add_wildcard(group, term, text)
                continue
            size = len(term.parts[0])
            for start in places(term.parts[0], text):
                self.starts[start].append((group, start + size, -1, 0))
                self.stops |= {start, start + size}

    def _add_wildcard(self, group: int, term: Term, text: str) -> None:
        number, last = self.wildcards, term.parts[-1]
        self.wildcards += 1
        following = -1
        for start, earliest, latest in chains(term, text):
            self.starts[start].append((group, earliest, number, latest))
            self.stops |= {start, earliest}
            if following < earliest:
                following = _next(last, text, earliest)
            while following <= latest:
                self.endings[following].append((number, len(last)))
                self.stops |= {following, following + len(last)}
                following = _next(last, text, following + 1)

    def reaches_all(self, extensible: Sequence[int], distance: int) -> bool:
        everything = 1 << ((1 << len(extensible)) - 1)
        window = _Window()
        ended: defaultdict[int, int] = defaultdict(int)
        opened: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
        running = [(-1, 0)] * self.wildcards
        for at in sorted(self.stops):
            for number, latest, sets in opened.pop(at, ()):
                known = running[number]
                running[number] = latest, sets | (known[1] if known[0] == latest else 0)
            for number, size in self.endings.get(at, ()):
                if at <= running[number][0]:
                    ended[at + size] |= running[number][1]
            if reached := ended.pop(at, 0):
                if reached & everything:
                    return True
                window.put(at, reached)
            if starting := self.starts.get(at):
                before = window.since(at - distance) | 1  # a row may begin anywhere
                for group, done, number, latest in starting:
                    if sets := (before & extensible[group]) << (1 << group):
                        if number < 0:
                            ended[done] |= sets
                        else:
                            opened[done].append((number, latest, sets))
        return False


def _next(part: str, text: str, at: int) -> int:
    """Where a part stands next; behind the text where it does not."""
    found = text.find(part, at)
    return found if found >= 0 else len(text) + 1
