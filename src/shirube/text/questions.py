"""What a question is about, without the words that make it a question.

FAQ headings ask too: with いくら and どこ among the query's words, 「出張の日当はいくら」 finds every heading that asks
for a price.
"""

from functools import lru_cache

from shirube.text.tokenize import without_words, words

# Sudachi's normal forms; つく is the one of について.
_ASKING = frozenset(
    "何 誰 どこ いつ 幾ら 何故 どう どの どのような どんな どれ どちら どなた "
    "教える 下さる 下さい 知る 呉れる つく".split()
)


@lru_cache(256)
def subject(text: str) -> str:
    """`text` without asking words; unchanged when nothing would be left."""
    rest = without_words(text, _ASKING)
    return rest if words(rest) else text
