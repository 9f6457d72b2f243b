"""Fits the weights of the default re-ranker (`shirube.models.coverage`) and prints them.

    python -m benchmarks.fit_coverage

Trained on JaQuAD's training questions (CC BY-SA 3.0) among all of JaQuAD's passages, and on keyword forms of them: one
to three of a question's rarest words, for which every passage that holds them all counts as an answer. Deterministic.
"""

import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.datasets import Dataset, load, with_distractors
from benchmarks.ours import Searcher
from shirube.models.contract import Candidates, Question, Scores
from shirube.models.coverage import FEATURES, features
from shirube.text.tokenize import words

EVERY = 10
KEYWORD_QUERIES = 1500
KEYWORD_WEIGHT = 0.3
CANDIDATES = 40
RIDGE = 1e-3
COMPLETE = FEATURES.index("complete")


class Recorder:
    """A re-ranker that keeps what it is shown."""

    name = "recorder"

    def __init__(self) -> None:
        self.seen: list[tuple[Question, Candidates]] = []

    def scores(self, question: Question, candidates: Candidates) -> Scores:
        self.seen.append((question, candidates))
        return np.linspace(1, 0, len(candidates))


def main() -> None:
    data = with_distractors(load("jaquad-train"), load("jaquad-dev"))
    with tempfile.TemporaryDirectory() as folder:
        searcher = Searcher(Path(folder), data.corpus, vectors=True)
        table, labels, weights = training_rows(searcher, data)
    fitted = logistic(table, labels, weights)
    print("WEIGHTS =", np.round(fitted[:-1], 2).tolist())
    print("BIAS =", round(float(fitted[-1]), 2))


def training_rows(searcher: Searcher, data: Dataset) -> tuple[Scores, Scores, Scores]:
    tables, labels, weights = [], [], []
    for query_id, text in list(data.queries.items())[::EVERY]:
        found, table = _shown(searcher, text)
        tables.append(table)
        labels.append(np.array([searcher.ids[key] in data.qrels[query_id] for key in found], float))
        weights.append(np.ones(len(found)))
    for text in _keywords(searcher, data):
        found, table = _shown(searcher, text)
        tables.append(table)
        labels.append(table[:, COMPLETE])
        weights.append(np.full(len(found), KEYWORD_WEIGHT))
    return np.concatenate(tables), np.concatenate(labels), np.concatenate(weights)


def _shown(searcher: Searcher, text: str) -> tuple[Sequence[int], Scores]:
    """The first candidates for a query, in the order the re-ranker gets them, and their features."""
    recorder = Recorder()
    results = searcher.rank(text, reranker=recorder).results[:CANDIDATES]
    question, candidates = recorder.seen[0]
    return [each.key for each in results], features(question, candidates)[: len(results)]


def _keywords(searcher: Searcher, data: Dataset) -> list[str]:
    chance = random.Random(1)
    texts = {passage.id: passage.text for passage in data.corpus}
    queries = []
    for query_id, text in chance.sample(list(data.queries.items()), KEYWORD_QUERIES):
        held = set(words(texts[next(iter(data.qrels[query_id]))]))
        shared = [word for word in dict.fromkeys(words(text)) if word in held]
        rarity = searcher.space.rarity(shared, "body")
        rarest = sorted(shared, key=lambda word: -rarity[word])[: chance.choice([1, 1, 2, 2, 3])]
        if rarest:
            queries.append(" ".join(rarest))
    return queries


def logistic(table: Scores, labels: Scores, weights: Scores) -> npt.NDArray[np.float64]:
    """Logistic regression by Newton's method; the last value is the bias."""
    inputs = np.column_stack([table, np.ones(len(table))])
    fitted = np.zeros(inputs.shape[1])
    for _ in range(50):
        guess = 1 / (1 + np.exp(-inputs @ fitted))
        slope = inputs.T @ (weights * (guess - labels)) + RIDGE * fitted
        bend = (inputs * (weights * guess * (1 - guess))[:, None]).T @ inputs + RIDGE * np.eye(len(fitted))
        step = np.linalg.solve(bend, slope)
        fitted -= step
        if np.abs(step).max() < 1e-8:
            break
    return fitted


if __name__ == "__main__":
    main()
