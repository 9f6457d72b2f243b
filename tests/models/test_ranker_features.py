"""The re-ranker's features, each beside a plain computation of what it says."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shirube.index.embedded.tokens import fingerprints
from shirube.models.contract import Candidates, Question, Scores
from shirube.models.ranker.features import NAMES, features
from shirube.models.ranker.matches import (
    Found,
    Line,
    character_pairs,
    match_pairs,
    match_words,
    pair_codes,
)
from shirube.models.ranker.reranker import LearnedReranker, kind_of
from shirube.text.tokenize import words, words_and_borders

TEXTS = [
    "通勤手当は月額五万円までとする。届出は十日以内に行う。",
    "副業には会社の許可が必要である。許可の申請は人事部に行う。",
    "出張の日当は一日三千円である。宿泊費は実費とする。2024年に改めた。",
    "",
    "The allowance is paid monthly.",
]
TITLES = ["旅費規程", "副業許可", "", "出張", "Allowance"]


def prints(tokens: list[str]) -> "np.ndarray[tuple[int], np.dtype[np.uint32]]":
    return np.array([fingerprints[token] for token in tokens], np.uint32)


def question(text: str) -> Question:
    distinct, pairs = list(dict.fromkeys(words(text))), character_pairs(text)
    return Question(
        text, prints(distinct), np.arange(1.0, len(distinct) + 1), pair_codes(pairs), np.ones(len(pairs))
    )


def candidates(texts: list[str], titles: list[str], seed: int = 0) -> Candidates:
    chance = np.random.default_rng(seed)
    sparse = chance.random(len(texts)) * 20
    sparse[::3] = np.nan
    cosine = [chance.random(len(texts)) for _ in range(3)]
    return Candidates(
        texts,
        titles,
        [prints(words_and_borders(text)) for text in texts],
        [prints(words_and_borders(title)) for title in titles],
        sparse,
        *cosine,
    )


def column(table: Scores, name: str) -> Scores:
    return np.asarray(table[:, NAMES.index(name)])


QUERIES = [
    "副業の許可",
    "通勤手当の届出",
    "出張の日当は何円ですか",
    "allowance",
    "２０２４年",
    "無関係",
    "手",
    "",
]


@pytest.mark.parametrize("query", QUERIES)
def test_coverage_is_the_share_of_the_questions_rarity(query: str) -> None:
    asked = question(query)
    table = features(asked, candidates(TEXTS, TITLES))
    distinct = list(dict.fromkeys(words(query)))
    weights = dict(zip(distinct, asked.rarity, strict=True))
    for row, (text, title) in enumerate(zip(TEXTS, TITLES, strict=True)):
        total = sum(weights.values())
        held = sum(w for word, w in weights.items() if word in words(text)) / total if total else 0
        both = sum(w for word, w in weights.items() if word in {*words(text), *words(title)})
        named = sum(w for word, w in weights.items() if word in words(title))
        assert column(table, "covered")[row] == pytest.approx(held)
        assert column(table, "covered_by_both")[row] == pytest.approx(both / total if total else 0)
        assert column(table, "covered_by_title")[row] == pytest.approx(named / total if total else 0)


@pytest.mark.parametrize("query", QUERIES)
def test_pairs_of_characters_are_found_where_they_are_written(query: str) -> None:
    table = features(question(query), candidates(TEXTS, TITLES))
    pairs = character_pairs(query)
    for row, text in enumerate(TEXTS):
        held = sum(pair in text for pair in pairs) / len(pairs) if pairs else 0
        best = max((sum(pair in part for pair in pairs) for part in text.split("。")), default=0)
        assert column(table, "pairs_covered")[row] == pytest.approx(held)
        assert column(table, "pairs_in_sentence")[row] == pytest.approx(best / len(pairs) if pairs else 0)


def test_the_longest_stretch_of_writing_is_found() -> None:
    pairs = character_pairs("通勤手当の届出")
    assert pairs == ["通勤", "勤手", "手当", "当の", "の届", "届出"]
    found = Found.of(match_pairs(pair_codes(pairs), Line.of(["通勤手当", "届出と通勤", "手当の届け"])), 6)
    assert found.run(np.full(6, 1 / 6)) == pytest.approx([3 / 6, 1 / 6, 3 / 6])
    assert found.lengths == pytest.approx([4, 5, 5])


def test_width_case_and_old_forms_of_letters_make_no_difference() -> None:
    assert character_pairs("ﾃﾚﾜｰｸ") == character_pairs("テレワーク")
    assert character_pairs("ＡＢ社") == character_pairs("ab社")
    assert character_pairs("學校") == character_pairs("学校")


def test_a_question_for_a_number_wants_a_sentence_with_a_digit() -> None:
    texts = ["出張の日当を改めた。", "出張の日当は3千円。"]
    shown = candidates(texts, ["", ""])
    asks = column(features(question("出張の日当は何円か"), shown), "number_sentence")
    tells = column(features(question("出張の日当について"), shown), "number_sentence")
    assert asks[0] == 0 < asks[1]
    assert tells[0] == pytest.approx(tells[1])


def test_a_run_of_words_does_not_go_on_into_the_next_text_or_sentence() -> None:
    wanted = prints(["副業", "許可"])
    weights = np.array([0.5, 0.5])
    texts = [
        prints(["会社", "副業"]),
        prints(["許可", "副業"]),
        prints(["副業", "", "許可"]),
        prints(["副業", "許可"]),
    ]
    found = Found.of(match_words(wanted, texts), 2)
    assert found.run(weights) == pytest.approx([0.5, 0.5, 0.5, 1.0])
    assert found.pairs() == pytest.approx([0, 0, 0, 1])
    best = found.sentences.best(weights)
    assert best == pytest.approx([0.5, 1.0, 0.5, 1.0])
    assert found.sentences.best_two(weights, best) == pytest.approx([0.5, 1.0, 1.0, 1.0])


def test_matches_are_split_where_the_texts_are() -> None:
    wanted = prints(["副業", "許可"])
    texts = [prints(["副業"]), prints([]), prints(["許可", "副業", "", "許可"]), prints(["会社"])]
    first, rest = match_words(wanted, texts).split(2)
    assert Found.of(first, 2).counts.tolist() == [[1, 0], [0, 0]]
    assert Found.of(rest, 2).counts.tolist() == [[1, 2], [0, 0]]
    assert Found.of(rest, 2).sentences.best(np.array([0.5, 0.5])) == pytest.approx([1.0, 0])
    assert first.lengths.tolist() == [1, 0]
    assert rest.lengths.tolist() == [3, 1]


def test_a_single_kanji_in_common_counts_and_the_rarer_counts_more() -> None:
    texts = ["通潤酒造は熊本の会社である。", "熊本の会社が小麦を挽く。", "岩手の会社が家具を作る。"]
    shown = candidates(texts, ["", "", ""])
    kanji = column(features(question("熊本の酒蔵"), shown), "kanji")
    assert kanji[0] == pytest.approx(1.0)  # 蔵 is nowhere, and counts for nothing
    assert kanji[0] > kanji[1] > kanji[2] == 0


def test_every_clause_looks_for_a_window_of_its_own() -> None:
    shown = candidates(["副業の許可。", "手当の額。"], ["", ""])
    asked = question("副業の許可、手当の額")
    alone = features(asked, shown)
    assert column(alone, "clauses") == pytest.approx(shown.window)
    several = features(asked, replace(shown, clauses=np.array([[0.9, 0.1], [0.7, 0.5]])))
    assert column(several, "clauses") == pytest.approx([0.8, 0.3])
    assert column(several, "weakest_clause") == pytest.approx([0.7, 0.1])


@settings(max_examples=100)
@given(
    query=st.text(max_size=30),
    texts=st.lists(st.text(max_size=60), min_size=1, max_size=6),
    seed=st.integers(0, 1000),
)
def test_any_text_gives_finite_features_that_do_not_depend_on_the_order(
    query: str, texts: list[str], seed: int
) -> None:
    query = query.encode("utf-8", "replace").decode()
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    shown = candidates(texts, texts[::-1], seed)
    table = features(question(query), shown)
    assert table.shape == (len(texts), len(NAMES))
    assert np.isfinite(table).all()
    turned = Candidates(
        shown.texts[::-1],
        shown.title_texts[::-1],
        shown.words[::-1],
        shown.titles[::-1],
        shown.sparse[::-1],
        shown.whole[::-1],
        shown.window[::-1],
        shown.title[::-1],
    )
    np.testing.assert_allclose(features(question(query), turned)[::-1], table, atol=1e-12)


def test_keywords_are_served_by_whatever_holds_them_all() -> None:
    texts = [f"副業{'の許可' if at % 2 else ''}について第{at}条に定める。" + "会社" * at for at in range(12)]
    shown = candidates([*texts, "会議室は予約する。"], [""] * 13)
    scores = LearnedReranker().scores(question("副業"), shown)
    assert (scores[:12] >= 0.6).sum() >= 9
    assert scores[12] < 0.5


@pytest.mark.parametrize("known", [True, False])
def test_keywords_that_nothing_covers_score_low_in_the_same_order(known: bool) -> None:
    texts = ["子の卒園式に出席するときは休暇を取れる。", "会議室は予約する。", "健康診断の式次第を配る。"]
    shown = candidates(texts, ["", "", ""])
    far = np.array([0.1, 0.05, 0.08]) if known else np.full(3, np.nan)
    shown = replace(shown, whole=far, window=far, title=far)
    asked = question("シュレーディンガー方程式")
    asked = replace(asked, rarity=np.where(asked.words == fingerprints["式"], 5.0, 7.0))
    scores = LearnedReranker().scores(asked, shown)
    assert kind_of(features(asked, shown)) == "keywords"
    assert scores.max() < 0.3
    network = LearnedReranker()._networks["keywords"](features(asked, shown))
    np.testing.assert_array_equal(np.argsort(-scores), np.argsort(-network))


def test_keywords_that_a_near_passage_has_half_of_keep_their_scores() -> None:
    shown = candidates(["副業の許可は人事部長が決める。", "会議室は予約する。"], ["副業・兼業規程", ""])
    near = np.array([0.6, 0.1])
    shown = replace(shown, whole=near, window=near, title=near)
    asked = question("副業 許可 決裁者")
    asked = replace(asked, rarity=np.ones(len(asked.words)))
    network = LearnedReranker()._networks["keywords"](features(asked, shown))
    np.testing.assert_array_equal(LearnedReranker().scores(asked, shown), 1 / (1 + np.exp(-network)))


def test_without_vectors_their_features_are_unknown_and_the_scores_still_tell_apart() -> None:
    texts = ["副業には会社の許可が必要である。", "会議室は予約する。"]
    shown = candidates(texts, ["", ""])
    nothing = np.full(2, np.nan)
    blind = replace(shown, whole=nothing, window=nothing, title=nothing)
    table = features(question("副業の許可"), blind)
    assert np.isnan(column(table, "window")).all()
    assert np.isfinite(column(table, "covered")).all()
    right, wrong = LearnedReranker().scores(question("副業の許可"), blind)
    assert right > wrong
    assert np.isfinite([right, wrong]).all()


@pytest.mark.parametrize(
    "query", ["通勤手当", "通勤手当はいくらか", "通勤手当の額を全社員に毎月支給する規程の改定"]
)
@pytest.mark.parametrize("count", [2, 3, 5, 7, 10, 13, 30, 99])
def test_equal_candidates_have_equal_scores_wherever_they_stand(query: str, count: int) -> None:
    shown = candidates(["通勤手当の額"] * count, ["手当"] * count)
    same = np.full(count, 0.3)
    equals = replace(shown, sparse=same, whole=same, window=same, title=same)
    assert len(set(LearnedReranker().scores(question(query), equals))) == 1


def test_characters_beyond_the_basic_plane_are_no_pairs() -> None:
    assert character_pairs("😀𠮷野家") == ["野家"]


def test_no_candidates_give_no_rows() -> None:
    assert features(question("副業"), candidates([], [])).shape == (0, len(NAMES))


@pytest.mark.parametrize(
    ("query", "asks"),
    [
        ("副業の規定を教えて", 0),
        ("副業について知りたい", 0),
        ("副業はいつから認められるか教えて", 1),
        ("副業は？", 1),
    ],
)
def test_to_ask_for_a_subject_is_no_question_about_it(query: str, asks: int) -> None:
    table = features(question(query), candidates(TEXTS, TITLES))
    assert set(column(table, "question")) == {float(asks)}
