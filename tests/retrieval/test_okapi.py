"""Okapi BM25 among candidates, against the formula written out word by word."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.retrieval.okapi import okapi

DOCUMENTS = st.lists(st.lists(st.integers(0, 6), max_size=12), min_size=1, max_size=8)


def written_out(words: Sequence[int], documents: Sequence[Sequence[int]]) -> list[float]:
    lengths = [len(document) for document in documents]
    mean = sum(lengths) / len(lengths) or 1
    scores = []
    for document, length in zip(documents, lengths, strict=True):
        score = 0.0
        for word in words:
            holding = sum(word in each for each in documents)
            idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
            often = document.count(word)
            score += idf * often * 2.5 / (often + 1.5 * (0.25 + 0.75 * length / mean))
        scores.append(score)
    return scores


def arrays(documents: Sequence[Sequence[int]]) -> list[np.ndarray[tuple[int], np.dtype[np.uint32]]]:
    return [np.array(each, np.uint32) for each in documents]


@given(words=st.lists(st.integers(1, 6), unique=True, max_size=5), documents=DOCUMENTS)
def test_scores_are_those_of_the_formula(words: list[int], documents: list[list[int]]) -> None:
    scores, covered = okapi(np.array(words, np.uint32), arrays(documents))
    assert scores.tolist() == pytest.approx(written_out(words, documents))
    assert 0 <= covered <= 1 + 1e-9
    assert (covered > 0) == any(word in document for word in words for document in documents)
    whole = words and any(set(words) <= set(document) for document in documents)
    assert (covered > 1 - 1e-9) == bool(whole)


def test_a_word_that_all_candidates_hold_tells_less_than_one_that_few_do() -> None:
    common, rare = 1, 2
    documents = arrays([[common, 9, 9], [common, rare, 9], [common, 9, 9]])
    scores, _ = okapi(np.array([common, rare], np.uint32), documents)
    assert scores.argmax() == 1
    assert scores[1] > 2 * scores[0] > 0


def test_no_candidates_have_no_scores() -> None:
    scores, covered = okapi(np.array([1], np.uint32), [])
    assert (scores.tolist(), covered) == ([], 0.0)


def test_words_that_share_half_a_fingerprint_are_told_apart() -> None:
    one, other = 0x0001_ABCD, 0x0002_ABCD
    scores, covered = okapi(np.array([one], np.uint32), arrays([[other, other], [one, other]]))
    assert scores[0] == 0 < scores[1]
    assert covered == 1
