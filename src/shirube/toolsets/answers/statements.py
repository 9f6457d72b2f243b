"""What a passage states, one after another: its sentences, and the rows of its tables with the names of columns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from shirube.text.sentences import sentences
from shirube.text.tables import in_one_line
from shirube.toolsets.answers.tables import Row, rows

# Letters and figures.
_SAYS_SOMETHING = 5
_FENCE = re.compile(r"[ \t]{0,3}(?:`{3,}|~{3,})")
_INTRODUCES = re.compile(
    r"次の|次に(?:掲げる|定める|示す)|以下[のに]|下記|左の|[:：]\Z|\b(?:following|as follows)\b",
    re.IGNORECASE,
)
_KANJI = "[一二三四五六七八九十]{1,3}"
_ITEM = re.compile(
    rf"(?P<bullet>[-*+・•●○◆◇■□▪※] ?\S)|(?P<bracketed>[（(](?:[0-9０-９]{{1,3}}|{_KANJI}|[ァ-ヶ]|[a-z])[）)])|"
    rf"(?P<circled>[①-⑳])|(?P<number>[0-9０-９]{{1,3}}[.．、)）])|(?P<kanji>{_KANJI}[.．、)） \u3000])|"
    r"(?P<kana>[ァ-ヶ][.．、)） \u3000])|(?P<latin>[a-z][.)] )|(?P<paragraph>[0-9０-９]{1,3}[ \u3000])"
)
_ASKS = re.compile(r"(?:[?？]|(?:です|ます|でしょう|ません)か[。．]?)[」』）)\s]*\Z")
# The question of an FAQ, which may state (Q. パスワードを忘れました。).
_MARKED_AS_QUESTION = re.compile(r"[-*#>\s]*(?:[QＱ]|問|質問)[0-9０-９]{0,3}[.．:：、)）\s]")
_CAPTION = re.compile(
    r"第[0-9０-９〇一二三四五六七八九十百]{1,6}[条章節](?:の[0-9０-９〇一二三四五六七八九十]{1,3})?\s*(?:[（(【][^）)】]{0,60}[）)】])?\s*\Z"
)
# What bounds the sentence before it: it is false without.
_PROVISO = re.compile(r"[-・*\s]*(?:ただし|但し|もっとも、|例外として|However\b|Except\b|Unless\b)")


@dataclass(frozen=True)
class Statement:
    """What is stated, in one line as it is shown, and where in the passage it stands. `own` is what of it stands there:
    of a row its cells without the names of their columns, which `cells` has with them. `is_alone` is a row that is the
    only one of its table here, `begins_line` a sentence that stands first in its line."""

    text: str
    start: int
    end: int
    own: str
    is_row: bool = False
    cells: tuple[tuple[str, str], ...] = ()
    is_alone: bool = False
    begins_line: bool = False

    @property
    def asks(self) -> bool:
        return bool(_ASKS.search(self.text) or (not self.is_row and _MARKED_AS_QUESTION.match(self.text)))

    @property
    def is_proviso(self) -> bool:
        return not self.is_row and bool(_PROVISO.match(self.text))

    @property
    def item(self) -> str | None:
        """The sort of mark it begins with, if it is an item of a list."""
        found = None if self.is_row else _ITEM.match(self.text)
        return found.lastgroup if found else None


def statements(passage: str, names: Sequence[str] = ()) -> list[Statement]:
    """In order. Lines under the head of a table are rows; the head, its rule and fences state nothing. `names` are
    those of the table that the passage begins in."""
    found: list[Statement] = []
    for start, end, kind in _blocks(passage):
        if kind == "table":
            found += map(_row, rows(passage, start, end, () if start else names))
        elif kind == "prose":
            found += _prose(passage, start, end)
    return found


def listed_after(stated: Sequence[Statement], at: int) -> Sequence[Statement]:
    """What the statement at `at` introduces (次の各号, 以下のとおり): the items or the rows that follow it at once."""
    following = stated[at + 1 :]
    if not following or not _INTRODUCES.search(stated[at].text):
        return ()
    first = following[0]
    if first.is_row:
        return list(takewhile(lambda each: each.is_row, following))
    # 2 前項の規定は is the next paragraph of a rule, and so is what is marked like the introduction.
    ends = {"paragraph", stated[at].item} - {first.item, None}

    def goes_on(each: Statement) -> bool:
        return each.item not in ends if each.item else not (each.begins_line or each.is_row)

    return list(takewhile(goes_on, following)) if first.item else ()


def bound_to(stated: Sequence[Statement], at: int) -> tuple[Statement, ...]:
    """The provisos after the statement at `at`, and, where it is one itself, what it bounds."""
    first = last = at
    while first and stated[first].is_proviso and not stated[first - 1].is_row:
        first -= 1
    while last + 1 < len(stated) and stated[last + 1].is_proviso:
        last += 1
    return (*stated[first:at], *stated[at + 1 : last + 1])


_Block = Literal["prose", "table", "fence"]


def _blocks(passage: str) -> Iterator[tuple[int, int, _Block]]:
    """Stretches of lines that are all of one kind."""
    begun = at = 0
    within: _Block = "prose"
    for line in passage.splitlines(keepends=True):
        kind = _kind(line)
        if kind != within and at > begun:
            yield begun, at, within
            begun = at
        within = kind
        at += len(line)
    if at > begun:
        yield begun, at, within


def _kind(line: str) -> _Block:
    if line.lstrip().startswith("|"):
        return "table"
    return "fence" if _FENCE.match(line) else "prose"


def _prose(passage: str, start: int, end: int) -> Iterator[Statement]:
    """Sentences, with what says nothing by itself (the number of an item, はい。, the caption of an article) before the
    one that follows."""
    begun: int | None = None
    for first, last in sentences(passage[start:end]):
        begun = start + first if begun is None else begun
        if _says_something(passage[begun : start + last]):
            yield _sentence(passage, begun, start + last)
            begun = None
    if begun is not None and passage[begun:end].strip():
        yield _sentence(passage, begun, end)


def _says_something(text: str) -> bool:
    return sum(map(str.isalnum, text)) >= _SAYS_SOMETHING and not _CAPTION.match(text.strip())


def _sentence(passage: str, start: int, end: int) -> Statement:
    text = in_one_line(passage[start:end])
    # A line behind spaces goes on with the item above it.
    begins = start == 0 or passage[start - 1] in "\n\r\u3000"
    return Statement(text, start, end, text, begins_line=begins)


def _row(row: Row) -> Statement:
    own = " / ".join(cell for _, cell in row.cells)
    return Statement(row.text, row.start, row.end, own, is_row=True, cells=row.cells, is_alone=row.is_alone)
