"""Full text: the order of BM25, what short and strange queries find, and that a write is whole or not at all."""

import math
import random
import threading
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shirube.index.contract import Entry, Layout, Weight
from shirube.index.embedded.text import TantivySpace
from shirube.index.embedded.workers import tokenised
from shirube.query.filters import Filters
from shirube.text.tokenize import bigrams, words

LAYOUT = Layout(texts=("body",))
WORDS_ONLY = {"body": Weight(words=1.0, bigrams=0.0)}
VOCABULARY = "副業 許可 届出 会社 申請 手当 通勤 在宅 規程 研修 出張 経費".split()
# Tantivy keeps a field's length in one byte: exact up to 40 tokens, rounded down to 42, 44, … beyond.
EXACT_LENGTH = 40


def entries(texts: Sequence[str], first: int = 0) -> list[Entry]:
    return [Entry(key, f"group-{key}", {"body": text}) for key, text in enumerate(texts, first)]


def space_of(folder: Path, texts: Sequence[str]) -> TantivySpace:
    space = TantivySpace(folder, LAYOUT)
    list(space.write(1, [], entries(texts)))
    return space


def bm25(corpus: Sequence[Sequence[str]], query: Sequence[str]) -> dict[int, float]:
    """Okapi BM25 with k1 = 1.2, b = 0.75 and idf = ln(1 + (N − n + 0.5)/(n + 0.5)), each query word as often as given.

    N and the mean length count the one entry that carries the index's revision, which has no words.
    """
    total = len(corpus) + 1
    mean = sum(map(len, corpus)) / total
    holding = Counter(word for text in corpus for word in set(text))
    scores = {}
    for key, text in enumerate(corpus):
        counts = Counter(text)
        score = 0.0
        for word in query:
            rarity = math.log(1 + (total - holding[word] + 0.5) / (holding[word] + 0.5))
            length = 1 - 0.75 + 0.75 * len(text) / mean
            score += rarity * counts[word] * (1.2 + 1) / (counts[word] + 1.2 * length)
        if score > 0:
            scores[key] = score
    return scores


def _corpus() -> list[str]:
    chance = random.Random(2)
    return ["、".join(chance.choices(VOCABULARY, k=chance.randrange(1, 30))) for _ in range(150)]


CORPUS = _corpus()
CORPUS_WORDS = [words(text) for text in CORPUS]


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> TantivySpace:
    return space_of(tmp_path_factory.mktemp("ranked"), CORPUS)


@settings(max_examples=40)
@given(query=st.lists(st.sampled_from([*VOCABULARY, "無関係"]), min_size=1, max_size=6))
def test_words_are_scored_by_bm25(ranked: TantivySpace, query: list[str]) -> None:
    assert max(map(len, CORPUS_WORDS)) < EXACT_LENGTH
    wanted = bm25(CORPUS_WORDS, words(" ".join(query)))
    hits = ranked.search(" ".join(query), WORDS_ONLY, Filters(), 1000)
    assert {hit.key for hit in hits} == set(wanted)
    for hit in hits:
        assert hit.score == pytest.approx(wanted[hit.key], rel=1e-5)
    best = sorted(wanted.values(), reverse=True)
    top = ranked.search(" ".join(query), WORDS_ONLY, Filters(), 10)
    assert [hit.score for hit in top] == pytest.approx(best[:10], rel=1e-5)
    assert [wanted[hit.key] for hit in top] == pytest.approx(best[:10], rel=1e-5)


def test_bigrams_are_scored_by_bm25_and_added_with_their_weight(ranked: TantivySpace) -> None:
    query = "通勤手当の申請"
    by_words = bm25(CORPUS_WORDS, words(query))
    pairs = [bigrams(text) for text in CORPUS]
    assert max(map(len, pairs)) < EXACT_LENGTH
    by_bigrams = bm25(pairs, bigrams(query))
    hits = ranked.search(query, {"body": Weight(words=1.0, bigrams=0.7)}, Filters(), 1000)
    assert {hit.key for hit in hits} == set(by_words) | set(by_bigrams)
    for hit in hits:
        wanted = by_words.get(hit.key, 0.0) + 0.7 * by_bigrams.get(hit.key, 0.0)
        assert hit.score == pytest.approx(wanted, rel=1e-5)


def test_lengths_beyond_forty_tokens_are_rounded_down(tmp_path: Path) -> None:
    texts = ["副業", "、".join(["副業", *["会社"] * 42]), "、".join(["届出"] * 43)]
    corpus = [words(text) for text in texts]
    assert [len(text) for text in corpus] == [1, 43, 43]
    hits = space_of(tmp_path, texts).search("副業", WORDS_ONLY, Filters(), 10)
    scores = {hit.key: hit.score for hit in hits}
    mean = sum(map(len, corpus)) / 4
    rarity = math.log(1 + (4 - 2 + 0.5) / (2 + 0.5))
    by_length = {n: rarity * 2.2 / (1 + 1.2 * (0.25 + 0.75 * n / mean)) for n in (1, 42, 43)}
    assert scores[0] == pytest.approx(by_length[1], rel=1e-5)
    assert scores[1] == pytest.approx(by_length[42], rel=1e-5)
    assert by_length[42] != pytest.approx(by_length[43], rel=1e-3)


def test_rarity_is_the_idf_of_the_entries(ranked: TantivySpace) -> None:
    asked = [*words(" ".join(VOCABULARY)), "どこにもない"]
    corpus = [set(words(text)) for text in CORPUS]
    found = ranked.rarity(asked, "body")
    assert list(found) == asked
    for word in asked:
        holding = sum(word in text for text in corpus)
        assert found[word] == pytest.approx(math.log(1 + (len(CORPUS) - holding + 0.5) / (holding + 0.5)))
    assert max(found, key=lambda word: found[word]) == "どこにもない"


SHORT = [
    "サーバの設定",
    "サーバーを管理する",
    "税",
    "所得税の話",
    "ﾏｲﾅﾋﾞの説明",
    "國學院の舊字",
    "引越の手配",
    "AI",
    "VPN 接続",
]


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> TantivySpace:
    return space_of(tmp_path_factory.mktemp("short"), SHORT)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("税", {"税", "所得税の話"}),
        ("話", {"所得税の話"}),
        ("得", {"所得税の話"}),
        ("所得", {"所得税の話"}),
        ("設定", {"サーバの設定"}),
        ("サーバ", {"サーバの設定", "サーバーを管理する"}),
        ("サーバー", {"サーバの設定", "サーバーを管理する"}),
        ("ｻｰﾊﾞｰ", {"サーバの設定", "サーバーを管理する"}),
        ("マイナビ", {"ﾏｲﾅﾋﾞの説明"}),
        ("ﾏｲﾅﾋﾞ", {"ﾏｲﾅﾋﾞの説明"}),
        ("国学院", {"國學院の舊字"}),
        ("旧字", {"國學院の舊字"}),
        ("引っ越し", {"引越の手配"}),
        ("ai", {"AI"}),
        ("Ａｉ", {"AI"}),
        ("vpn", {"VPN 接続"}),
        ("", set()),
        ("   ", set()),
        ("！？…", set()),
        ("😀", set()),
        ("\ud800", set()),
        ("\x00", set()),
    ],
)
def test_short_and_strange_queries_find_what_they_mean(
    short: TantivySpace, query: str, wanted: set[str]
) -> None:
    hits = short.search(query, {}, Filters(), 100)
    assert {SHORT[hit.key] for hit in hits} == wanted
    assert short.matches(query, Filters()) == len(wanted)


def test_only_the_first_few_single_characters_are_looked_for_inside_words(short: TantivySpace) -> None:
    """Each costs a walk through the dictionary: a long text of them must not keep the index busy."""
    others = [chr(0x9F00 + number) for number in range(1000)]

    def found(query: list[str]) -> set[str]:
        return {SHORT[hit.key] for hit in short.search(" ".join(query), {}, Filters(), 100)}

    assert found(["得", *others]) == {"所得税の話"}
    assert found([*others, "得"]) == set()
    assert found(["得"] * 500 + ["越"]) == {"所得税の話", "引越の手配"}, "the same one counts once"


@settings(max_examples=100)
@given(query=st.text(max_size=30))
def test_any_text_is_a_query(short: TantivySpace, query: str) -> None:
    hits = short.search(query, {}, Filters(), 100)
    assert short.matches(query, Filters()) == len(hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(math.isfinite(hit.score) for hit in hits)


def test_terms_come_in_the_order_of_the_keys_with_sentence_borders_as_zero(tmp_path: Path) -> None:
    space = TantivySpace(tmp_path, Layout(texts=("title", "body")))
    texts = [
        {"title": "副業規程", "body": "許可が必要。届け出る"},
        {"title": "", "body": ""},
        {"title": "題", "body": "一行目\n二行目"},
    ]
    list(space.write(1, [], [Entry(key, "g", each) for key, each in enumerate(texts)]))

    def fingerprint(word: str) -> int:
        return zlib.crc32(word.encode())

    found = space.terms([2, 9, 0, 1])
    assert list(found.keys) == [2, 0, 1]
    title, first, second = (
        [fingerprint(word) for word in words(part)] for part in ("副業規程", "許可が必要", "届け出る")
    )
    lines = [[fingerprint(word) for word in words(part)] for part in ("題", "一行目", "二行目")]
    held = {name: [list(map(int, each)) for each in found.words[name]] for name in ("title", "body")}
    assert held["title"] == [[*lines[0], 0], [*title, 0], [0]]
    assert held["body"] == [[*lines[1], 0, *lines[2], 0], [*first, 0, *second, 0], [0]]
    assert all(each.dtype == np.uint32 for each in (*found.words["title"], *found.words["body"]))


def state(space: TantivySpace) -> tuple[object, ...]:
    space.reload()
    hits = space.search("副業", {}, Filters(), 100)
    return space.revision, space.count(), sorted(hits, key=lambda hit: hit.key)


def failing(after: int) -> Iterator[Entry]:
    yield from entries(["副業の新しい文"] * after, first=100)
    raise ConnectionError("the store is gone")


@pytest.mark.parametrize("after", [0, 1, 300])
def test_a_write_that_fails_leaves_the_old_state_and_the_lock_free(tmp_path: Path, after: int) -> None:
    space = space_of(tmp_path, ["副業の文", "届出の文"])
    before = state(space)
    with pytest.raises(ConnectionError):
        list(space.write(2, ["group-0"], failing(after)))
    assert state(space) == before
    list(space.write(3, ["group-0"], entries(["副業ではない"], first=7)))
    assert space.revision == 3
    assert {hit.key for hit in space.search("副業", {}, Filters(), 10)} == {7}


def test_a_write_that_is_dropped_half_way_leaves_the_old_state(tmp_path: Path) -> None:
    space = space_of(tmp_path, ["副業の文"])
    before = state(space)
    writing = space.write(2, ["group-0"], entries(["副業"] * 600, first=100))
    assert next(writing) > 0
    writing.close()  # type: ignore[attr-defined]
    assert state(space) == before
    assert state(TantivySpace(tmp_path, LAYOUT)) == before


def test_a_group_is_replaced_as_a_whole(tmp_path: Path) -> None:
    space = TantivySpace(tmp_path, LAYOUT)
    first = [Entry(key, "甲" if key < 3 else "乙", {"body": "副業の文"}) for key in range(5)]
    list(space.write(1, [], first))
    list(space.write(2, ["甲", "丙"], [Entry(9, "甲", {"body": "副業の文"})]))
    assert {hit.key for hit in space.search("副業", {}, Filters(), 10)} == {3, 4, 9}
    assert space.count() == 3
    list(space.write(3, ["甲", "乙"], []))
    assert (space.count(), space.revision) == (0, 3)


def test_entries_keep_their_order_and_tokens_in_every_batch() -> None:
    texts = [f"第{number}条 副業" for number in range(200)]
    made = list(tokenised(entries(texts), phrases=False))
    assert [entry.key for entry, _ in made] == list(range(200))
    for entry, tokens in made:
        assert tokens["body"].words.split() == words(entry.texts["body"])
        assert tokens["body"].bigrams.split() == bigrams(entry.texts["body"])


def test_what_a_killed_writer_left_is_cleared_away(tmp_path: Path) -> None:
    space = space_of(tmp_path, ["最初の文書"])
    (tmp_path / ".tmpKilled").touch()
    list(space.write(2, ["group-0"], [Entry(1, "group-0", {"body": "新しい版"})]))
    assert space.count() == 1
    assert not list(tmp_path.glob(".tmp*"))


def test_words_are_complete_however_many_are_kept_at_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shirube.index.embedded.text._REMEMBERED", 3)
    space = space_of(tmp_path, [f"第{number}条 副業の許可" for number in range(10)])
    keys = [hit.key for hit in space.search("副業", {}, Filters(), 10)]
    once = {key: space.terms([key]).words["body"][0].tolist() for key in keys}
    for part in (keys[:5], keys[3:], keys):
        found = space.terms(part)
        assert found.keys == part
        assert [each.tolist() for each in found.words["body"]] == [once[key] for key in part]


class LateIndex:
    """An index that hands its searcher to the thread called "late" only when that is let go."""

    def __init__(self, index: Any) -> None:
        self._index = index
        self.seen, self.go = threading.Event(), threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def searcher(self) -> Any:
        found = self._index.searcher()
        if threading.current_thread().name == "late":
            self.seen.set()
            self.go.wait(10)
        return found


def test_a_slow_reader_does_not_put_back_what_a_write_has_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = space_of(tmp_path, ["副業の許可"])
    index = LateIndex(space._index)
    monkeypatch.setattr(space, "_index", index)
    late = threading.Thread(target=space.reload, name="late")
    writer = threading.Thread(target=lambda: list(space.write(2, [], entries(["通勤手当"], first=1))))
    late.start()
    assert index.seen.wait(10)
    writer.start()
    writer.join(1)  # it may have to wait for the slow one
    index.go.set()
    late.join()
    writer.join()
    assert (space.revision, space.count()) == (2, 2)
