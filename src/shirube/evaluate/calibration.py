"""Whether scores keep their word, and the map that makes them: probabilities fitted to questions with known passages.

Each question is asked as it is; every fourth is also asked of a list that has lost its right passages, as one that
cannot be answered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

from shirube.errors import InvalidInput
from shirube.evaluate.datasets import Dataset
from shirube.evaluate.searcher import Searcher, StageFailed, Watch, unwatched
from shirube.models.contract import Scores
from shirube.retrieval.calibration import Calibration, Standing, gaps, log_odds, saved
from shirube.settings import load_settings

# So many results are shown where nobody asks for another number.
SHOWN = 10
THRESHOLDS = tuple(step / 100 for step in range(30, 95, 5))
# Fewer questions than this tell nothing of probabilities.
FEWEST = 60
_BINS = 10
_UNANSWERABLE = 4
_STEPS = 50

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Judged:
    """A question's list: the re-ranker's scores, best first, and which of them are right."""

    scores: Scores
    right: Flags

    def without_right(self) -> "Judged":
        return Judged(self.scores[~self.right], self.right[~self.right])


@dataclass(frozen=True)
class Trade:
    """What a threshold lets through: how much of it is right, and how much of what is right."""

    threshold: float
    precision: float
    recall: float
    silent: float
    """How many of the questions that cannot be answered get no answer."""


def judged_lists(searcher: Searcher, dataset: Dataset, watch: Watch = unwatched) -> list[Judged]:
    """What the pipeline up to the re-ranker makes of every question of the set."""
    found = []
    with watch("質問しています") as progress:
        for name, query in dataset.queries.items():
            outcome = searcher.rank(query)
            if outcome.failed:
                raise StageFailed(outcome.failed)
            scores = np.array([each.scores["rerank"] for each in outcome.results])
            right = np.array(
                [searcher.ids[each.key] in dataset.qrels[name] for each in outcome.results], bool
            )
            found.append(Judged(scores, right))
            progress(len(found), len(dataset.queries))
    return found


def with_unanswerable(lists: Sequence[Judged]) -> list[Judged]:
    return [*lists, *(each.without_right() for each in lists[::_UNANSWERABLE])]


def fitted(lists: Sequence[Judged], name: str) -> Standing:
    """The map for these lists: logistic in the score's odds and the gaps."""
    rows, labels = [], []
    for each in lists:
        odds = log_odds(each.scores)
        if len(odds):
            rows.append(np.column_stack([odds, gaps(odds), np.ones(len(odds))])[:SHOWN])
            labels.append(each.right[:SHOWN])
    wanted = np.concatenate(labels)
    score, gap, bias = logistic(np.concatenate(rows), wanted, np.ones(len(wanted))).tolist()
    return Standing(score, gap, bias, name, at_least_the_score=False)


def logistic(table: Scores, right: Flags, weights: Scores) -> Scores:
    """Weights of score, gap and bias (the columns of `table`) for the chance of being right, by Newton's method."""
    found = np.array([1.0, 0.0, 0.0])
    for _ in range(_STEPS):
        guess = 1 / (1 + np.exp(-table @ found))
        bend = (table * (weights * guess * (1 - guess))[:, None]).T @ table + 1e-6 * np.eye(3)
        found -= np.linalg.solve(bend, table.T @ (weights * (guess - right)))
        # A negative weight would turn a list's order round.
        found[:2] = np.maximum(found[:2], 0)
    return found


def expected_error(calibration: Calibration, lists: Sequence[Judged], shown: int = SHOWN) -> float:
    """Expected calibration error: how far the mean score of ten bins is from their share of right ones, by size."""
    chances = np.concatenate([calibration(each.scores)[:shown] for each in lists])
    right = np.concatenate([each.right[:shown] for each in lists])
    bins = np.minimum((chances * _BINS).astype(int), _BINS - 1)
    said, held = np.bincount(bins, chances, _BINS), np.bincount(bins, right, _BINS)
    return float(np.abs(said - held).sum() / max(len(right), 1))


def trades(
    calibration: Calibration,
    lists: Sequence[Judged],
    answers: Sequence[int],
    thresholds: Sequence[float] = THRESHOLDS,
) -> list[Trade]:
    """Precision and recall at each threshold; `answers` says how many right passages each question has at all."""
    chances = [calibration(each.scores) for each in lists]
    empty = [each.without_right() for each in lists]
    unanswered = [calibration(each.scores) for each in empty]
    found = []
    for threshold in thresholds:
        passing = [(each >= threshold)[:SHOWN] for each in chances]
        shown = sum(int(each.sum()) for each in passing)
        hits = [
            int((each.right[: len(kept)] & kept).sum()) for each, kept in zip(lists, passing, strict=True)
        ]
        recall = np.mean([hit / min(total, SHOWN) for hit, total in zip(hits, answers, strict=True)])
        silent = np.mean([not (each >= threshold).any() for each in unanswered])
        found.append(Trade(threshold, sum(hits) / max(shown, 1), float(recall), float(silent)))
    return found


def answers_of(dataset: Dataset) -> list[int]:
    return [len(dataset.qrels[name]) for name in dataset.queries]


@dataclass(frozen=True)
class Fit:
    """A map for a re-ranker, fitted to two thirds of a set's questions, and how it does on the others.

    `before` and `after` are expected calibration errors: of the map in use, and of the new one.
    """

    reranker: str
    dataset: str
    queries: int
    before: float
    after: float
    calibration: Standing
    trades: Sequence[Trade]

    @property
    def better(self) -> bool:
        return self.after < self.before


def fit(dataset: Dataset, environ: Mapping[str, str], watch: Watch = unwatched) -> Fit:
    """Fit a map for the re-ranker that `environ` names to the set, in a folder that is gone afterwards."""
    if len(dataset.queries) < FEWEST:
        raise InvalidInput(
            f"{len(dataset.queries)} queries are too few to fit a map to; at least {FEWEST} are needed",
            f"質問が{len(dataset.queries)}件では較正できません。{FEWEST}件以上必要です。",
        )
    with TemporaryDirectory(prefix="shirube-eval-", ignore_cleanup_errors=True) as folder:
        searcher = Searcher(Path(folder), dataset.corpus, environ=environ, watch=watch)
        try:
            if searcher.reranker is None:
                raise InvalidInput(
                    "There is no re-ranker to calibrate (SHIRUBE_RERANKER=none)",
                    "較正する再ランカーがありません（SHIRUBE_RERANKER=none）。",
                )
            lists = judged_lists(searcher, dataset, watch)
            name, in_use = searcher.reranker.name, load_settings(environ).calibrations
        finally:
            searcher.close()
    kept = [each for at, each in enumerate(lists) if at % 3 == 2]
    counts = [count for at, count in enumerate(answers_of(dataset)) if at % 3 == 2]
    learned = [each for at, each in enumerate(lists) if at % 3 != 2]
    made = fitted(with_unanswerable(learned), f"fitted to {dataset.name}")
    before = saved(in_use, name) or searcher.workspace.calibration
    held = with_unanswerable(kept)
    return Fit(
        reranker=name,
        dataset=dataset.name,
        queries=len(lists),
        before=expected_error(before, held),
        after=expected_error(made, held),
        calibration=made,
        trades=trades(made, kept, counts),
    )
