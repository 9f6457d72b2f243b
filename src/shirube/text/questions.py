"""What a question is about, without the words that make it a question.

FAQ headings ask too: with いくら and どこ among the query's words, 「出張の日当はいくら」 finds every heading that asks
for a price.
"""

import re
from functools import lru_cache

from shirube.text.tokenize import without_words, words

# Sudachi's normal forms; つく is the one of について.
_ASKING = frozenset(
    "何 誰 どこ いつ 幾ら 何故 どう どの どのような どんな どれ どちら どなた "
    "教える 下さる 下さい 知る 呉れる つく".split()
)
# English words that carry no subject.
FUNCTION_WORDS = frozenset(
    "a an the this that these those it its there here i me my mine you your yours we us our ours he him his she her "
    "they them their who whom whose what which when where why how much many is am are was were be been being do does "
    "did done can could may might must shall should will would has have had having of to in on at for from by with "
    "about as into up if and or but so than then yes please tell know let any some".split()
)
_LATIN_WORD = re.compile(r"[A-Za-z]+")
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9d]")


def is_japanese(text: str) -> bool:
    return bool(_JAPANESE.search(text))


# 手当の金額は asks what 手当はいくら does; elsewhere 金額 is a word like others.
_HOW_MUCH = re.compile(r"(?<=\w)の(?:金額|額)(?=(?:は|を)?\s*[?？。]?\s*\Z)")


@lru_cache(256)
def subject(text: str) -> str:
    """`text` without asking words; unchanged when nothing would be left."""
    rest = _HOW_MUCH.sub(" ", without_words(text, _ASKING))
    return rest if words(rest) else text


def topic(text: str) -> str:
    """`subject`, and of a question in English without function words.

    The search keeps these: its re-ranker is calibrated with them, and finds less in English without.
    """
    rest = text if is_japanese(text) else _without_function_words(text)
    return subject(rest) if words(rest) else text


def _without_function_words(text: str) -> str:
    """IT and WHO are no it and who, unless all of it is in capitals."""
    shouted = text.isupper()

    def spaces(found: re.Match[str]) -> str:
        word = found.group()
        named = word.isupper() and len(word) > 1 and not shouted
        return word if named or word.lower() not in FUNCTION_WORDS else " " * len(word)

    return _LATIN_WORD.sub(spaces, text)
