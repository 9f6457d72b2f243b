"""Vectors: exact cosines of the stored rows, filters, generations, and what damage does."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shirube.index.contract import Embedded, Entry, Layout, Vectors
from shirube.index.embedded import vectors as module
from shirube.index.embedded.vectors import UsearchSpace
from shirube.query.filters import Condition, Filters
from shirube.query.values import Between
from tests.index.embedded.filtering import ENTRIES, LAYOUT, all_filters, passing

MODEL = "model-a"
SIZE = 48
PLAIN = Layout(texts=("body",))


def random_vectors(count: int, size: int = SIZE, seed: int = 0) -> Vectors:
    return np.random.default_rng(seed).normal(size=(count, size)).astype(np.float32)


def plain_entries(keys: Sequence[int]) -> list[Entry]:
    return [Entry(key, str(key), {"body": "文"}) for key in keys]


def add(space: UsearchSpace, entries: Sequence[Entry], rows: Vectors, model: str = MODEL) -> None:
    """Keep every row whose key does not come again."""
    kept = ~np.isin(space.keys(), [entry.key for entry in entries])
    space.save(model, kept, entries, Embedded.of_whole(rows), revision=1)


def rounded(vectors: Vectors) -> npt.NDArray[np.float64]:
    """Rows in steps of a 127th of their largest value, in single precision as the vectors come: ties round with it."""
    steps = vectors / np.abs(vectors).max(axis=1, keepdims=True) * np.float32(127)
    assert steps.dtype == np.float32
    return np.asarray(np.round(steps), np.float64)


def cosines(vectors: Vectors, query: Vectors) -> npt.NDArray[np.float64]:
    rows, [wanted] = rounded(vectors), rounded(query[None])
    found: npt.NDArray[np.float64] = rows @ wanted / np.linalg.norm(rows, axis=1) / np.linalg.norm(wanted)
    return found


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> UsearchSpace:
    """The entries to be filtered, saved in two goes so that two codings were joined."""
    space = UsearchSpace(tmp_path_factory.mktemp("filtered"), LAYOUT)
    rows = random_vectors(len(ENTRIES))
    add(space, ENTRIES[:70], rows[:70])
    add(space, ENTRIES[70:], rows[70:])
    return space


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), limit=st.integers(1, 200))
def test_the_nearest_are_those_of_the_largest_cosine(filtered: UsearchSpace, seed: int, limit: int) -> None:
    [query] = random_vectors(1, seed=seed)
    wanted = cosines(random_vectors(len(ENTRIES)), query)
    hits = filtered.search(query, Filters(), limit)
    assert len(hits) == min(limit, len(ENTRIES))
    assert len({hit.key for hit in hits}) == len(hits)
    for hit, best in zip(hits, np.sort(wanted)[::-1], strict=False):
        assert hit.score == pytest.approx(wanted[hit.key], abs=1e-6)
        assert hit.score == pytest.approx(best, abs=1e-6)


@settings(max_examples=80)
@given(filters=all_filters(), limit=st.sampled_from((3, 1000)))
def test_only_rows_that_pass_are_found_and_the_nearest_of_them(
    filtered: UsearchSpace, filters: Filters, limit: int
) -> None:
    [query] = random_vectors(1, seed=7)
    score = cosines(random_vectors(len(ENTRIES)), query)
    wanted = sorted((entry.key for entry in passing(filters)), key=lambda key: -score[key])
    assert [hit.key for hit in filtered.search(query, filters, limit)] == wanted[:limit]


def test_equal_cosines_are_in_the_order_of_their_keys_even_at_the_cut(tmp_path: Path) -> None:
    space = UsearchSpace(tmp_path, PLAIN)
    keys = list(range(100))
    random.Random(1).shuffle(keys)
    [one, other] = random_vectors(2)
    add(space, plain_entries(keys), np.stack([one if key < 60 else other for key in keys]))
    for limit in (1, 7, 59, 60):
        assert [hit.key for hit in space.search(one, Filters(), limit)] == list(range(limit))
    assert [hit.key for hit in space.search(one, Filters(), 70)] == list(range(70))


def test_the_length_of_a_vector_does_not_matter(filtered: UsearchSpace) -> None:
    [query] = random_vectors(1, seed=3)
    assert filtered.search(query * 1000, Filters(), 5) == filtered.search(query, Filters(), 5)


def test_no_rows_and_no_limit_find_nothing(tmp_path: Path, filtered: UsearchSpace) -> None:
    [query] = random_vectors(1)
    assert UsearchSpace(tmp_path, LAYOUT).search(query, Filters(), 10) == []
    assert filtered.search(query, Filters(), 0) == []


@settings(max_examples=8)
@given(
    steps=st.lists(
        st.tuples(st.sets(st.integers(0, 30), max_size=12), st.sets(st.integers(0, 30), max_size=6)),
        min_size=1,
        max_size=5,
    ),
    seed=st.integers(0, 1000),
)
def test_rows_are_kept_replaced_and_removed(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[set[int], set[int]]], seed: int
) -> None:
    """A step saves the vectors of some keys and drops others; levels of entries change with their vectors."""
    folder = tmp_path_factory.mktemp("steps")
    layout = Layout(texts=("body",), numbers=("level",))
    space = UsearchSpace(folder, layout)
    held: dict[int, tuple[Vectors, int]] = {}
    for turn, (put, dropped) in enumerate(steps):
        rows = random_vectors(len(put), seed=seed + turn)
        entries = [replace(entry, numbers={"level": turn}) for entry in plain_entries(sorted(put))]
        kept = ~np.isin(space.keys(), [*put, *dropped])
        space.save(MODEL, kept, entries, Embedded.of_whole(rows))
        for key in dropped - put:
            held.pop(key, None)
        held |= {entry.key: (row, turn) for entry, row in zip(entries, rows, strict=True)}
        reopened = UsearchSpace(folder, layout)
        assert sorted(reopened.keys()) == sorted(held)
        for key, (row, level) in held.items():
            own = Filters(all_of=(Condition("level", "=", (Between(level, level),)),))
            [best] = reopened.search(row, own, 1)
            assert best.key == key
            assert best.score == pytest.approx(1, abs=1e-6)
    assert len(list(folder.glob("vectors-*"))) == 1, "old generations are cleared away"


def test_vectors_of_two_models_are_never_mixed(tmp_path: Path) -> None:
    space = UsearchSpace(tmp_path, PLAIN)
    add(space, plain_entries([1, 2]), random_vectors(2))
    with pytest.raises(ValueError, match="two models"):
        add(space, plain_entries([3]), random_vectors(1, size=8), model="model-b")
    assert (space.model, sorted(space.keys())) == (MODEL, [1, 2])
    space.save("model-b", np.zeros(2, bool), plain_entries([3]), Embedded.of_whole(random_vectors(1, size=8)))
    assert (space.model, sorted(space.keys())) == ("model-b", [3])


def test_a_reader_keeps_the_generation_it_has_until_it_looks_again(tmp_path: Path) -> None:
    writer, [query] = UsearchSpace(tmp_path, LAYOUT), random_vectors(1)
    add(writer, ENTRIES[:50], random_vectors(50, seed=1))
    reader = UsearchSpace(tmp_path, LAYOUT)
    filters = Filters(none_of=(Condition("level", "range", (Between(0, 3),)),))
    before = [reader.search(query, each, 20) for each in (Filters(), filters)]
    assert before[0] != before[1]
    space_gone = tmp_path / json.loads((tmp_path / "vectors.json").read_text())["generation"]
    rest = Embedded.of_whole(random_vectors(len(ENTRIES) - 50, seed=2))
    writer.save(MODEL, np.zeros(50, bool), ENTRIES[50:], rest)
    assert not space_gone.exists()
    assert [reader.search(query, each, 20) for each in (Filters(), filters)] == before
    reader.reload()
    assert reader.search(query, filters, 20) == writer.search(query, filters, 20)
    assert {hit.key for hit in reader.search(query, Filters(), 1000)} == {e.key for e in ENTRIES[50:]}


def test_the_graph_finds_nine_of_ten_of_what_the_scan_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, queries = random_vectors(3000, size=32), random_vectors(40, size=32, seed=9)
    entries = plain_entries(range(5, 3005))
    scan = UsearchSpace(tmp_path / "scan", PLAIN)
    add(scan, entries, rows)
    monkeypatch.setattr(module, "EXACT_ROWS", 100)
    monkeypatch.setattr(module, "GRAPH_ROWS", 100)
    graph = UsearchSpace(tmp_path / "graph", PLAIN)
    add(graph, entries, rows)
    assert list((tmp_path / "graph").rglob("graph.usearch"))
    assert not list((tmp_path / "scan").rglob("graph.usearch"))
    growing = UsearchSpace(tmp_path / "growing", PLAIN)
    growing.save(MODEL, np.zeros(0, bool), entries, Embedded.of_whole(rows))
    assert not list((tmp_path / "growing").rglob("graph.usearch")), "more is to come"
    shared = 0
    for query in queries:
        wanted = {hit.key: hit.score for hit in scan.search(query, Filters(), 10)}
        found = graph.search(query, Filters(), 10)
        assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
        for hit in found:
            if hit.key in wanted:
                assert hit.score == pytest.approx(wanted[hit.key], abs=0.01)
        shared += len(wanted.keys() & {hit.key for hit in found})
    assert shared / 400 >= 0.9


def test_whole_texts_propose_whose_windows_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scan of whole texts finds what comparing every window does, as far as whole texts tell."""
    entries, vectors = plain_entries(range(600)), windowed(600, seed=2)
    space = UsearchSpace(tmp_path, PLAIN)
    space.save(MODEL, np.zeros(0, bool), entries, vectors, revision=1)
    queries = random_vectors(20, size=vectors.whole.shape[1], seed=8)
    exact = [space.search(query, Filters(), 5).by_key() for query in queries]
    monkeypatch.setattr(module, "EXACT_ROWS", 10)
    proposed = [space.search(query, Filters(), 5).by_key() for query in queries]
    assert not list(tmp_path.rglob("graph.usearch"))
    assert all(len(each) == 5 for each in proposed)
    for query, wanted, found in zip(queries, exact, proposed, strict=True):
        near = np.argsort(-cosines(vectors.whole, query))[:20]
        assert found.keys() <= {entries[at].key for at in near.tolist()}
        for key in found.keys() & wanted.keys():
            assert found[key] == pytest.approx(wanted[key])
    monkeypatch.setattr(module, "_BY_SCAN", 1000)
    assert [space.search(query, Filters(), 5).by_key() for query in queries] == exact


def test_a_comparison_shared_by_two_threads_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space, queries = UsearchSpace(tmp_path, PLAIN), random_vectors(5, seed=3)
    add(space, plain_entries(range(7)), random_vectors(7))
    alone = [space.search(query, Filters(), 7) for query in queries]
    monkeypatch.setattr("shirube.index.embedded.rows._SHARED", 2)
    assert [space.search(query, Filters(), 7) for query in queries] == alone
    assert all(len(hits) == 7 for hits in alone)


def test_filters_are_exact_where_there_is_a_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EXACT_ROWS", 100)
    monkeypatch.setattr(module, "GRAPH_ROWS", 100)
    space, [query] = UsearchSpace(tmp_path, LAYOUT), random_vectors(1)
    add(space, ENTRIES, random_vectors(len(ENTRIES), seed=4))
    filters = Filters(all_of=(Condition("level", "=", (Between(2, 2),)),))
    assert {hit.key for hit in space.search(query, filters, 1000)} == {e.key for e in passing(filters)}


def damaged(path: Path, how: str) -> None:
    content = path.read_bytes()
    match how:
        case "gone":
            path.unlink()
        case "cut":
            path.write_bytes(content[: len(content) // 2])
        case "garbled":
            path.write_bytes(random.Random(1).randbytes(len(content)))


@pytest.mark.parametrize("how", ["gone", "cut", "garbled"])
@pytest.mark.parametrize(
    "name",
    [
        "vectors.json",
        "keys.npy",
        "whole.npy",
        "whole-lengths.npy",
        "starts.npy",
        "title_codes.npy",
        "codes-1.npy",
        "values.json",
    ],
)
def test_damaged_vectors_count_as_missing_and_can_be_saved_again(tmp_path: Path, name: str, how: str) -> None:
    space, [query] = UsearchSpace(tmp_path, LAYOUT), random_vectors(1)
    add(space, ENTRIES[:40], random_vectors(40, seed=1))
    before = space.search(query, Filters(), 10)
    [path] = tmp_path.rglob(name)
    damaged(path, how)
    opened = UsearchSpace(tmp_path, LAYOUT)
    assert (opened.model, len(opened.rows)) == (None, 0)
    assert opened.search(query, Filters(), 10) == []
    add(opened, ENTRIES[:40], random_vectors(40, seed=1))
    assert opened.search(query, Filters(), 10) == before
    space.reload()
    assert space.search(query, Filters(), 10) == before


@pytest.mark.parametrize("text", ["", "[]", "5", "null", '{"generation": 3}', '{"generation": "vectors-9"}'])
def test_a_manifest_without_sense_counts_as_no_vectors(tmp_path: Path, text: str) -> None:
    space, [query] = UsearchSpace(tmp_path, LAYOUT), random_vectors(1)
    add(space, ENTRIES[:5], random_vectors(5))
    (tmp_path / "vectors.json").write_text(text)
    for each in (space, UsearchSpace(tmp_path, LAYOUT)):
        each.reload()
        assert each.search(query, Filters(), 10) == []


@pytest.mark.parametrize("how", ["gone", "cut", "garbled"])
def test_a_damaged_graph_leaves_the_scan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setattr(module, "EXACT_ROWS", 10)
    monkeypatch.setattr(module, "GRAPH_ROWS", 10)
    space, [query] = UsearchSpace(tmp_path, PLAIN), random_vectors(1)
    rows = random_vectors(300, seed=1)
    add(space, plain_entries(range(300)), rows)
    [path] = tmp_path.rglob("graph.usearch")
    damaged(path, how)
    best = int(np.argmax(cosines(rows, query)))
    [hit] = UsearchSpace(tmp_path, PLAIN).search(query, Filters(), 1)
    assert hit.key == best
    assert hit.score == pytest.approx(cosines(rows, query)[best], abs=1e-6)


def test_vectors_made_for_other_fields_count_as_missing(tmp_path: Path) -> None:
    add(UsearchSpace(tmp_path, LAYOUT), ENTRIES[:5], random_vectors(5))
    wider = replace(LAYOUT, keywords=(*LAYOUT.keywords, "author"))
    assert len(UsearchSpace(tmp_path, wider).rows) == 0
    assert len(UsearchSpace(tmp_path, replace(LAYOUT, version=LAYOUT.version + 1)).rows) == 0
    assert len(UsearchSpace(tmp_path, LAYOUT).rows) == 5


def windowed(count: int, seed: int) -> Embedded:
    """Vectors with none to three windows each, and titles that entries share."""
    chance = np.random.default_rng(seed)
    counts = chance.integers(0, 4, count)
    titles = random_vectors(5, seed=seed + 1)[chance.integers(0, 5, count)]
    titles[chance.random(count) < 0.3] = 0
    return Embedded(
        random_vectors(count, seed=seed), random_vectors(int(counts.sum()), seed=seed + 2), counts, titles
    )


def expected(vectors: Embedded, query: Vectors) -> npt.NDArray[np.float64]:
    """Whole, best window and title of each entry, one by one."""
    assert vectors.titles is not None
    rows = []
    start = 0
    for whole, count, title in zip(vectors.whole, vectors.counts, vectors.titles, strict=True):
        [near] = cosines(whole[None], query)
        own = vectors.windows[start : start + count]
        start += count
        best = max(cosines(own, query)) if count else near
        rows.append((near, best, cosines(title[None], query)[0] if title.any() else np.nan))
    return np.array(rows)


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_windows_and_titles_are_those_of_their_entries_whatever_was_kept_and_added(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    chance = np.random.default_rng(seed)
    space = UsearchSpace(tmp_path_factory.mktemp("windows"), PLAIN)
    [query] = random_vectors(1, seed=seed + 7)
    held: dict[int, npt.NDArray[np.float64]] = {}
    next_key = 1
    for round_ in range(4):
        new = windowed(int(chance.integers(0, 6)), seed + round_)
        entries = plain_entries(range(next_key, next_key + len(new)))
        next_key += len(new)
        kept = chance.random(len(space.rows)) < 0.7
        stay = {int(key) for key in space.keys()[kept]}
        space.save(MODEL, kept, entries, new)
        held = {key: row for key, row in held.items() if key in stay}
        held |= {e.key: row for e, row in zip(entries, expected(new, query), strict=True)}
    keys = [*chance.permutation(list(held)), 999] if held else [999]
    found = space.similarity(np.stack([query, query, -query]), [int(key) for key in keys])
    wanted = np.array([held.get(int(key), np.full(3, np.nan)) for key in keys])
    got = np.column_stack([found.whole, found.window, found.title])
    np.testing.assert_allclose(got, wanted, atol=1e-6)
    np.testing.assert_allclose(found.clauses[0], wanted[:, 1], atol=1e-6)
    turned = space.similarity(-query[None, :], [int(key) for key in keys])
    np.testing.assert_allclose(found.clauses[1], turned.window)
    assert turned.clauses.shape == (0, len(keys))
    for hit in space.search(query, Filters(), 100):
        whole, window, title = held[hit.key]
        score = (window + 0.5 * whole) / 1.5 if np.isnan(title) else (window + 0.5 * whole + 0.5 * title) / 2
        assert hit.score == pytest.approx(score, abs=1e-6)
    assert {hit.key for hit in space.search(query, Filters(), 100)} == held.keys()
