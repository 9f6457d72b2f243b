"""The default re-ranker: how much of what the question says stands in the passage, and how close together.

Features over the words the index already holds, weighted by rarity; one logistic formula. Its weights come from
`benchmarks/fit_coverage.py` (JaQuAD's training questions and keyword forms of them; no set that judges is used).
"""

import numpy as np
import numpy.typing as npt

from shirube.models.contract import Candidates, Question, Scores

FEATURES = ("covered", "covered_in_sentence", "sparse", "dense", "missing_rarest")
# Fitted; see the module's first lines.
WEIGHTS = np.array([4.0, 2.0, 4.0, 2.0, -0.5])
BIAS = -6.0


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
        present, nearby = _presence(question.words, candidates.words)
        table[:, 0] = present @ weights
        table[:, 1] = (nearby @ weights).max(axis=1, initial=0.0) if nearby.ndim == 2 else _best(nearby, weights)
        table[:, 4] = 1 - present[:, int(np.argmax(question.rarity))]
    sparse = np.nan_to_num(candidates.sparse)
    table[:, 2] = sparse / sparse.max() if sparse.max() > 0 else 0
    table[:, 3] = np.clip(np.nan_to_num(candidates.dense), 0, 1)
    return table
