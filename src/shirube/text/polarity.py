"""Whether a sentence affirms or denies, by its wording.

In Japanese the end of a sentence tells; what is denied on the way there (4日に満たない月は) is something else.
A sentence of several clauses may do both.
"""

import re

from shirube.text.normalize import fold

# Denied twice, or not at all.
_AFFIRMED = re.compile(
    r"(?:なければ|なくては|ねば|ないと)(?:なら|いけ)(?:ない|ません|ず)|に過ぎない|にすぎない|差し支え(?:ない|ありません)|"
    r"(?:構|かま)(?:わない|いません)|に違いない|やむを得(?:ない|ず|ません)|ないわけでは(?:ない|ありません)|ないし|"
    r"(?:少|危|切)ない|"
    r"\bno (?:more|less|later|fewer) than\b|\bnot (?:only|later than|more than|less than)\b|\bwithout delay\b"
)
_ASIDE = re.compile(r"\([^()]{0,200}\)")
_NOT = (
    r"(?:ない|ませんでした|ません|なかった|ならぬ|無し|なし|不可(?:能)?|禁止|禁じ(?:る|ます|られて)|禁ずる|対象外|不要|除く|除きます|廃止|"
    r"無効|(?<![必まはわ先])ず)"
)
_INFLECTED = (
    r"(?:です|でした|である|と(?:する|します|なる|なります|なって)|に(?:なる|なります)|し(?:た|て|ます|ました)|"
    r"され(?:る|ます|た|て|ました)|い(?:る|ます|ました)|する|もの|こと|の|ん|だ|よ|ね|[\s。.!」』)*|])*"
)
_DENIED_AT_END = re.compile(rf"{_NOT}{_INFLECTED}\Z")
_DENIED_ON_THE_WAY = re.compile(
    rf"(?:{_NOT}|なく)(?:です|として|とし|であり|で|けれども|けれど|が|ため|ので|から|し|に)?、"
)
_TURNS = re.compile(r"(?:が|けれども|けれど|ものの|し|り)、")
_ENGLISH = re.compile(
    r"\b(?:not|no|never|cannot|without|neither|nor|none|prohibited|forbidden|except)\b|n['’]t\b"
)


_DENIED_IN_QUESTION = re.compile(
    r"(?:ない|ません|なかった|ぬ)(?:の[はがをも]|場合|とき|時|こと|もの|人|者|理由|条件|か[?。\s]*\Z)|"
    r"\b(?:not|never|cannot|without|except)\b|n['’]t\b"
)


def asks_for_denied(question: str) -> bool:
    """Whether a question is about what is not so: 支給されないのはどんな場合ですか."""
    return bool(_DENIED_IN_QUESTION.search(_AFFIRMED.sub("", fold(question))))


def denies(sentence: str) -> bool:
    """Whether it denies in the end."""
    text = _read(sentence)
    return bool(_DENIED_AT_END.search(text) or _ENGLISH.search(text))


def polarities(sentence: str) -> set[bool]:
    """Whether it denies, of each of its clauses."""
    text = _read(sentence)
    found = {bool(_DENIED_AT_END.search(text) or _ENGLISH.search(text))}
    denied = len(_DENIED_ON_THE_WAY.findall(text))
    if denied:
        found.add(True)
    if len(_TURNS.findall(text)) > denied:
        found.add(False)
    return found


def _read(sentence: str) -> str:
    return _AFFIRMED.sub("", _ASIDE.sub("", fold(sentence)))
