"""A set's knowledge base gives what each stage would give, or says that it cannot."""

from pathlib import Path

import numpy as np
import pytest

from shirube.errors import InvalidInput
from shirube.evaluate.datasets import Passage
from shirube.evaluate.searcher import Searcher, StageFailed
from shirube.models.errors import ModelError
from tests.evaluate.conftest import Models
from tests.evaluate.small import BY_LENGTH, CORPUS, TEXTS, Letters, Longest

QUERY = "副業の許可と休暇の取得"


def by_cosine(query: str) -> list[str]:
    letters = Letters()
    near = {name: letters.embed_query(text) @ letters.embed_query(query) for name, (_, text) in TEXTS.items()}
    return sorted(near, key=lambda name: -near[name])


def test_the_dense_stage_is_the_order_of_the_cosines(tmp_path: Path, models: Models) -> None:
    models(Letters(), None)
    assert Searcher(tmp_path, CORPUS).search(QUERY, 10, "dense") == by_cosine(QUERY)


def test_the_fused_stage_is_the_fusion_of_both_lanes_and_knows_no_re_ranker(
    tmp_path: Path, models: Models
) -> None:
    models(Letters(), Longest(error=ModelError("longest", "must not be asked")))
    searcher = Searcher(tmp_path, CORPUS)
    sparse, dense = searcher.search(QUERY, 10, "sparse"), by_cosine(QUERY)
    worth = {name: 1 / (61 + dense.index(name)) for name in dense}
    for rank, name in enumerate(sparse, 1):
        worth[name] += 1 / (60 + rank)
    assert searcher.search(QUERY, 10, "fused") == sorted(worth, key=lambda name: -worth[name])


def test_the_whole_is_in_the_re_rankers_order(tmp_path: Path, models: Models) -> None:
    models(Letters(), Longest())
    searcher = Searcher(tmp_path, CORPUS)
    assert searcher.search(QUERY, 10) == BY_LENGTH
    assert searcher.search(QUERY, 2) == BY_LENGTH[:2]
    assert BY_LENGTH not in [searcher.search(QUERY, 10, stage) for stage in ("sparse", "dense", "fused")]


def test_a_stage_whose_part_failed_gives_no_ranking(tmp_path: Path, models: Models) -> None:
    models(Letters(refused_query=QUERY), Longest())
    searcher = Searcher(tmp_path, CORPUS)
    assert searcher.search(QUERY, 10, "sparse")
    with pytest.raises(ModelError):
        searcher.search(QUERY, 10, "dense")
    for stage in ("fused", "whole"):
        with pytest.raises(StageFailed, match=r"^dense failed$"):
            searcher.search(QUERY, 10, stage)
    searcher.reranker = Longest(error=ValueError("broken"))
    with pytest.raises(StageFailed, match=r"^rerank failed$"):
        searcher.search("通勤手当", 10, "whole")
    assert searcher.search("通勤手当", 10, "fused")


def test_without_vectors_fusion_goes_by_full_text_alone(tmp_path: Path, models: Models) -> None:
    models(Letters(refuses_passages=True, refused_query=QUERY), None)
    searcher = Searcher(tmp_path, CORPUS, vectors=False)
    assert searcher.search(QUERY, 10, "fused") == searcher.search(QUERY, 10, "sparse")
    assert searcher.seconds_to_embed == 0


def test_another_re_ranker_takes_the_place_of_the_one_in_use(tmp_path: Path, models: Models) -> None:
    models(None, None)
    searcher = Searcher(tmp_path, CORPUS)
    ranked = searcher.rank(QUERY, reranker=Longest()).results
    found = [searcher.ids[each.key] for each in ranked]
    assert found == [name for name in BY_LENGTH if name in found]
    assert np.allclose([each.score for each in ranked], [len(TEXTS[name][1]) / 1000 for name in found])


@pytest.mark.sqlite
def test_data_stay_in_the_folder_whatever_the_settings_say(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    environ = {
        "SHIRUBE_HOME": str(elsewhere),
        "SHIRUBE_STORE": f"sqlite:///{elsewhere}/other.db",
        "SHIRUBE_EMBEDDER": "none",
        "SHIRUBE_RERANKER": "none",
    }
    searcher = Searcher(tmp_path / "here", CORPUS, environ=environ)
    assert (searcher.embedder, searcher.reranker) == (None, None)
    assert searcher.search("通勤手当", 1) == ["commute"]
    searcher.close()
    assert searcher.bytes_of("shirube.db") > 0
    assert not elsewhere.exists()


def test_a_setting_that_names_no_model_is_told_before_anything_is_built(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="SHIRUBE_RERANKER=wrong"):
        Searcher(tmp_path / "here", CORPUS, environ={"SHIRUBE_RERANKER": "wrong"})
    assert not (tmp_path / "here").exists()


def test_a_passage_is_found_by_its_title_and_is_never_cut(tmp_path: Path, models: Models) -> None:
    models(None, None)
    long = Passage("long", "旅費規程", "出張の経費を精算する。" * 500 + "末尾に特急料金がある。")
    searcher = Searcher(tmp_path, (*CORPUS, long, Passage("empty", "弔慰金", "")))
    assert searcher.search("旅費規程", 1) == ["long"]
    assert searcher.search("特急料金", 1) == ["long"]
    assert searcher.search("弔慰金", 1) == ["empty"]
