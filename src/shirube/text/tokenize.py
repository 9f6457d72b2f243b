"""Japanese text as words (Sudachi's short units in their normal form) and as character bigrams.

Sudachi frees the interpreter while it works, so threads tokenise on all cores; each thread has its own tokenizer
over one shared, memory-mapped dictionary. Of Sudachi's plugins only the one for unknown katakana words is used: texts
come folded, and numbers are joined here, which together takes less time.
"""

import json
import logging
import re
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shirube.text.normalize import fold
from shirube.text.numerals import DIGITS, MYRIADS, TENS, number
from shirube.text.synonyms import one_for_all

if TYPE_CHECKING:
    from sudachipy import Dictionary, MorphemeList, Tokenizer
    from sudachipy import Morpheme as SudachiMorpheme

log = logging.getLogger(__name__)

# Left out of the words: they carry no subject, and BM25 ranks better without them.
_SILENT = frozenset({"助詞", "助動詞", "補助記号", "空白"})
# But these are looked at: a full stop is kept as "", the mark of a sentence border, and 1,000.5 is one number.
_STOP_OR_COMMA = frozenset({("補助記号", "句点"), ("補助記号", "読点")})
_KATAKANA = {
    "class": "com.worksap.nlp.sudachi.JoinKatakanaOovPlugin",
    "oovPOS": ["名詞", "普通名詞", "一般", "*", "*", "*"],
    "minLength": 3,
}
_DIGITS = frozenset("0123456789")
_FIGURES = frozenset({*_DIGITS, *DIGITS, *TENS, *MYRIADS})
_POINT, _COMMA = _MARKS = ".,"
_IN_NUMBERS = _FIGURES | {*_MARKS}
_LONG_VOWEL = re.compile("ーー+")
# Sudachi refuses more than 49,149 bytes of UTF-8; four bytes a character at most.
_LIMIT = 12_000
_STOPS = "。.!?"
_BREAK = re.compile(r"[。．！？!?\n]")
_LATIN = re.compile(r"[a-z0-9]+")
_SPACE = 0x20
_LETTER, _LATIN_LETTER = 1, 2
# Raised whenever the tokens of a text change: indexes made by another version are built anew.
VERSION = 5


def words(text: str) -> list[str]:
    """The words of `text` in order, in normal form and folded: サーバ and ｻｰﾊﾞｰ are both サーバー."""
    return [word for word in words_and_borders(text) if word]


def words_and_borders(text: str) -> list[str]:
    """The words of `text`, with "" at the borders of its sentences and lines."""
    return _words(fold(text))


def words_and_bigrams(texts: Iterable[str], border: str | None = None) -> Iterator[tuple[list[str], str]]:
    """`words_and_borders` and `joined_bigrams` of many texts, which takes less time than of one after the other.

    A `border` of one character stands among the bigrams wherever something is written between two runs of letters.
    """
    folded = list(map(fold, texts))
    return zip(map(_words, folded), _bigrams(folded, border), strict=True)


def without_words(text: str, forms: frozenset[str]) -> str:
    """`text` folded, with a space in place of every word whose normal form is among `forms`."""
    text = _readable(fold(text))
    if len(text) > _LIMIT:
        return text
    kept = list(text)
    for start, end, form in _analyser().spans(text):
        if form in forms:
            kept[start:end] = [" "] * (end - start)
    return "".join(kept)


class Morpheme(NamedTuple):
    """A word as Sudachi sees it: its part of speech, what kind of that and of which sort, and its normal form."""

    surface: str
    kind: str
    detail: str
    sort: str
    form: str


def morphemes(text: str) -> list[Morpheme]:
    """The words of a text, folded, in Sudachi's short units."""
    return _analyser().morphemes(_readable(fold(text))[:_LIMIT])


def dictionary_spans(folded: str) -> list[tuple[int, int]]:
    """Where the words of a folded text stand that are in the dictionary."""
    return _analyser().dictionary_spans(_readable(folded)[:_LIMIT])


def bigrams(text: str) -> list[str]:
    """Overlapping pairs of characters within runs of letters, in order; Latin words and numbers stay whole.

    A letter that stands alone is a token too, or a text of one character could never be found.
    """
    return joined_bigrams(text).split()


def joined_bigrams(text: str) -> str:
    """The bigrams of `text` in one string, separated by white space."""
    [joined] = _bigrams([fold(text)])
    return joined


def _bigrams(folded: Sequence[str], border: str | None = None) -> Iterator[str]:
    """The bigrams of each text. All are written side by side, one row of three characters for each of theirs."""
    codes = np.frombuffer("\n".join(folded).encode("utf-32-le", "replace"), np.uint32)
    kinds = np.zeros(len(codes) + 2, np.uint8)
    kinds[1:-1] = _kinds()[codes]
    letter, latin = kinds == _LETTER, kinds == _LATIN_LETTER
    before, here, after = letter[:-2], letter[1:-1], letter[2:]
    pair = here & after
    rows = np.full((len(codes), 3), _SPACE, np.uint32)
    rows[:, 0] = codes
    np.copyto(rows[:-1, 1], codes[1:], where=pair[:-1])
    alone = here & ~after & ~before
    ending = latin[1:-1] & ~latin[2:]
    sizes = 3 * pair.view(np.uint8) + 2 * alone.view(np.uint8) + latin[1:-1] + ending
    ends = np.cumsum([len(text) + 1 for text in folded], dtype=np.int64) - 1
    if border is not None:
        after_run = (kinds[1:-1] == 0) & (kinds[:-2] > 0)
        after_run[ends[:-1]] = False  # what stands between two texts
        np.copyto(rows[:, 0], ord(border), where=after_run)
        sizes += 2 * after_run.view(np.uint8)
    joined = rows[np.arange(3, dtype=np.uint8) < sizes[:, None]].tobytes().decode("utf-32-le")
    cuts = np.append(0, np.cumsum(sizes, dtype=np.int64))[ends].tolist()
    parts = (joined[start:end] for start, end in pairwise([0, *cuts]))
    return parts if border is None else (part.removesuffix(f"{border} ") for part in parts)


def _words(folded: str) -> list[str]:
    analyser = _analyser()
    text = _LONG_VOWEL.sub("ー", _readable(folded)).replace("\n", "。")
    if len(text) <= _LIMIT:
        return analyser.words(text)
    return [word for part in _parts(text) for word in analyser.words(part)]


def _readable(text: str) -> str:
    """Half a surrogate pair is no character."""
    return text.encode("utf-8", "replace").decode()


class _Analyser:
    """One thread's tokenizer; Sudachi's output list is reused from call to call."""

    def __init__(self) -> None:
        dictionary, self._silent = _dictionary()
        self._tokenizer: Tokenizer = dictionary.tokenizer("A", fields={"pos", "normalized_form"})
        self._out: MorphemeList | None = None

    def words(self, text: str) -> list[str]:
        self._out = out = self._tokenizer.tokenize(text, out=self._out)
        known = _known_words
        found = [known.get(morpheme.word_id(), _NEW) for morpheme in out]
        if _NEW in found:
            for at, word in enumerate(found):
                if word is _NEW:
                    found[at] = self._new(out[at])
        if not _IN_NUMBERS.isdisjoint(found):
            _join_numbers(found)
        return [word for word in found if word is not None]

    def _new(self, morpheme: "SudachiMorpheme") -> str | None:
        """The token of a word, which is then known."""
        name = morpheme.surface() if morpheme.is_oov() else morpheme.word_id()
        word = _known_words.get(name, _NEW)
        if word is _NEW:
            form = morpheme.normalized_form()
            word = None if morpheme.part_of_speech_id() in self._silent else _token(form)
            if len(_known_words) < _MOST_KNOWN and len(form) < _LONG:
                _known_words[name] = word
        return word

    def dictionary_spans(self, text: str) -> list[tuple[int, int]]:
        return [(m.begin(), m.end()) for m in self._tokenizer.tokenize(text) if not m.is_oov()]

    def morphemes(self, text: str) -> list[Morpheme]:
        found = []
        for each in self._tokenizer.tokenize(text):
            kind, detail, sort, *_ = each.part_of_speech()
            found.append(Morpheme(each.surface(), kind, detail, sort, each.normalized_form()))
        return found

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """Where each word stands, and its normal form."""
        return [(m.begin(), m.end(), m.normalized_form()) for m in self._tokenizer.tokenize(text)]


def _join_numbers(found: "list[str | None]") -> None:
    """Make one number of figures that touch, in one notation: 1,000万 and 一千万 are both 10000000."""
    places = [at for at, word in enumerate(found) if word in _IN_NUMBERS]
    start = 0
    for end in range(1, len(places) + 1):
        if end < len(places) and places[end] == places[end - 1] + 1:
            continue
        first, last = places[start], places[end - 1] + 1
        start = end
        if last - first == 1 and found[first] in _DIGITS:
            continue
        written = "".join(word for word in found[first:last] if word)
        numbers = _numbers(written)
        found[first:last] = [*numbers, *[None] * (last - first - len(numbers))]


@lru_cache(10_000)
def _numbers(written: str) -> list[str]:
    """Figures, points and commas as numbers: one, or several where they make none together (1.2.3)."""
    figures = written.strip(_MARKS)
    border = [""] if _POINT in written[len(written.rstrip(_MARKS)) :] else []
    value = None if figures.isdecimal() else number(figures)
    if value is None:
        return [*figures.replace(_COMMA, " ").replace(_POINT, " ").split(), *border]
    if value.denominator == 1:
        return [str(value.numerator), *border]
    return [figures.replace(_COMMA, "").rstrip("0"), *border]


def _token(form: str) -> str | None:
    """A normal form as a token: folded, one for all synonyms, without full stops, and without white space."""
    folded = fold(form)
    word = folded if folded == _POINT else "".join(folded.strip(_STOPS).split())
    return None if word == "、" else one_for_all(word)


# The tokens of the words met so far, those of the dictionary by their numbers, others as they are written: asking
# Sudachi for a number takes a third of the time that its part of speech and its normal form do.
_known_words: dict[int | str, str | None] = {}
_MOST_KNOWN = 500_000
_LONG = 40
_NEW = " "


@cache
def _dictionary() -> "tuple[Dictionary, frozenset[int]]":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from sudachipy import Config, Dictionary

        plugins = {"inputTextPlugin": [], "pathRewritePlugin": [_KATAKANA]}
        try:
            with TemporaryDirectory() as folder:
                dictionary = Dictionary(
                    config=Config(**plugins, oovProviderPlugin=_unknown_words(Path(folder)))
                )
        except (OSError, LookupError, ValueError) as error:
            log.warning("Sudachi's own handling of unknown words is used, which is slower: %r", error)
            dictionary = Dictionary(config=Config(**plugins))
    silent = set()
    number = 0
    while (pos := dictionary.pos_of(number)) is not None:
        if pos[0] in _SILENT and pos[:2] not in _STOP_OR_COMMA:
            silent.add(number)
        number += 1
    return dictionary, frozenset(silent)


def _unknown_words(folder: Path) -> list[dict[str, Any]]:
    """Sudachi's plugins for words that are not in the dictionary, with one part of speech for each kind of letters.

    Which of several such a word is makes no difference to us, but weighing them takes a tenth of the time and more.
    """
    first = {line.partition(",")[0]: line for line in reversed(_resource("unk.def").splitlines())}
    path = folder / "unk.def"
    path.write_text("\n".join(first.values()), encoding="utf-8")
    plugins: list[dict[str, Any]] = json.loads(_resource("sudachi.json"))["oovProviderPlugin"]
    return [{**plugin, "unkDef": str(path)} if "unkDef" in plugin else plugin for plugin in plugins]


def _resource(name: str) -> str:
    return (files("sudachipy") / "resources" / name).read_text("utf-8")


@cache
def _kinds() -> "np.ndarray[tuple[int], np.dtype[np.uint8]]":
    """What each code point is to a bigram; beyond the basic plane all are taken for letters."""
    table = np.full(0x110000, _LETTER, np.uint8)
    table[:0x10000] = [chr(code).isalnum() for code in range(0x10000)]
    table[:0x80] = [_LATIN_LETTER if _LATIN.match(chr(code)) else 0 for code in range(0x80)]
    return table


_threads = threading.local()
_loading = threading.Lock()


def _analyser() -> _Analyser:
    analyser: _Analyser | None = getattr(_threads, "analyser", None)
    if analyser is None:
        with _loading:
            analyser = _threads.analyser = _Analyser()
    return analyser


def _parts(text: str) -> Iterator[str]:
    """Stretches that Sudachi accepts, cut after a sentence where there is one."""
    start = 0
    while len(text) - start > _LIMIT:
        end = start + _LIMIT
        breaks = [m.end() for m in _BREAK.finditer(text, start + _LIMIT // 2, end)]
        end = breaks[-1] if breaks else end
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]
