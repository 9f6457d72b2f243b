"""The syntax tree of a query. `str(node)` is a query that parses to an equal tree.

Texts are folded (see `characters.fold`). Spans point into the query as it was written and do not count for
equality: two spellings of one query are equal.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from shirube.query.characters import BACKSLASHES, QUOTES, escape

OPERATORS = frozenset({"and", "or", "not"})


class Span(NamedTuple):
    start: int
    end: int


NOWHERE = Span(0, 0)


@dataclass(frozen=True)
class Term:
    """A word. `parts` are its pieces between wildcards; only the last may be empty.

    顔認証 has the parts ("顔認証",), 顔認* has ("顔認", ""), and a*b has ("a", "b").
    """

    parts: tuple[str, ...]
    span: Span = field(default=NOWHERE, compare=False)

    @property
    def wildcard(self) -> bool:
        return len(self.parts) > 1

    @property
    def prefix(self) -> bool:
        """True when the only wildcard is the one at the end."""
        return len(self.parts) == 2 and not self.parts[1]

    def __str__(self) -> str:
        text = "*".join(escape(part) for part in self.parts)
        return "\\" + text if text in OPERATORS else text


@dataclass(frozen=True)
class Phrase:
    """Text between quotes, literal: no operator, parenthesis or wildcard has a meaning in it."""

    text: str
    span: Span = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        escaped = "".join("\\" + c if c in QUOTES or c in BACKSLASHES else c for c in self.text)
        if self.text[-1:].isspace():
            escaped = escaped[:-1] + "\\" + escaped[-1]
        if self.text[:1].isspace() and len(self.text) > 1:
            escaped = "\\" + escaped
        return f'"{escaped}"'


@dataclass(frozen=True)
class Near:
    """Two or more groups close together; of each group, one of its alternatives.

    Holds when the groups can be put in an order (the written one if `ordered`) in which each term starts
    after the end of the one before, with at most `distance` characters between them.
    """

    distance: int
    ordered: bool
    groups: tuple[tuple[Term, ...], ...]
    span: Span = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        groups = [
            str(group[0]) if len(group) == 1 else f"({' OR '.join(str(term) for term in group)})"
            for group in self.groups
        ]
        return f'*{"ONP" if self.ordered else "N"}{self.distance}"{" ".join(groups)}"'


@dataclass(frozen=True)
class Not:
    """Everything the operand does not match. It may stand alone; whether to run that is up to the caller."""

    operand: "Node"
    span: Span = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        return f"NOT {_enclosed(self.operand, And, Or)}"


@dataclass(frozen=True)
class And:
    """Two or more operands that all match. Parentheses of the query are kept as nesting."""

    operands: tuple["Node", ...]
    span: Span = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        return " AND ".join([_enclosed(operand, And, Or) for operand in self.operands])


@dataclass(frozen=True)
class Or:
    """Two or more operands of which at least one matches."""

    operands: tuple["Node", ...]
    span: Span = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        return " OR ".join([_enclosed(operand, Or) for operand in self.operands])


Node: TypeAlias = Term | Phrase | Near | Not | And | Or


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, the terms of a NEAR included, in the order of the query."""
    waiting: list[Node] = [node]
    while waiting:
        current = waiting.pop()
        yield current
        match current:
            case And() | Or():
                waiting.extend(reversed(current.operands))
            case Not():
                waiting.append(current.operand)
            case Near():
                waiting.extend(term for group in reversed(current.groups) for term in reversed(group))


def sought(node: Node) -> list[str]:
    """The words and phrases that a query looks for, and not those that it forbids; each once."""
    found: dict[str, None] = {}
    waiting = [node]
    while waiting:
        match waiting.pop():
            case And(operands) | Or(operands):
                waiting.extend(reversed(operands))
            case Near() as near:
                waiting.extend(term for group in reversed(near.groups) for term in reversed(group))
            case Term() as term:
                found |= dict.fromkeys(part for part in term.parts if part)
            case Phrase() as phrase:
                found[phrase.text] = None
    return list(found)


def has_letters_only(node: Node) -> bool:
    """Whether it asks for nothing but letters and figures: no sign, no wildcard, no NEAR."""
    for each in walk(node):
        match each:
            case Near():
                return False
            case Term() if each.wildcard or not each.parts[0].isalnum():
                return False
            case Phrase() if not each.text.isalnum():
                return False
    return True


def _enclosed(node: Node, *kinds: type) -> str:
    return f"({node})" if isinstance(node, kinds) else str(node)
