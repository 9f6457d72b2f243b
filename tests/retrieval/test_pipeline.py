"""The way of a query: each stage does its part, and any of them may fail alone."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import shirube
from shirube.caller import LOCAL, Caller, Confidentiality
from shirube.errors import InvalidInput
from shirube.index.contract import Hits, Kind, Similarity, Terms, Vectors, Weight
from shirube.index.embedded.tokens import fingerprints
from shirube.ingest.sync import Options, add_files, find_files
from shirube.models.contract import Candidates, Matrix, Question, Scores
from shirube.models.ranker.matches import pair_codes
from shirube.models.ranker.reranker import LearnedReranker
from shirube.query.filters import Condition, Filters
from shirube.query.values import Exact
from shirube.retrieval.calibration import Standing
from shirube.retrieval.fusion import reciprocal_ranks
from shirube.retrieval.lanes import Lane
from shirube.retrieval.okapi import okapi
from shirube.retrieval.pipeline import Outcome, Space, _question
from shirube.store import bases
from shirube.store.bases import KnowledgeBase
from shirube.store.database import Database, open_database
from shirube.text.questions import subject
from shirube.text.tokenize import words
from tests.retrieval.ranking import RECIPE, Letters, World
from tests.store.records import document, put, remove
from tests.stores import store_url

SAMPLES = Path(shirube.__file__).parent / "samples"
TEXTS = {
    "副業": ["副業には会社の許可が必要です。", "許可は人事部長が決めます。"],
    "通勤": ["通勤手当は月額5万円までです。", "通勤の経路は届け出ます。"],
    "在宅": ["在宅勤務には手当があります。", "通信費は手当に含みます。"],
    "研修": ["研修は年に2回あります。"],
}
QUERY = "通勤手当 届出"
# The lanes' fusion alone, without BM25 among its candidates.
FUSED = replace(RECIPE, bm25_share=0.0)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("world")
    database = open_database(store_url(folder / "shirube.db"))
    with database.write() as connection:
        base = bases.create_base(connection, LOCAL, "規程")
        for source, texts in TEXTS.items():
            put(connection, base, document(source, *texts))
        secret = document("役員", "役員の通勤手当は別に定める。", confidentiality=Confidentiality.secret)
        put(connection, base, secret)
    world = World(database, base, folder / "index")
    world.index()
    return world


@dataclass(frozen=True)
class Broken:
    """A space of which some parts fail."""

    whole: Space
    text: bool = False
    vectors: bool = False
    words: bool = False

    def search(self, query: str, weights: Mapping[str, Weight], filters: Filters, limit: int) -> Hits:
        if self.text:
            raise OSError("no text today")
        return self.whole.search(query, weights, filters, limit)

    def search_vectors(self, model: str, vector: Vectors, filters: Filters, limit: int) -> Hits:
        if self.vectors:
            raise OSError("no vectors today")
        return self.whole.search_vectors(model, vector, filters, limit)

    def similarity(self, model: str, vectors: Vectors, keys: Sequence[int]) -> Similarity:
        return self.whole.similarity(model, vectors, keys)

    def rarity(self, tokens: Sequence[str], text: str, kind: Kind = "words") -> dict[str, float]:
        return self.whole.rarity(tokens, text, kind)

    def terms(self, keys: Sequence[int]) -> Terms:
        if self.words:
            raise OSError("no words today")
        return self.whole.terms(keys)


class Failing:
    """A model of every kind that is out of order."""

    name = "failing"
    setting = "failing"

    def embed(self, texts: Sequence[str]) -> Matrix:
        raise RuntimeError("out of order")

    def embed_query(self, text: str) -> Matrix:
        raise RuntimeError("out of order")

    def scores(self, question: Question, candidates: Candidates) -> Scores:
        raise RuntimeError("out of order")

    def __call__(self, scores: Scores) -> Scores:
        raise RuntimeError("out of order")


class Backwards:
    """Gives the last candidate the highest score."""

    name = "backwards"

    def scores(self, question: Question, candidates: Candidates) -> Scores:
        return np.linspace(0.1, 0.9, len(candidates))


def order(outcome: Outcome) -> list[int]:
    return [result.key for result in outcome.results]


def stages(outcome: Outcome) -> list[str]:
    return [stage.name for stage in outcome.stages]


def test_the_fused_order_is_the_fusion_of_both_lanes(world: World) -> None:
    outcome = world.rank(QUERY, recipe=FUSED, embedder=Letters())
    lanes = [
        Lane("sparse", world.space.search(QUERY, RECIPE.weights, Filters(), 500)),
        Lane("dense", world.space.search_vectors("letters", Letters().embed_query(QUERY), Filters(), 500)),
    ]
    wanted = reciprocal_ranks(lanes).by_key()
    assert {result.key: result.score for result in outcome.results} == wanted
    assert [result.score for result in outcome.results] == sorted(wanted.values(), reverse=True)
    by_text, by_vector = (lane.hits.by_key() for lane in lanes)
    keys = [result.key for result in outcome.results]
    text_ranks, vector_ranks = (dict(zip(keys, lane.standing(keys)[1], strict=True)) for lane in lanes)
    highest = max(by_text.values())
    for result in outcome.results:
        assert result.scores["rrf"] == wanted[result.key]
        assert result.scores["dense"] == by_vector[result.key]
        assert result.ranks["dense"] == vector_ranks[result.key]
        if result.key in by_text:
            assert result.scores["sparse"] == by_text[result.key] / highest
            assert result.ranks["sparse"] == text_ranks[result.key]
        else:
            assert "sparse" not in result.scores
    assert stages(outcome) == ["sparse", "dense", "fusion", "bm25", "calibrate"]


def test_bm25_among_the_candidates_counts_beside_the_fusion(world: World) -> None:
    fused = {
        result.key: result.score for result in world.rank(QUERY, recipe=FUSED, embedder=Letters()).results
    }
    outcome = world.rank(QUERY, embedder=Letters())
    held = dict(zip(fused, world.space.terms(list(fused)).words[RECIPE.body], strict=True))
    asked = np.array([fingerprints[word] for word in dict.fromkeys(words(subject(QUERY)))], np.uint32)
    bm25, covered = okapi(asked, list(held.values()))
    bm25 /= bm25.max()
    weight = 0.3 * covered
    assert 0 < weight < 0.3, "no passage holds every word"
    for key, share in zip(held, bm25.tolist(), strict=True):
        [result] = [each for each in outcome.results if each.key == key]
        assert result.scores["bm25"] == pytest.approx(share)
        assert result.score == pytest.approx(weight * share + (1 - weight) * fused[key])
    assert order(outcome) != list(fused), "it changes something here"
    assert [result.score for result in outcome.results] == sorted(
        (result.score for result in outcome.results), reverse=True
    )


def test_every_stage_says_how_many_it_let_through_and_how_long_it_took(world: World) -> None:
    outcome = world.rank(
        QUERY, embedder=Letters(), reranker=LearnedReranker(), calibration=Standing(1.0, 0.5, 0.0)
    )
    counts = {stage.name: stage.count for stage in outcome.stages}
    assert list(counts) == ["sparse", "dense", "fusion", "bm25", "rerank", "calibrate"]
    assert {counts[name] for name in ("dense", "fusion", "bm25", "rerank", "calibrate")} == {8}
    assert 0 < counts["sparse"] < 8
    assert all(stage.ms >= 0 for stage in outcome.stages)
    assert outcome.failed == []


def test_the_limits_of_the_recipe_cut_each_stage(world: World) -> None:
    recipe = replace(RECIPE, sparse_limit=3, dense_limit=4, fused_limit=5, rerank_limit=2)
    outcome = world.rank(QUERY, recipe=recipe, embedder=Letters(), reranker=LearnedReranker())
    counts = {stage.name: stage.count for stage in outcome.stages}
    assert (counts["sparse"], counts["dense"], counts["rerank"]) == (3, 4, 2)
    assert counts["fusion"] <= 5
    assert len(outcome.results) == 2


def test_the_reranker_decides_the_order(world: World) -> None:
    before = order(world.rank(QUERY, embedder=Letters()))
    outcome = world.rank(QUERY, embedder=Letters(), reranker=Backwards())
    assert order(outcome) == before[::-1]
    assert [result.score for result in outcome.results] == sorted(
        (result.scores["rerank"] for result in outcome.results), reverse=True
    )


def test_filters_hold_in_both_lanes(world: World) -> None:
    filters = Filters(all_of=(Condition("department", "=", (Exact("無い部"),)),))
    outcome = world.rank(QUERY, filters=filters, embedder=Letters(), reranker=LearnedReranker())
    assert outcome.results == []
    assert {stage.count for stage in outcome.stages} == {0}
    assert outcome.failed == []


def test_an_embedder_out_of_order_leaves_the_text(world: World) -> None:
    alone = world.rank(QUERY, reranker=LearnedReranker())
    outcome = world.rank(QUERY, embedder=Failing(), reranker=LearnedReranker())
    assert outcome.failed == ["dense"]
    assert order(outcome) == order(alone) != []
    assert [result.score for result in outcome.results] == [result.score for result in alone.results]


def test_vectors_out_of_order_leave_the_text(world: World) -> None:
    outcome = world.rank(QUERY, space=Broken(world.space, vectors=True), embedder=Letters())
    assert outcome.failed == ["dense"]
    assert order(outcome) == order(world.rank(QUERY))
    [error] = [stage.error for stage in outcome.stages if stage.error]
    assert error == "OSError", "what went wrong is named, what it said is not shown"


def test_text_out_of_order_leaves_the_vectors(world: World) -> None:
    outcome = world.rank(QUERY, recipe=FUSED, space=Broken(world.space, text=True), embedder=Letters())
    assert outcome.failed == ["sparse"]
    wanted = world.space.search_vectors("letters", Letters().embed_query(QUERY), Filters(), 500)
    assert [result.scores["dense"] for result in outcome.results] == [hit.score for hit in wanted]
    assert not any("sparse" in result.scores for result in outcome.results)


def test_both_lanes_out_of_order_are_an_empty_answer_that_says_so(world: World) -> None:
    broken = Broken(world.space, text=True, vectors=True)
    outcome = world.rank(QUERY, space=broken, embedder=Letters(), reranker=LearnedReranker())
    assert outcome.results == []
    assert outcome.failed == ["sparse", "dense"]


def test_a_reranker_out_of_order_leaves_the_order_of_the_stage_before(world: World) -> None:
    without_words = Broken(world.space, words=True)
    for broken, failed, before in (
        (world.rank(QUERY, embedder=Letters(), reranker=Failing()), ["rerank"], RECIPE),
        (
            world.rank(QUERY, space=without_words, embedder=Letters(), reranker=LearnedReranker()),
            ["bm25", "rerank"],
            FUSED,
        ),
    ):
        wanted = world.rank(QUERY, recipe=before, embedder=Letters())
        assert broken.failed == failed
        assert order(broken) == order(wanted)
        assert [result.score for result in broken.results] == [result.score for result in wanted.results]
        assert not any("rerank" in result.scores for result in broken.results)


def test_a_calibration_out_of_order_leaves_the_scores_as_they_are(world: World) -> None:
    plain = world.rank(QUERY, embedder=Letters(), reranker=LearnedReranker())
    broken = world.rank(QUERY, embedder=Letters(), reranker=LearnedReranker(), calibration=Failing())
    assert broken.failed == ["calibrate"]
    assert order(broken) == order(plain)
    assert [result.score for result in broken.results] == [result.score for result in plain.results]


def test_scores_that_no_reranker_gave_are_not_calibrated(world: World) -> None:
    """Its map would make a certainty of the first of any list."""
    broken = world.rank(QUERY, embedder=Letters(), reranker=Failing(), calibration=Standing(5.0, 5.0, 5.0))
    plain = world.rank(QUERY, embedder=Letters())
    assert [result.score for result in broken.results] == [result.score for result in plain.results]


def test_what_the_caller_asked_wrongly_is_no_failure_of_a_stage(world: World) -> None:
    filters = Filters(all_of=(Condition("unknown", "=", (Exact("x"),)),))
    with pytest.raises(InvalidInput, match="unknown"):
        world.rank(QUERY, filters=filters, embedder=Letters())


def test_what_the_caller_may_not_read_falls_out(world: World) -> None:
    everything = world.rank(QUERY, embedder=Letters())
    cleared = Caller(LOCAL.tenant, LOCAL.subject, clearance=Confidentiality.internal)
    stranger = Caller("other", LOCAL.subject, roles=frozenset({"admin"}))
    places = world.places(everything)
    seen = world.rank(QUERY, caller=cleared, embedder=Letters(), reranker=LearnedReranker())
    assert ("役員", 0) in places
    assert set(world.places(seen)) == set(places) - {("役員", 0)}
    assert world.places(world.rank(QUERY, caller=cleared, embedder=Letters())) == [
        place for place in places if place != ("役員", 0)
    ]
    assert world.rank(QUERY, caller=stranger, embedder=Letters(), reranker=LearnedReranker()).results == []


def test_what_was_removed_from_the_store_falls_out_before_the_index_knows(
    database: Database, base: KnowledgeBase, tmp_path: Path
) -> None:
    world = World(database, base, tmp_path / "index")
    with database.write() as connection:
        put(connection, base, document("甲", "通勤手当の額"), document("乙", "通勤手当の額"))
    world.index()
    with database.write() as connection:
        remove(connection, base, "甲")
    outcome = world.rank("通勤手当", embedder=Letters(), reranker=LearnedReranker())
    assert world.places(outcome) == [("乙", 0)]


@pytest.mark.parametrize("query", ["", "！？", "😀", " "])
def test_a_query_without_words_is_answered_by_vectors_or_not_at_all(world: World, query: str) -> None:
    assert world.rank(query, reranker=LearnedReranker()).results == []
    outcome = world.rank(query, embedder=Letters(), reranker=LearnedReranker())
    assert outcome.failed == []
    assert all(0 <= result.score <= 1 for result in outcome.results)


def sample_world(folder: Path, seed: int) -> World:
    """The sample documents, put in in an order of their own."""
    database = open_database(store_url(folder / "shirube.db"))
    with database.write() as connection:
        base = bases.create_base(connection, LOCAL, "規程")
    files = find_files([SAMPLES / "company"])
    random.Random(seed).shuffle(files)
    add_files(database, LOCAL, base, files, Options())
    world = World(database, base, folder / "index")
    world.index()
    return world


def questions() -> list[str]:
    lines = (SAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["query"] for line in lines]


@pytest.fixture(scope="module")
def shuffled(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, World]:
    first, second = (sample_world(tmp_path_factory.mktemp("shuffled"), seed) for seed in (1, 2))
    return first, second


@pytest.mark.parametrize("embedder", [None, Letters()], ids=["text", "text and vectors"])
def test_the_order_of_putting_in_changes_neither_order_nor_scores(
    shuffled: tuple[World, World], embedder: Letters | None
) -> None:
    # Lanes that hold every passage: at a lane's own cut Tantivy chooses among equals by its own order.
    recipe = replace(RECIPE, sparse_limit=1000, dense_limit=1000, fused_limit=1000)
    found = 0
    for query in questions()[::5]:
        answers = []
        for world in shuffled:
            outcome = world.rank(
                query,
                recipe=recipe,
                embedder=embedder,
                reranker=LearnedReranker(),
                calibration=Standing(1.0, 0.5, 0.0),
            )
            shown = [(result.score, result.scores, result.ranks) for result in outcome.results]
            answers.append(list(zip(world.places(outcome), shown, strict=True)))
        assert answers[0] == answers[1]
        found += len(answers[0])
    assert found > 500


def test_equals_at_the_cut_are_chosen_by_their_place(
    migrated: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Thirty passages that nothing tells apart, of which ten are looked at."""
    recipe = replace(RECIPE, rerank_limit=10)
    answers = []
    for names in (range(30), reversed(range(30))):
        folder = tmp_path_factory.mktemp("equals")
        database = open_database(store_url(folder / "shirube.db"))
        with database.write() as connection:
            base = bases.create_base(connection, LOCAL, "規程")
            for name in names:
                put(connection, base, document(f"{name:02}.md", "通勤手当の額", title="手当"))
        world = World(database, base, folder / "index")
        world.index()
        for embedder in (None, Letters()):
            outcome = world.rank("通勤手当", recipe=recipe, embedder=embedder, reranker=LearnedReranker())
            answers.append(world.places(outcome))
    assert answers == [[(f"{name:02}.md", 0) for name in range(10)]] * 4


@pytest.mark.parametrize("query", ["PC", "ノートPCの申請", "USB"])
def test_a_latin_word_is_compared_as_it_is_written(world: World, query: str) -> None:
    asked = _question(world.space, query, RECIPE)
    latin = pair_codes(["pc"] if "PC" in query else ["us", "sb"])
    assert set(latin) <= set(asked.pairs)
    assert (asked.pair_rarity > 0).all()


@pytest.mark.parametrize(
    ("query", "wanted"), [("通勤手当", 3), ("火星 衛星", 6)], ids=["covered", "not covered"]
)
def test_the_more_bm25_covers_the_fewer_need_the_reranker(world: World, query: str, wanted: int) -> None:
    recipe = replace(RECIPE, rerank_limit=6, rerank_least=3, nearest=0)
    outcome = world.rank(query, recipe=recipe, embedder=Letters(), reranker=LearnedReranker())
    counts = {stage.name: stage.count for stage in outcome.stages}
    assert counts["fusion"] == 8
    assert counts["bm25"] == counts["rerank"] == len(outcome.results) == wanted


def test_the_nearest_by_vectors_go_on_whatever_bm25_says(world: World) -> None:
    """An answer in another language has none of the query's words."""
    few = replace(RECIPE, rerank_limit=6, rerank_least=3, nearest=0)
    shown = {each.key for each in world.rank("通勤手当", recipe=few, embedder=Letters()).results}
    more = world.rank("通勤手当", recipe=replace(few, nearest=3), embedder=Letters()).results
    [dense] = [lane for lane in more[0].lanes if lane.name == "dense"]
    nearest = set(dense.hits.keys[:3].tolist())
    assert nearest - shown
    assert {each.key for each in more} == shown | nearest
