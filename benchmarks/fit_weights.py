"""Finds how much each field counts in full text: the weights that `toolsets/knowledge/feed.py` has.

    python -m benchmarks.fit_weights

From the words of the text, which count 1, one weight after the other is tried at each step of a ladder while the others
stay, and the best is kept, until nothing gets better. What is made as high as possible is nDCG@10 of full text alone,
the mean over the training sets that ask in the language of their passages, each as much as the next.
"""

import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from benchmarks.datasets import Dataset
from benchmarks.measures import ndcg
from benchmarks.ours import Searcher
from benchmarks.training_sets import training_sets
from shirube.evaluate.datasets import with_queries
from shirube.index.contract import Weight
from shirube.query.filters import Filters
from shirube.text.questions import subject

QUERIES = 400
LADDER = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
# Translations share few words with what they translate: full text cannot learn from them.
FOREIGN = ("into_english", "into_japanese")
Weights = tuple[float, float, float]
FIELDS = ("words of the title", "pairs of the title", "pairs of the text")


def main() -> None:
    sets = {
        name: with_queries(data, QUERIES) for name, data in training_sets().items() if name not in FOREIGN
    }
    with ExitStack() as folders:
        searchers = {
            name: Searcher(
                Path(folders.enter_context(tempfile.TemporaryDirectory())), data.corpus, vectors=False
            )
            for name, data in sets.items()
        }
        best, means = (1.0, 0.0, 1.0), dict[Weights, float]()
        while True:
            before = best
            for at in range(len(best)):
                for step in LADDER:
                    tried = _with(best, at, step)
                    if tried not in means:
                        means[tried] = _mean(searchers, sets, tried)
                best = max(means, key=lambda each: (means[each], -sum(each)))
            if best == before:
                break
        for searcher in searchers.values():
            searcher.close()
    for weights, mean in sorted(means.items(), key=lambda each: -each[1]):
        print(f"{mean:.4f}", *(f"{name} {weight:g}," for name, weight in zip(FIELDS, weights, strict=True)))


def _with(weights: Weights, at: int, step: float) -> Weights:
    first, second, third = (step if place == at else weight for place, weight in enumerate(weights))
    return first, second, third


def _mean(searchers: Mapping[str, Searcher], sets: Mapping[str, Dataset], weights: Weights) -> float:
    title, pairs_of_title, pairs = weights
    fields = {"title": Weight(title, pairs_of_title), "body": Weight(1.0, pairs)}
    figures = []
    for name, data in sets.items():
        searcher = searchers[name]
        rankings = {}
        for query, text in data.queries.items():
            hits = searcher.space.search(subject(text), fields, Filters(), 10)
            rankings[query] = [searcher.ids[hit.key] for hit in hits]
        figures.append(ndcg(rankings, data.qrels))
    print(weights, *(f"{name} {each:.4f}" for name, each in zip(sets, figures, strict=True)), flush=True)
    return sum(figures) / len(figures)


if __name__ == "__main__":
    main()
