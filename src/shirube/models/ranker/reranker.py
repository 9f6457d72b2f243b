"""The learned re-ranker: four small networks over `features`, one for each kind of query.

Questions, sentences that ask nothing, a few keywords, and queries in another language than the passages want different
things of a passage, and one model of them all was worse at each. `benchmarks/train_reranker.py` finds the weights.
"""

from functools import cached_property
from importlib.resources import as_file, files
from typing import Literal

import numpy as np
import numpy.typing as npt

from shirube.models.contract import Candidates, Question, Scores
from shirube.models.ranker.features import NAMES, features, foreign_to
from shirube.models.ranker.network import Network

Kind = Literal["question", "statement", "keywords", "foreign"]
KINDS: tuple[Kind, ...] = ("question", "statement", "keywords", "foreign")
# A query of more words than this is a sentence, whether it asks or not.
_MANY_WORDS = 6
# Some of the candidates are in another language, and none of them covers the query: only a vector can tell.
_SOME, _UNCOVERED = 0.2, 0.7
# Cosines across languages are lower; among cases and manuals of two languages this much lost least of either.
_AS_NEAR = 0.05
# What covers all of a query, the log odds of 0.62, and the quartile above which three of four lie.
_EVERY, _FOUND, _MOST_FROM = 0.999, 0.49, 0.25
# Log odds that keywords are answered here at all: weights of what the best passage covers of them and of how near the
# best window is, and a constant; with vectors and without. `benchmarks/fit_answerable.py` finds them.
_NEAR, _BLIND = (14.7, 17.9, -15.75), (17.69, 0.0, -8.34)
# So much of these log odds counts: a company's rules are further from what its people ask than the training texts,
# whose keywords were made from them.
_BELIEVED = 0.5
_QUESTION, _WORDS, _FOREIGN, _COVERED, _NEAREST, _WINDOW, _COMPLETE = (
    NAMES.index(name)
    for name in ("question", "words", "foreign", "best_covered", "best_window", "window", "covered_by_both")
)


class LearnedReranker:
    name = "shirube-ranker-1"
    setting = "learned"

    def scores(self, question: Question, candidates: Candidates) -> Scores:
        table = features(question, candidates)
        if not len(table):
            return np.zeros(0)
        kind = kind_of(table)
        logits = self._logits(kind, table)
        if kind == "foreign":
            own = _at_home(table, foreign_to(question, candidates))
            logits[own] = self._logits(_within_language(table), table[own])
        elif kind == "keywords":
            logits = _lowered(logits, table)
        return np.asarray(1 / (1 + np.exp(-logits)), np.float64)

    def _logits(self, kind: Kind, table: Scores) -> Scores:
        logits = self._networks[kind](table)
        return _raised(logits, table) if kind == "keywords" else logits

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
    complete = _complete(table)
    if not complete.any():
        return logits
    return logits + max(0.0, _FOUND - float(np.quantile(logits[complete], _MOST_FROM)))


def _lowered(logits: Scores, table: Scores) -> Scores:
    """The same order where no passage holds every keyword, the best no likelier right than that any is.

    The network compares passages: 式 in 卒園式 is the best there is of シュレーディンガー方程式, and says nothing.
    """
    if _complete(table).any():
        return logits
    return logits - max(0.0, float(logits.max()) - _BELIEVED * answerable(table))


def _complete(table: Scores) -> npt.NDArray[np.bool_]:
    return np.asarray(table[:, _COMPLETE] > _EVERY)


def answerable(table: Scores) -> float:
    """The log odds that keywords are answered by anything in the list, from the features of its candidates."""
    nearest = float(table[0, _NEAREST])
    covered, near, constant = _BLIND if np.isnan(nearest) else _NEAR
    return covered * float(table[0, _COVERED]) + near * float(np.nan_to_num(nearest)) + constant


def _at_home(table: Scores, foreign: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which candidates are judged by their words though others are in another language.

    Those in the query's language, in a base of two, unless what is nearest in meaning is in the other: words that
    cover little of the query are then chance.
    """
    near = np.nan_to_num(table[:, _WINDOW], nan=-1.0)
    if foreign.all() or (foreign.any() and near[~foreign].max() < near[foreign].max() - _AS_NEAR):
        return np.zeros(len(table), bool)
    return ~foreign


def kind_of(table: Scores) -> Kind:
    """The kind of a query, from the features of its candidates."""
    known = not np.isnan(table[:, _WINDOW]).all()
    foreign = table[0, _FOREIGN] if known else 0.0
    if foreign > _SOME and table[0, _COVERED] < _UNCOVERED:
        return "foreign"
    return _within_language(table)


def _within_language(table: Scores) -> Kind:
    if table[0, _QUESTION]:
        return "question"
    return "statement" if table[0, _WORDS] > _MANY_WORDS else "keywords"
