"""What a query means over the texts of a publication, character by character. Texts and terms are folded.

A term is found wherever its characters stand one after the other; a wildcard stands for any letters and figures. A
NEAR holds within one field; the other operators are about the publication as a whole.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from shirube.query.tree import And, Near, Node, Not, Or, Phrase, Term
from shirube.text.normalize import fold
from shirube.toolsets.patents.nearness import is_near
from shirube.toolsets.patents.words import stands

Part = TypeVar("Part")


def holds(node: Node, texts: Sequence[str]) -> bool:
    """Whether a publication with these texts is found."""
    match node:
        case And():
            return all(holds(each, texts) for each in node.operands)
        case Or():
            return any(holds(each, texts) for each in node.operands)
        case Not():
            return not holds(node.operand, texts)
        case Term():
            return any(stands(node, text) for text in texts)
        case Phrase():
            return any(node.text in text for text in texts)
        case Near():
            return any(is_near(node, text) for text in texts)


def folded(node: Node) -> Node:
    """The query with its words folded as texts are: whichever dash or old character they are written with."""
    match node:
        case And():
            operands = _each_once(map(folded, node.operands))
            return And(operands, node.span) if len(operands) > 1 else operands[0]
        case Or():
            operands = _each_once(map(folded, node.operands))
            return Or(operands, node.span) if len(operands) > 1 else operands[0]
        case Not():
            return Not(folded(node.operand), node.span)
        case Near():
            groups = tuple(_each_once(map(_folded_term, group)) for group in node.groups)
            return Near(node.distance, node.ordered, groups, node.span)
        case Term():
            return _folded_term(node)
        case Phrase():
            return Phrase(fold(node.text) or node.text, node.span)


def _each_once(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Saying something twice asks for nothing more."""
    return tuple(dict.fromkeys(parts))


def _folded_term(term: Term) -> Term:
    parts = tuple(map(fold, term.parts))
    return Term(parts, term.span) if parts[0] else term
