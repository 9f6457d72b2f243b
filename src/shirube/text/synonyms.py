"""Words that mean the same to whoever searches: `synonyms.tsv`, a line a group, the word that stands for all first.

Search takes them for one word, as Sudachi's normal forms do with spellings; pairs of characters still tell them apart.
A word belongs here if it is one word to Sudachi, stands here in its normal form, and means nothing else: バイト is a
job and eight bits, サイン a signature and a function.

`phrases.tsv` has those of several words (在宅勤務 and リモートワーク). Search leaves these to its vectors; who compares
texts word by word cannot.
"""

import hashlib
import re
from functools import cache
from importlib.resources import files


def one_for_all(word: str) -> str:
    """The word that stands for the group of `word`, or `word` itself."""
    return _table().get(word, word)


def one_phrase_for_all(folded: str) -> str:
    """A folded text with the phrase that stands for its group in place of the others."""
    pattern, table = _phrases()
    return pattern.sub(lambda found: table[found.group()], folded)


@cache
def _phrases() -> tuple[re.Pattern[str], dict[str, str]]:
    written = (files("shirube.text") / "phrases.tsv").read_text("utf-8")
    groups = (line.split("\t") for line in written.splitlines())
    table = {phrase: first for first, *others in groups for phrase in others}
    return re.compile("|".join(sorted(table, key=len, reverse=True))), table


def fingerprint() -> str:
    """Of the table: texts tokenised with another one have to be tokenised anew."""
    return hashlib.sha256(_written().encode()).hexdigest()[:16]


@cache
def _table() -> dict[str, str]:
    groups = (line.split("\t") for line in _written().splitlines())
    return {word: first for first, *others in groups for word in others}


def _written() -> str:
    return (files("shirube.text") / "synonyms.tsv").read_text("utf-8")
