"""Trains the adapters of the default embedder and writes src/shirube/models/trained/adapter.npz.

    python -m benchmarks.train_adapter

Two linear maps, for queries and for passages, from the encoder's 512 dimensions to 256, so that what belongs together
comes closer than what does not: a question and its paragraph (by the best window and half of the whole, as the index
scores them), the caption of an article and the article, a sentence and its paraphrase or translation. Every other
member of a batch counts as wrong. They start as the directions of greatest variance and are held near them. The same
data give the same file. None of the data comes from a set that judges (see `training_sets`).
"""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from benchmarks.datasets import data_folder, load
from benchmarks.training_sets import law_articles
from shirube.ingest.embedding import windows_of
from shirube.models.contract import Matrix
from shirube.models.use import UseEmbedder

TARGET = Path(__file__).parents[1] / "src/shirube/models/trained/adapter.npz"
DIMENSIONS = 256
EPOCHS = 5
BATCH = 384
RATE = 4e-4
TEMPERATURE = 0.05
NEAR = 0.02
WHOLE = 0.5
# How much a batch of each kind counts beside one of questions.
TRANSLATIONS, PARAPHRASES, CAPTIONS = 0.5, 0.3, 0.3
TRANSLATED = 24_000
ARTICLES = 9_000
SAME = 3.5

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Texts:
    """Vectors of texts and of their windows; the windows of text t begin at starts[t]."""

    whole: Matrix
    windows: Matrix
    starts: Rows

    def batch(self, chosen: Rows) -> "Texts":
        ends = np.append(self.starts[1:], len(self.windows))
        counts = ends[chosen] - self.starts[chosen]
        starts = np.cumsum(counts) - counts
        rows = np.repeat(self.starts[chosen] - starts, counts) + np.arange(counts.sum())
        return Texts(self.whole[chosen], self.windows[rows], starts)


class Adapter:
    """The two maps and Adam's memory of their gradients."""

    def __init__(self, sample: Matrix) -> None:
        directions, _, _ = np.linalg.svd((sample.T @ sample).astype(np.float64))
        first = directions[:, :DIMENSIONS].astype(np.float32)
        self.maps = np.stack([first, first])
        self._first = self.maps.copy()
        self._mean = np.zeros_like(self.maps)
        self._square = np.zeros_like(self.maps)
        self._steps = 0

    def step(self, gradient: Matrix, rate: float) -> None:
        self._steps += 1
        gradient = gradient + NEAR * (self.maps - self._first)
        self._mean = 0.9 * self._mean + 0.1 * gradient
        self._square = 0.999 * self._square + 0.001 * gradient**2
        mean = self._mean / (1 - 0.9**self._steps)
        self.maps -= rate * mean / (np.sqrt(self._square / (1 - 0.999**self._steps)) + 1e-8)

    def of_texts(self, queries: Matrix, texts: Texts, same: npt.NDArray[np.bool_] | None = None) -> Matrix:
        """The gradient for a batch in which query i belongs to text i (and to others marked as the same)."""
        asked, asked_length = _unit(queries @ self.maps[0])
        window, window_length = _unit(texts.windows @ self.maps[1])
        whole, whole_length = _unit(texts.whole @ self.maps[1])
        cosines = asked @ window.T
        best = np.maximum.reduceat(cosines, texts.starts, axis=1)
        error = _error(best + WHOLE * (asked @ whole.T), same)
        counts = np.diff(np.append(texts.starts, len(texts.windows)))
        owner = np.repeat(np.arange(len(counts)), counts)
        chosen = np.where(cosines >= best[:, owner], error[:, owner], 0)
        to_query = np.matmul(chosen, window) + WHOLE * np.matmul(error, whole)
        to_window, to_whole = np.matmul(chosen.T, asked), WHOLE * np.matmul(error.T, asked)
        return np.stack(
            [
                queries.T @ _back(to_query, asked, asked_length),
                texts.windows.T @ _back(to_window, window, window_length)
                + texts.whole.T @ _back(to_whole, whole, whole_length),
            ]
        )

    def of_pairs(self, queries: Matrix, texts: Matrix) -> Matrix:
        asked, asked_length = _unit(queries @ self.maps[0])
        answer, answer_length = _unit(texts @ self.maps[1])
        error = _error(asked @ answer.T)
        return np.stack(
            [
                queries.T @ _back(np.matmul(error, answer), asked, asked_length),
                texts.T @ _back(np.matmul(error.T, asked), answer, answer_length),
            ]
        )


def main() -> None:
    embedder = UseEmbedder(adapted=False)
    train = load("jaquad-train")
    places = {passage.id: place for place, passage in enumerate(train.corpus)}
    questions = _vectors(embedder, list(train.queries.values()))
    answers = np.array([places[next(iter(train.qrels[name]))] for name in train.queries])
    paragraphs = _texts(embedder, [passage.text for passage in train.corpus])
    translated = _rows("enja-train")[:TRANSLATED]
    english, japanese = (_vectors(embedder, [row[name] for row in translated]) for name in ("en", "ja"))
    alike = [row for row in _rows("jsts-train") if row["similarity"] >= SAME]
    first, second = (_vectors(embedder, [row[name] for row in alike]) for name in ("a", "b"))
    articles = law_articles()[:ARTICLES]
    captions = _vectors(embedder, [caption for _, caption, _ in articles])
    provisions = _texts(embedder, [text for _, _, text in articles])
    chance = np.random.default_rng(0)
    with threadpool_limits(1, "blas"):
        adapter = Adapter(
            np.concatenate([paragraphs.windows[::5], english[::5], japanese[::5], questions[::5]])
        )
        steps = EPOCHS * (len(questions) // BATCH)
        for step in range(steps):
            if step % (len(questions) // BATCH) == 0:
                order = chance.permutation(len(questions))
            at = step * BATCH % (len(questions) - BATCH)
            chosen = order[at : at + BATCH]
            gold = answers[chosen]
            gradient = adapter.of_texts(questions[chosen], paragraphs.batch(gold), gold[:, None] == gold)
            pair = chance.integers(0, len(english), BATCH)
            gradient += TRANSLATIONS * adapter.of_pairs(english[pair], japanese[pair])
            gradient += TRANSLATIONS * adapter.of_pairs(japanese[pair], english[pair])
            pair = chance.permutation(len(first))[:BATCH]
            gradient += PARAPHRASES * adapter.of_pairs(first[pair], second[pair])
            article = chance.permutation(len(captions))[:BATCH]
            gradient += CAPTIONS * adapter.of_texts(captions[article], provisions.batch(article))
            adapter.step(gradient, RATE * 0.5 * (1 + np.cos(np.pi * step / steps)))
    query, passage = adapter.maps.astype(np.float16)
    np.savez(TARGET, query=query, passage=passage)
    print(f"written: {TARGET.name}")


def _error(scores: Matrix, same: npt.NDArray[np.bool_] | None = None) -> Matrix:
    """The gradient of the softmax loss by the scores; the diagonal is right, others of the `same` text do not count."""
    logits = scores / TEMPERATURE
    if same is not None:
        logits = np.where(same & ~np.eye(len(same), dtype=bool), -np.inf, logits)
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    return np.asarray((chances - np.eye(len(scores))) / (len(scores) * TEMPERATURE), np.float32)


def _unit(rows: Matrix) -> tuple[Matrix, Matrix]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True) + 1e-9
    return rows / lengths, lengths


def _back(gradient: Matrix, unit: Matrix, lengths: Matrix) -> Matrix:
    """From the gradient by a unit vector to that by the vector it was made of."""
    along = (gradient * unit).sum(axis=1, keepdims=True)
    return np.asarray((gradient - along * unit) / lengths, np.float32)


def _vectors(embedder: UseEmbedder, texts: Sequence[str]) -> Matrix:
    with ThreadPoolExecutor(2) as pool:
        return np.concatenate(
            list(pool.map(embedder.embed, [texts[at : at + 512] for at in range(0, len(texts), 512)]))
        )


def _texts(embedder: UseEmbedder, texts: Sequence[str]) -> Texts:
    windows = [windows_of(text) for text in texts]
    with ThreadPoolExecutor(2) as pool:
        parts = list(
            pool.map(embedder.embed_windows, [windows[at : at + 128] for at in range(0, len(texts), 128)])
        )
    counts = np.array([len(each) for each in windows])
    return Texts(
        np.concatenate([whole for whole, _ in parts]),
        np.concatenate([window for _, window in parts]),
        np.cumsum(counts) - counts,
    )


def _rows(name: str) -> list[dict[str, Any]]:
    with (data_folder() / "pairs" / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


if __name__ == "__main__":
    main()
