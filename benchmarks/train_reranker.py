"""Trains the re-ranker and its calibration; writes reranker.npz and its figures in src/shirube/models/trained/.

    python -m benchmarks.train_reranker

Every query of the training sets goes through the pipeline as it is; what the re-ranker would be shown is turned into
features. There is a network for each kind of query. It learns to put the right passages of a list above the others
(softmax over the list) and a little to tell right from wrong by itself (logistic). Every fifth list comes without its
vectors: there are bases without them. Each seventh query is kept back: the figures and the calibration come from those,
a quarter of them with the right passages taken away, as questions that cannot be answered. The same data give the same
weights. No set that judges is used (see `training_sets`).
"""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from benchmarks.datasets import Dataset
from benchmarks.ours import Searcher
from benchmarks.training_sets import training_sets
from shirube.evaluate.calibration import logistic
from shirube.models.contract import Candidates, Question, Scores
from shirube.models.ranker.features import NAMES, OF_VECTORS, features
from shirube.models.ranker.network import Network
from shirube.models.ranker.reranker import KINDS, Kind, kind_of
from shirube.retrieval.calibration import gaps

FOLDER = Path(__file__).parents[1] / "src/shirube/models/trained"
NEGATIVES = 60
BATCH = 64
SHRINK = 1e-5
ALONE = 0.1
KEPT_BACK = 7
COVERED = NAMES.index("covered_by_both")
COMPLETE = 0.999


@dataclass(frozen=True)
class Plan:
    """What the network of a kind of query learns from (sets and how much a query of each counts) and looks at.

    Without `hidden` units it is linear. `rising` means that no feature may count against a passage. Several networks
    from different starts are averaged.
    """

    sets: Mapping[str, float]
    names: Sequence[str]
    every: bool = False
    hidden: int = 0
    starts: int = 1
    epochs: int = 8
    rate: float = 0.02
    rising: bool = False


# What is the same for all candidates of a list tells the kind of query, which the choice of the network knows already.
OF_LIST = (
    "question",
    "words",
    "rarity",
    "best_covered",
    "best_title",
    "best_window",
    "window_lead",
    "matched",
    "foreign",
)
# A manual's page is as long as it is; keywords look for any of them.
OF_LENGTH = ("length", "bm25_unnormed", "bm25_normed", "pairs_unnormed", "pairs_normed", "pairs_of_few")
PLANS: Mapping[Kind, Plan] = {
    "question": Plan(
        {"questions": 1.0, "paraphrases": 0.3, "captions": 0.2},
        [name for name in NAMES if name not in ("words", "rarity") and not name.endswith("_alone")],
        every=True,
        hidden=32,
        starts=4,
        rate=0.01,
    ),
    "statement": Plan(
        {"questions": 1.0, "summaries": 0.5, "sentences": 0.3},
        [name for name in NAMES if name not in OF_LIST and not name.endswith("_alone")],
        every=True,
        epochs=12,
    ),
    "keywords": Plan(
        {"questions": 0.3, "captions": 1.0, "entries": 1.0, "headings": 1.0, "paraphrases": 1.0},
        [name for name in NAMES if name not in (*OF_LIST, *OF_LENGTH)],
    ),
    "foreign": Plan(
        {"into_english": 1.0, "into_japanese": 1.0}, ("window", "whole", "title"), every=True, rising=True
    ),
}

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class List:
    """One query's candidates: their features, which of them are right, and how much the query counts."""

    table: Array
    right: npt.NDArray[np.bool_]
    weight: float = 1.0

    @property
    def fitting(self) -> npt.NDArray[np.bool_]:
        """Which candidates deserve a good score: who asks for keywords is served by whatever holds them all."""
        if len(self.right) and kind_of(self.table) == "keywords":
            return self.right | (self.table[:, COVERED] > COMPLETE)
        return self.right


class Recorder:
    """A re-ranker that keeps what it is shown."""

    name = "recorder"
    setting = "recorder"

    def __init__(self) -> None:
        self.table = np.zeros((0, len(NAMES)))

    def scores(self, question: Question, candidates: Candidates) -> Scores:
        self.table = features(question, candidates)
        return np.linspace(1, 0, len(candidates))


def main() -> None:
    lists = {name: _sometimes_blind(_lists(data)) for name, data in training_sets().items()}
    train = {name: [each for at, each in enumerate(held) if at % KEPT_BACK] for name, held in lists.items()}
    kept = {name: held[::KEPT_BACK] for name, held in lists.items()}
    with threadpool_limits(1, "blas"):
        usual = _usual(train)
        networks = {kind: _planned(kind, plan, train, kept, usual) for kind, plan in PLANS.items()}
        # A keyword may be found in many passages, all of them right: there standing out is worth nothing.
        asked = [
            each
            for held in kept.values()
            for each in held
            if len(each.right) and kind_of(each.table) != "keywords"
        ]
        calibration = _fitted([_judged(networks, each) for each in asked], asked, with_gaps=True)
    parts = {f"{kind}-{part}": getattr(networks[kind], part) for kind in KINDS for part in Network.PARTS}
    np.savez(FOLDER / "reranker.npz", names=np.array(NAMES), calibration=calibration, **parts)
    figures = {name: _figures(networks, held) for name, held in kept.items()}
    (FOLDER / "reranker.json").write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures, indent=1), calibration)


def _planned(
    kind: Kind,
    plan: Plan,
    train: Mapping[str, Sequence[List]],
    kept: Mapping[str, Sequence[List]],
    usual: tuple[Array, Array],
) -> Network:
    """The network of a kind of query, its logits made comparable with those of the others."""

    def chosen(sets: Mapping[str, Sequence[List]]) -> list[List]:
        return [
            replace(each, weight=weight)
            for name, weight in plan.sets.items()
            for each in sets[name]
            if len(each.right) and (plan.every or kind_of(each.table) == kind)
        ]

    lists = [each for each in chosen(train) if each.right.any()]
    network = _averaged([_trained(plan, lists, usual, seed) for seed in range(plan.starts)])
    held = chosen(kept)
    score, _, bias = _fitted([network(each.table) for each in held], held, with_gaps=False)
    return replace(
        network, linear=network.linear * score, out=network.out * score, bias=network.bias * score + bias
    )


def _usual(train: Mapping[str, Sequence[List]]) -> tuple[Array, Array]:
    """Mean and spread of every feature, the same for all networks."""
    shown = [_cut(each).table for held in train.values() for each in held[::3] if len(each.right)]
    everything = np.concatenate(shown)
    return np.nanmean(everything, axis=0), np.nanstd(everything, axis=0) + 1e-6


def _judged(networks: Mapping[Kind, Network], each: List) -> Array:
    return networks[kind_of(each.table)](each.table) if len(each.right) else np.zeros(0)


def _averaged(networks: Sequence[Network]) -> Network:
    """One network that gives the mean of several: their hidden units side by side."""
    count = len(networks)
    return Network(
        networks[0].mean,
        networks[0].scale,
        np.mean([each.linear for each in networks], axis=0),
        np.concatenate([each.hidden for each in networks], axis=1),
        np.concatenate([each.hidden_bias for each in networks]),
        np.concatenate([each.out for each in networks]) / count,
        np.mean([each.bias for each in networks], axis=0),
    )


def _sometimes_blind(lists: Sequence[List]) -> list[List]:
    """Every fifth list without what the vectors say, but for lists that nothing else could order."""
    columns = [NAMES.index(name) for name in (*OF_VECTORS, "whole_alone", "window_alone", "title_alone")]
    blind = []
    for at, each in enumerate(lists):
        table = each.table.copy()
        if at % 5 == 4 and len(table) and kind_of(table) != "foreign":
            table[:, columns] = np.nan
        blind.append(replace(each, table=table))
    return blind


def _lists(data: Dataset) -> list[List]:
    recorder = Recorder()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        searcher = Searcher(Path(folder), data.corpus)
        for name, text in data.queries.items():
            results = searcher.rank(text, reranker=recorder).results
            right = np.array([searcher.ids[each.key] in data.qrels[name] for each in results], bool)
            found.append(List(recorder.table[: len(right)].copy(), right))
        searcher.close()
    print(f"{data.name}: {len(found)} queries", flush=True)
    return found


def _trained(plan: Plan, lists: Sequence[List], usual: tuple[Array, Array], seed: int) -> Network:
    """Adam over batches of lists, each with its right candidates and the first wrong ones."""
    chance = np.random.default_rng(seed)
    cut = [_cut(each) for each in lists]
    size = len(NAMES)
    seen = np.array([name in plan.names for name in NAMES], float)
    network = Network(
        mean=usual[0],
        scale=usual[1],
        linear=np.zeros(size),
        hidden=chance.standard_normal((size, plan.hidden)) / np.sqrt(size) * seen[:, None],
        hidden_bias=np.zeros(plan.hidden),
        out=chance.standard_normal(plan.hidden) / np.sqrt(max(plan.hidden, 1)) * 0.1,
        bias=np.full(1, -3.0),
    )
    inputs = [network.normalised(each.table) * seen for each in cut]
    learned = ("linear", "hidden", "hidden_bias", "out", "bias")
    mean = {name: np.zeros_like(getattr(network, name)) for name in learned}
    square = {name: np.zeros_like(getattr(network, name)) for name in learned}
    steps = plan.epochs * (len(cut) // BATCH)
    order: npt.NDArray[np.int64] = np.zeros(0, np.int64)
    for step in range(1, steps + 1):
        if len(order) < BATCH:
            order = chance.permutation(len(cut))
        chosen, order = order[:BATCH], order[BATCH:]
        gradient = _gradient(network, [inputs[at] for at in chosen], [cut[at] for at in chosen])
        rate = plan.rate * 0.5 * (1 + np.cos(np.pi * step / steps))
        for name in learned:
            slope = gradient[name] + SHRINK * getattr(network, name)
            mean[name] = 0.9 * mean[name] + 0.1 * slope
            square[name] = 0.999 * square[name] + 0.001 * slope**2
            change = mean[name] / (1 - 0.9**step) / (np.sqrt(square[name] / (1 - 0.999**step)) + 1e-8)
            setattr(network, name, getattr(network, name) - rate * change)
        if plan.rising:
            network.linear = np.maximum(network.linear, 0)
    # Features that were not looked at must not count now either.
    return replace(network, linear=network.linear * seen, hidden=network.hidden * seen[:, None])


def _cut(each: List) -> List:
    rows = np.concatenate([np.flatnonzero(each.right), np.flatnonzero(~each.right)[:NEGATIVES]])
    return List(each.table[rows], each.right[rows], each.weight)


def _gradient(network: Network, inputs: Sequence[Array], lists: Sequence[List]) -> dict[str, Array]:
    table = np.concatenate(inputs)
    lengths = [len(each.right) for each in lists]
    first = (np.cumsum(lengths) - lengths).astype(np.int64)
    right = np.concatenate([each.right for each in lists]).astype(float)
    weight = np.repeat([each.weight / len(lists) for each in lists], lengths)
    logits, inner = network.judged(table)

    def over_list(values: Array) -> Array:
        return np.asarray(np.repeat(np.add.reduceat(values, first), lengths))

    highest = np.repeat(np.maximum.reduceat(logits, first), lengths)
    chance = np.exp(logits - highest)
    chance /= over_list(chance)
    alone = 1 / (1 + np.exp(-logits))
    error = weight * ((chance - right / over_list(right)) + ALONE * (alone - right))
    back = np.outer(error, network.out) * (1 - inner**2)
    return {
        "linear": table.T @ error,
        "hidden": table.T @ back,
        "hidden_bias": back.sum(0),
        "out": inner.T @ error,
        "bias": error.sum(keepdims=True),
    }


def _fitted(logits: Sequence[Array], lists: Sequence[List], *, with_gaps: bool) -> Array:
    """Weights of score, gap and bias for the chance of being right.

    Of the best ten of each list; every fourth list has lost its right passages.
    """
    rows, labels, weights = [], [], []
    for at, (given, each) in enumerate(zip(logits, lists, strict=True)):
        kept = ~each.fitting if at % 4 == 1 else np.ones(len(each.right), bool)
        best = np.argsort(-given[kept], kind="stable")[:10]
        odds = given[kept][best]
        if len(odds):
            gap = gaps(odds) if with_gaps else np.zeros(len(odds))
            rows.append(np.column_stack([odds, gap, np.ones(len(odds))]))
            labels.append(each.fitting[kept][best])
            weights.append(np.full(len(odds), each.weight))
    return logistic(np.concatenate(rows), np.concatenate(labels), np.concatenate(weights))


def _figures(networks: Mapping[Kind, Network], lists: Sequence[List]) -> Mapping[str, float]:
    first, gain = [], []
    for each in lists:
        ranked = each.right[np.argsort(-_judged(networks, each), kind="stable")][:10]
        first.append(bool(len(ranked) and ranked[0]))
        gain.append(max((1 / (at + 1) for at in np.flatnonzero(ranked)), default=0.0))
    return {
        "queries": len(lists),
        "hit@1": round(float(np.mean(first)), 4),
        "MRR@10": round(float(np.mean(gain)), 4),
    }


if __name__ == "__main__":
    main()
