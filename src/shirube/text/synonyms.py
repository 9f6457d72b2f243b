"""Words that mean the same to whoever searches: `synonyms.tsv`, a line a group, the word that stands for all first.

Search takes them for one word, as Sudachi's normal forms do with spellings; pairs of characters still tell them apart.
A word belongs here if it is one word to Sudachi, stands here in its normal form, and means nothing else: バイト is a
job and eight bits, サイン a signature and a function.
"""

import hashlib
from functools import cache
from importlib.resources import files


def one_for_all(word: str) -> str:
    """The word that stands for the group of `word`, or `word` itself."""
    return _table().get(word, word)


def fingerprint() -> str:
    """Of the table: texts tokenised with another one have to be tokenised anew."""
    return hashlib.sha256(_written().encode()).hexdigest()[:16]


@cache
def _table() -> dict[str, str]:
    groups = (line.split("\t") for line in _written().splitlines())
    return {word: first for first, *others in groups for word in others}


def _written() -> str:
    return (files("shirube.text") / "synonyms.tsv").read_text("utf-8")
