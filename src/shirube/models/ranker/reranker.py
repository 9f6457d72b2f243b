"""The learned re-ranker: four small networks over `features`, one for each kind of query.

Questions, sentences that ask nothing, a few keywords, and queries in another language than the passages want different
things of a passage, and one model of them all was worse at each. `benchmarks/train_reranker.py` finds the weights.
"""

from functools import cached_property
from importlib.resources import as_file, files
from typing import Literal

import numpy as np

from shirube.models.contract import Candidates, Question, Scores
from shirube.models.ranker.features import NAMES, features
from shirube.models.ranker.network import Network

Kind = Literal["question", "statement", "keywords", "foreign"]
KINDS: tuple[Kind, ...] = ("question", "statement", "keywords", "foreign")
# A query of more words than this is a sentence, whether it asks or not.
_MANY_WORDS = 6
# Some of the candidates are in another language, and none of them covers the query: only a vector can tell.
_SOME, _UNCOVERED = 0.2, 0.7
# What covers all of a query, the log odds of 0.62, and the quartile above which three of four lie.
_EVERY, _FOUND, _MOST_FROM = 0.999, 0.49, 0.25
_QUESTION, _WORDS, _FOREIGN, _COVERED, _WINDOW, _COMPLETE = (
    NAMES.index(name)
    for name in ("question", "words", "foreign", "best_covered", "window", "covered_by_both")
)


class LearnedReranker:
    name = "shirube-ranker-1"
    setting = "learned"

    def scores(self, question: Question, candidates: Candidates) -> Scores:
        table = features(question, candidates)
        if not len(table):
            return np.zeros(0)
        kind = kind_of(table)
        logits = self._networks[kind](table)
        if kind == "keywords":
            logits = _raised(logits, table)
        return np.asarray(1 / (1 + np.exp(-logits)), np.float64)

    @cached_property
    def calibration(self) -> tuple[float, float, float]:
        """The weights of `retrieval.calibration.Standing` that were fitted with the networks."""
        score, gap, bias = self._stored["calibration"]
        return float(score), float(gap), float(bias)

    @cached_property
    def _networks(self) -> dict[Kind, Network]:
        if tuple(self._stored["names"]) != NAMES:
            raise ValueError("the re-ranker's weights were made for other features")
        return {kind: Network(*(self._stored[f"{kind}-{part}"] for part in Network.PARTS)) for kind in KINDS}

    @cached_property
    def _stored(self) -> dict[str, Scores]:
        with as_file(files("shirube.models") / "trained" / "reranker.npz") as path, np.load(path) as stored:
            return dict(stored)


def _raised(logits: Scores, table: Scores) -> Scores:
    """The same order, raised until most of the passages that hold every keyword count as found.

    Who asks with keywords is served by whatever holds them all, even where something tells one passage from another.
    """
    complete = table[:, _COMPLETE] > _EVERY
    if not complete.any():
        return logits
    return logits + max(0.0, _FOUND - float(np.quantile(logits[complete], _MOST_FROM)))


def kind_of(table: Scores) -> Kind:
    """The kind of a query, from the features of its candidates."""
    known = not np.isnan(table[:, _WINDOW]).all()
    foreign = table[0, _FOREIGN] if known else 0.0
    if foreign > _SOME and table[0, _COVERED] < _UNCOVERED:
        return "foreign"
    if table[0, _QUESTION]:
        return "question"
    return "statement" if table[0, _WORDS] > _MANY_WORDS else "keywords"
