"""Finds when keywords are answered by nothing in a base: the weights that `models/ranker/reranker.py` has.

    python -m benchmarks.fit_answerable

Keywords of the training sets are asked of the texts they were made from, and of texts of another kind: captions of
laws of a software manual, and the other way round. From how much of the keywords the best passage covers and how near
the best window is, a logistic regression tells the two apart; those that cannot be answered count for a fifth of all.
"""

import random
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks import training_sets
from benchmarks.datasets import Dataset
from benchmarks.ours import Searcher
from benchmarks.train_reranker import COMPLETE, COVERED, Recorder
from shirube.models.ranker.features import NAMES
from shirube.models.ranker.reranker import kind_of

QUERIES = 700
PASSAGES = 9000
SHOWN = 10
# One in five cannot be answered, as where the re-ranker's own scores are fitted.
UNANSWERABLE = 0.25
STEPS = 60
SHRINK = 0.01

Array = npt.NDArray[np.float64]


def main() -> None:
    sets = {
        "captions": training_sets.captions(),
        "headings": training_sets.headings(),
        "paraphrases": training_sets.paraphrases(),
    }
    questions = training_sets.questions()
    asked: dict[str, Mapping[str, str]] = {name: data.queries for name, data in sets.items()}
    asked["questions"] = {name: text for name, text in questions.queries.items() if name.startswith("k-")}
    lists = [each for name, data in sets.items() for each in _lists(name, data, asked)]
    own = np.array([is_own for is_own, _, _ in lists])
    weights = np.where(own, 1.0, UNANSWERABLE * own.sum() / (~own).sum())
    covered, near = np.array([(covered, near) for _, covered, near in lists]).T
    constant = np.ones(len(own))
    print(f"{own.sum():,} lists with an answer, {(~own).sum():,} without")
    print(
        "covered, near, constant:",
        np.round(_logistic(np.array([covered, near, constant]).T, own, weights), 2),
    )
    print("without vectors:", np.round(_logistic(np.array([covered, constant]).T, own, weights), 2))


def _lists(
    home: str, data: Dataset, asked: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[bool, float, float]]:
    """Whether a list holds an answer, how much of the keywords its best passage covers, how near its best window is."""
    columns = [NAMES.index(name) for name in ("best_covered", "best_window")]
    recorder = Recorder()
    corpus = data.corpus[:PASSAGES]
    held = {passage.id for passage in corpus}
    with tempfile.TemporaryDirectory() as folder:
        searcher = Searcher(Path(folder), corpus)
        for source, queries in asked.items():
            names = [name for name in queries if source != home or held & data.qrels[name].keys()]
            random.Random(5).shuffle(names)
            for name in names[:QUERIES]:
                results = searcher.rank(queries[name], reranker=recorder).results
                table = recorder.table
                if not results or kind_of(table) != "keywords":
                    continue
                best = searcher.search(queries[name], SHOWN)
                found = table[:, COVERED].max() > COMPLETE or (
                    source == home and any(each in data.qrels[name] for each in best)
                )
                if found == (source == home):
                    covered, near = table[0, columns].tolist()
                    yield found, covered, near
        searcher.close()
    print(f"{home}: asked", flush=True)


def _logistic(table: Array, right: npt.NDArray[np.bool_], weights: Array) -> Array:
    found = np.zeros(table.shape[1])
    for _ in range(STEPS):
        guess = 1 / (1 + np.exp(-table @ found))
        bend = (table * (weights * guess * (1 - guess))[:, None]).T @ table + SHRINK * np.eye(len(found))
        found -= np.linalg.solve(bend, table.T @ (weights * (guess - right)) + SHRINK * found)
    return found


if __name__ == "__main__":
    main()
