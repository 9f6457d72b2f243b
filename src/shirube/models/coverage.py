"""The default re-ranker: how much of what the question says stands in the passage, and how close together.

Features over the words the index already holds, weighted by rarity; one logistic formula. Its weights come from
`benchmarks/fit_coverage.py` (JaQuAD's training questions and keyword forms of them; no set that judges is used).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shirube.models.contract import Candidates, Question, Scores

FEATURES = (
    "covered",  # share of the question's rarity found in the passage
    "covered_in_sentence",  # the same in its best sentence
    "sparse",  # full-text score ÷ the best of the candidates
    "dense",  # cosine of the vectors
    "rarest_missing",  # the rarest word is not there
    "complete",  # every word is there
    "complete_in_sentence",  # every word in one sentence
)
# Printed by benchmarks/fit_coverage.py.
WEIGHTS = np.array([4.98, 1.92, 13.99, 0.71, -0.18, 6.06, 5.94])
BIAS = -18.04
_WHOLE = 0.999


class CoverageReranker:
    name = "coverage-1"

    def scores(self, question: Question, candidates: Candidates) -> Scores:
        values: Scores = 1 / (1 + np.exp(-(features(question, candidates) @ WEIGHTS + BIAS)))
        return values


def features(question: Question, candidates: Candidates) -> Scores:
    """One row a candidate, one column a feature; each about 0 to 1."""
    table = np.zeros((len(candidates), len(FEATURES)))
    if not len(candidates):
        return table
    total = question.rarity.sum()
    if total > 0:
        weights = question.rarity / total
        passage, sentence = _coverage(question.words, weights, candidates.words)
        table[:, 0] = passage @ weights
        table[:, 1] = sentence
        table[:, 4] = 1 - passage[:, int(np.argmax(question.rarity))]
        table[:, 5] = table[:, 0] > _WHOLE
        table[:, 6] = table[:, 1] > _WHOLE
    sparse = np.nan_to_num(candidates.sparse)
    table[:, 2] = sparse / sparse.max() if sparse.max() > 0 else 0
    table[:, 3] = np.clip(np.nan_to_num(candidates.dense), 0, 1)
    return table


def _coverage(
    wanted: npt.NDArray[np.uint32], weights: Scores, passages: Sequence[npt.NDArray[np.uint32]]
) -> tuple[Scores, Scores]:
    """Which wanted words each passage holds, and the largest weight of them that one sentence holds."""
    lengths = [len(words) for words in passages]
    words = np.concatenate([*passages, np.zeros(1, np.uint32)])
    owner = np.repeat(np.arange(len(passages)), lengths)
    sentence = np.cumsum(words == 0)[:-1]
    sentence += np.repeat(
        np.arange(len(passages)), lengths
    )  # a passage's first sentence is never the last one's
    words = words[:-1]
    order = np.argsort(wanted)
    place = np.searchsorted(wanted[order], words)
    place = order[np.minimum(place, len(wanted) - 1)]
    at = np.flatnonzero(wanted[place] == words)
    held = np.zeros((len(passages), len(wanted)))
    held[owner[at], place[at]] = 1
    best = np.zeros(len(passages))
    if len(at):
        sentences, row = np.unique(sentence[at], return_inverse=True)
        within = np.zeros((len(sentences), len(wanted)))
        within[row, place[at]] = 1
        owners = np.zeros(len(sentences), int)
        owners[row] = owner[at]
        np.maximum.at(best, owners, within @ weights)
    return held, best
