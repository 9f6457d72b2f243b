"""From a query to its tree.

    query   = and { OR and }
    and     = not { [AND] not }          words side by side are joined by AND
    not     = NOT not | ( query ) | "phrase" | word | near
    near    = *N{n}"group group …" | *ONP{n}"group group …"        the braces may be left out
    group   = word | ( word { [OR] word } )

Operators, parentheses, quotes and * count in any case and width. `\\` makes the next character stand for
itself, so that `\\or` and `\\(株\\)` are words. A word may hold `*` inside or at its end, never at its start.
"""

from dataclasses import dataclass, field

from shirube.query import problems
from shirube.query.lexer import Mark, tokens
from shirube.query.tree import And, Node, Not, Or, Span


@dataclass(frozen=True)
class Operand:
    """A node and the part of the query it takes up, its parentheses included."""

    node: Node
    extent: Span


@dataclass
class Level:
    """What has been read since one opening parenthesis. `complete` means that it could end here."""

    opened: int
    alternatives: list[Operand] = field(default_factory=list)
    conjuncts: list[Operand] = field(default_factory=list)
    negations: list[int] = field(default_factory=list)
    complete: bool = False

    def add(self, operand: Operand) -> None:
        while self.negations:
            extent = Span(self.negations.pop(), operand.extent.end)
            operand = Operand(Not(operand.node, extent), extent)
        self.conjuncts.append(operand)
        self.complete = True

    def negate(self, position: int) -> None:
        self.negations.append(position)
        self.complete = False

    def operator(self, kind: str, position: int) -> None:
        if not self.complete:
            raise problems.NO_OPERAND.at(position)
        self.complete = False
        if kind == "or":
            self.alternatives.append(_joined(And, self.conjuncts))
            self.conjuncts = []

    def close(self, position: int) -> Node:
        self.operator("or", position)
        return _joined(Or, self.alternatives).node


def parse(text: str) -> Node:
    """The tree of a query; raises QuerySyntaxError and nothing else. Takes time linear in the query."""
    levels = [Level(opened=0)]
    for token in tokens(text):
        level, start = levels[-1], token.span.start
        match token:
            case Mark("(" | "not") if _depth(levels) == problems.MAX_DEPTH:
                raise problems.TOO_DEEP.at(start)
            case Mark("("):
                levels.append(Level(opened=start))
            case Mark(")") if len(levels) == 1:
                raise problems.NOT_OPENED.at(start)
            case Mark(")"):
                node = levels.pop().close(start)
                levels[-1].add(Operand(node, Span(level.opened, token.span.end)))
            case Mark("not"):
                level.negate(start)
            case Mark(kind):
                level.operator(kind, start)
            case _:
                level.add(Operand(token, token.span))
    if len(levels) > 1 and levels[-1].complete:
        raise problems.NOT_CLOSED.at(len(text))
    return levels[-1].close(len(text))


def _depth(levels: list[Level]) -> int:
    return len(levels) - 1 + sum(len(level.negations) for level in levels)


def _joined(kind: type[And] | type[Or], operands: list[Operand]) -> Operand:
    """One operand stays as it is; several become one node."""
    if len(operands) == 1:
        return operands[0]
    extent = Span(operands[0].extent.start, operands[-1].extent.end)
    return Operand(kind(tuple(operand.node for operand in operands), extent), extent)
