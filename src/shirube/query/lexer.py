"""From characters to tokens. One pass; each character is looked at a bounded number of times."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shirube.query import problems
from shirube.query.characters import BACKSLASHES, CLOSING, OPENING, QUOTES, STARS, fold
from shirube.query.tree import OPERATORS, Near, Phrase, Span, Term

# *N10 or *N{10}, *ONP10 or *ONP{10}, in any case and width.
NEAR_HEAD = re.compile(
    r"[*＊]([nｎ]|[oｏ][nｎ][pｐ])(?:[{｛]([0-9０-９]*)[}｝]|([0-9０-９]*))", re.IGNORECASE
)
DISTANCE_DIGITS = len(str(problems.MAX_DISTANCE))


@dataclass(frozen=True)
class Mark:
    """A parenthesis or an operator; `kind` is "(", ")", "and", "or" or "not"."""

    kind: str
    span: Span


@dataclass(frozen=True)
class Word:
    """A term, and the operator it stands for when it is spelt like one without an escape."""

    term: Term
    operator: str | None


def tokens(text: str) -> Iterator[Mark | Term | Phrase | Near]:
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token = _read(text, at)
        yield token
        at = token.span.end


def _read(text: str, at: int) -> Mark | Term | Phrase | Near:
    character = text[at]
    if character in OPENING:
        return Mark("(", Span(at, at + 1))
    if character in CLOSING:
        return Mark(")", Span(at, at + 1))
    if character in QUOTES:
        return read_phrase(text, at)
    if character in STARS:
        return read_near(text, at)
    word = read_word(text, at)
    return Mark(word.operator, word.term.span) if word.operator else word.term


def read_word(text: str, start: int, inside_near: bool = False) -> Word:
    """Up to the next space, parenthesis or quote, or the `*N10"` of a NEAR written directly behind a word."""
    if text[start] in STARS:
        raise problems.LEADING_STAR.at(start)
    parts: list[str] = []
    part: list[str] = []
    escaped = False
    at = start
    while at < len(text):
        character = text[at]
        if character.isspace() or character in OPENING or character in CLOSING or character in QUOTES:
            break
        if character in STARS:
            if not inside_near and _near_starts(text, at):
                break
            if part:
                parts.append(fold("".join(part)))
                part = []
        elif character in BACKSLASHES:
            at = _escaped(text, at)
            part.append(text[at])
            escaped = True
        else:
            part.append(character)
        at += 1
    parts.append(fold("".join(part)))
    term = Term(tuple(parts), Span(start, at))
    spelt = parts[0] if len(parts) == 1 and not escaped else ""
    return Word(term, spelt if spelt in OPERATORS else None)


def read_phrase(text: str, start: int) -> Phrase:
    """From one quote to the next, without the white space at both ends."""
    characters: list[str] = []
    length = 0
    at = start + 1
    while at < len(text) and text[at] not in QUOTES:
        escaped = text[at] in BACKSLASHES
        if escaped:
            at = _escaped(text, at)
        if characters or escaped or not text[at].isspace():
            characters.append(text[at])
        if escaped or not text[at].isspace():
            length = len(characters)
        at += 1
    if at == len(text):
        raise problems.QUOTE_NOT_CLOSED.at(at)
    if not length:
        raise problems.EMPTY_PHRASE.at(at)
    return Phrase(fold("".join(characters[:length])), Span(start, at + 1))


def read_near(text: str, start: int) -> Near:
    head = NEAR_HEAD.match(text, start)
    quoted = head is not None and text[head.end() : head.end() + 1] in QUOTES
    if head is None or not (quoted or head[2] or head[3]):
        raise problems.LEADING_STAR.at(start)
    digits = head[3] if head[2] is None else head[2]
    significant = digits.lstrip("0０")
    if not digits or len(significant) > DISTANCE_DIGITS:
        raise problems.BAD_DISTANCE.at(head.end(1))
    if not quoted:
        raise problems.NEAR_WITHOUT_QUOTE.at(head.end())
    groups: list[tuple[Term, ...]] = []
    at = _next(text, head.end() + 1)
    while text[at] not in QUOTES:
        if len(groups) == problems.MAX_GROUPS:
            raise problems.TOO_MANY_GROUPS.at(at)
        if text[at] in OPENING:
            group, at = _read_group(text, at)
        elif text[at] in CLOSING:
            raise problems.NOT_OPENED.at(at)
        else:
            word = read_word(text, at, inside_near=True)
            if word.operator:
                raise problems.OPERATOR_IN_NEAR.at(at)
            group, at = (word.term,), word.term.span.end
        groups.append(group)
        at = _next(text, at)
    if len(groups) < 2:
        raise problems.TOO_FEW_GROUPS.at(at)
    return Near(int(significant or 0), len(head[1]) > 1, tuple(groups), Span(start, at + 1))


def _read_group(text: str, start: int) -> tuple[tuple[Term, ...], int]:
    """The alternatives `(a OR b)` or `(a b)` of a NEAR, and where the group ends."""
    terms: list[Term] = []
    needed = True
    at = _next(text, start + 1)
    while text[at] not in CLOSING:
        if text[at] in QUOTES:
            raise problems.NOT_CLOSED.at(at)
        if text[at] in OPENING:
            raise problems.GROUP_IN_GROUP.at(at)
        word = read_word(text, at, inside_near=True)
        if word.operator == "or":
            if needed:
                raise problems.NO_OPERAND.at(at)
            needed = True
        elif word.operator:
            raise problems.OPERATOR_IN_NEAR.at(at)
        else:
            terms.append(word.term)
            needed = False
        at = _next(text, word.term.span.end)
    if needed:
        raise problems.NO_OPERAND.at(at)
    return tuple(terms), at + 1


def _next(text: str, at: int) -> int:
    """The next character that is not white space; inside a NEAR there must be one, the closing quote."""
    while at < len(text) and text[at].isspace():
        at += 1
    if at == len(text):
        raise problems.QUOTE_NOT_CLOSED.at(at)
    return at


def _escaped(text: str, at: int) -> int:
    if at + 1 == len(text):
        raise problems.NOTHING_ESCAPED.at(at + 1)
    return at + 1


def _near_starts(text: str, at: int) -> bool:
    head = NEAR_HEAD.match(text, at)
    return head is not None and bool(head[2] or head[3]) and text[head.end() : head.end() + 1] in QUOTES
