"""The default re-ranker's features against the plain meaning of their names."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shirube.models.contract import Candidates, Question, Scores
from shirube.models.coverage import BIAS, FEATURES, WEIGHTS, CoverageReranker, features

SMALL = st.integers(1, 12)
passages = st.lists(st.lists(st.integers(0, 12), max_size=15), max_size=6)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Distinct words, each with how rare it is; a question may have none."""
    rarities = draw(st.dictionaries(SMALL, st.floats(0.1, 9), max_size=5))
    return Question("", np.array(list(rarities), np.uint32), np.array(list(rarities.values())))


@st.composite
def candidates(draw: st.DrawFn) -> Candidates:
    held = draw(passages)
    scores = st.lists(st.one_of(st.just(np.nan), st.floats(0, 30)), min_size=len(held), max_size=len(held))
    cosines = st.lists(st.one_of(st.just(np.nan), st.floats(-1, 1)), min_size=len(held), max_size=len(held))
    return Candidates(
        texts=[""] * len(held),
        words=[np.array(words, np.uint32) for words in held],
        sparse=np.array(draw(scores)),
        dense=np.array(draw(cosines)),
    )


def sentences(words: list[int]) -> list[set[int]]:
    """The words of each sentence; 0 ends one."""
    found: list[set[int]] = [set()]
    for word in words:
        if word:
            found[-1].add(word)
        else:
            found.append(set())
    return found


def reference(question: Question, given: Candidates) -> list[dict[str, float]]:
    """Each candidate on its own, one feature after another."""
    rarity = dict(zip(question.words.tolist(), question.rarity.tolist(), strict=True))
    total = sum(rarity.values())
    best_sparse = max([0.0, *(score for score in given.sparse.tolist() if score == score)])

    def share(held: set[int]) -> float:
        return sum(rarity[word] for word in held & rarity.keys()) / total if total else 0.0

    rows = []
    for words, sparse, dense in zip(given.words, given.sparse.tolist(), given.dense.tolist(), strict=True):
        held = set(words.tolist())
        one = max(share(each) for each in sentences(words.tolist()))
        rarest = max(rarity, key=lambda word: rarity[word]) if rarity else None
        rows.append(
            {
                "covered": share(held),
                "covered_in_sentence": one,
                "sparse": sparse / best_sparse if sparse == sparse and best_sparse else 0.0,
                "dense": min(max(dense, 0.0), 1.0) if dense == dense else 0.0,
                "rarest_missing": float(rarest is not None and rarest not in held),
                "complete": float(bool(rarity) and rarity.keys() <= held),
                "complete_in_sentence": float(
                    bool(rarity) and any(rarity.keys() <= each for each in sentences(words.tolist()))
                ),
            }
        )
    return rows


@settings(max_examples=60)
@given(question=questions(), given=candidates())
def test_the_features_are_what_their_names_say(question: Question, given: Candidates) -> None:
    table = features(question, given)
    assert table.shape == (len(given), len(FEATURES))
    for row, wanted in zip(table, reference(question, given), strict=True):
        assert dict(zip(FEATURES, row.tolist(), strict=True)) == pytest.approx(wanted, abs=1e-9)


@settings(max_examples=60)
@given(question=questions(), given=candidates())
def test_the_score_is_the_logistic_of_the_weighted_features(question: Question, given: Candidates) -> None:
    scores = CoverageReranker().scores(question, given)
    assert len(scores) == len(given)
    for score, row in zip(scores, reference(question, given), strict=True):
        odds = sum(weight * row[name] for weight, name in zip(WEIGHTS.tolist(), FEATURES, strict=True)) + BIAS
        assert score == pytest.approx(1 / (1 + np.exp(-odds)), abs=1e-9)
        assert 0 <= score <= 1


def candidate(*words: int) -> Candidates:
    return Candidates([""], [np.array(words, np.uint32)], np.array([1.0]), np.array([0.5]))


def scored(question: Question, *words: int) -> float:
    scores: Scores = CoverageReranker().scores(question, candidate(*words))
    return float(scores[0])


def test_more_of_the_question_in_one_sentence_scores_higher() -> None:
    question = Question("", np.array([3, 5, 7], np.uint32), np.array([1.0, 2.0, 3.0]))
    nothing = scored(question, 1, 2, 0)
    common = scored(question, 3, 0, 1)
    rare = scored(question, 7, 0, 1)
    apart = scored(question, 3, 5, 0, 7)
    together = scored(question, 1, 3, 5, 7, 0)
    assert nothing < common < rare < apart < together


def test_the_sentences_of_two_candidates_are_never_joined() -> None:
    """The end of one passage and the beginning of the next are no sentence, even without a border."""
    question = Question("", np.array([3, 5], np.uint32), np.array([1.0, 1.0]))
    both = Candidates(
        ["", ""],
        [np.array([3], np.uint32), np.array([5], np.uint32)],
        np.array([np.nan, np.nan]),
        np.array([np.nan, np.nan]),
    )
    table = features(question, both)
    assert table[:, FEATURES.index("covered_in_sentence")].tolist() == [0.5, 0.5]
    assert table[:, FEATURES.index("complete")].tolist() == [0, 0]
