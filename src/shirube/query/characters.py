"""Which characters carry syntax in a query, and how the rest is folded."""

import unicodedata

OPENING = frozenset("(（")
CLOSING = frozenset(")）")
STARS = frozenset("*＊")
QUOTES = frozenset('"＂“”„‟〝〞〟')
BACKSLASHES = frozenset("\\＼")
SYNTAX = OPENING | CLOSING | STARS | QUOTES | BACKSLASHES

# One round settles all but letters that become two before a mark (ß); the bound makes sure that it ends.
FOLD_ROUNDS = 4


def fold(text: str) -> str:
    """Width, kana width and case folded away, as the searched text is. Folding twice changes nothing."""
    for _ in range(FOLD_ROUNDS):
        folded = unicodedata.normalize("NFKC", text).casefold()
        if folded == text:
            break
        text = folded
    return text


def escape(text: str) -> str:
    """A backslash before each character that would not stand for itself in a word."""
    return "".join("\\" + c if c in SYNTAX or c.isspace() else c for c in text)
