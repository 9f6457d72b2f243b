"""The forward pass of Google's Universal Sentence Encoder, multilingual v3: tokens to vectors, in numpy.

A token's embedding goes through three branches of two convolutions each (over 2, 3 and 5 tokens); the features of a
text's tokens are normalised, summed, projected and sent through a small residual network. Three things make it fast:

- What depends on a token alone (its projection, its part in the first convolutions) is computed once for all its
  places in a batch.
- Texts lie one after the other with empty places between them, so a convolution is one matrix product.
- Tokens are summed before anything that depends on the whole: the vectors of a text's windows cost next to nothing
  beside that of the text.

A row of a matrix product may come out different in its last bit at another place of the matrix: kernels take some rows
at a time and treat them differently. So that a text has the same vector whatever it is embedded with, every row is put
on a *seat* (its place modulo the rows a kernel takes) that depends on what it stands for alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from shirube.models.contract import Matrix

# Tokens of a convolution, and how many of them stand before the token itself.
_ORDERS = ((2, 0), (3, 1), (5, 2))
_WIDTH = 256
_EMBEDDING = 512
_FEATURES = _EMBEDDING + len(_ORDERS) * _WIDTH
# Empty places before, between and after texts: as far as a convolution looks.
_GAP = 2
# The embeddings are kept as bytes in so many chunks, each with a scale of its own.
_CHUNKS = 17
_TOKENS = 1024
# A common multiple of the rows that matrix kernels take at a time.
_SEATS = 24

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Known:
    """What a batch's distinct tokens bring with them, row by row; the last row is the empty place."""

    embedding: Matrix
    total: npt.NDArray[np.float32]
    squares: npt.NDArray[np.float32]
    projection: Matrix
    first: list[Matrix]

    @property
    def empty(self) -> int:
        return len(self.total) - 1


class UseEncoder:
    def __init__(self, weights: Path) -> None:
        with np.load(weights, allow_pickle=False) as stored:
            chunks = [stored[f"q{number + 1}"] for number in range(_CHUNKS)]
            self._w: dict[str, Any] = {
                name: stored[name] for name in stored.files if not name.startswith("q")
            }
        self._table = np.empty((_CHUNKS * len(chunks[0]), _EMBEDDING), np.uint8)
        for number, chunk in enumerate(chunks):
            self._table[number::_CHUNKS] = chunk
        orders = [n for n, _ in _ORDERS]
        self._eps = np.float32(self._w["eps"])
        self._projection = np.concatenate([self._w[f"proj{n}"] for n in orders], axis=1)
        self._projection_bias = np.concatenate([self._w[f"proj_b{n}"] for n in orders])
        self._gain = np.concatenate([self._w[f"ln_g{n}"] for n in orders])
        self._shift = np.concatenate([self._w[f"ln_b{n}"] for n in orders])
        # A token's part in the first convolution, for each place it may have in it, side by side.
        self._first = [
            np.concatenate(list(self._w[f"w1_{n}"].reshape(n, _WIDTH, _WIDTH)), axis=1) for n in orders
        ]

    def encode(
        self, texts: Sequence[Sequence[Sequence[int]]], adapter: Matrix, *, seated: bool = True
    ) -> tuple[Matrix, Matrix]:
        """Texts as the tokens of their windows, none empty: the vectors of the texts, and of all windows in order.

        `adapter` is a linear map that the vectors go through at the end.
        Without `seated` a single short text is faster, but it may differ in its last bits from the same among others.
        """
        seats = _SEATS if seated else 1
        flat = np.fromiter((token for text in texts for window in text for token in window), np.int64)
        distinct, inverse = np.unique(flat, return_inverse=True)
        rows = _seated(distinct, seats)
        known = self._look_up(distinct, rows, seats)
        places = rows[inverse]
        sums, lengths = [], []
        start = 0
        for group in _groups(texts):
            line, windows, start = _laid_out(group, places, start, known.empty, seats)
            sums.append(self._sums(known, line, windows))
            lengths += [end - begin for begin, end in windows]
        total, size = np.concatenate(sums), np.array(lengths, np.float32)
        names = np.add.reduceat(flat, np.concatenate([[0], np.cumsum(lengths)[:-1]]))
        if len(total) > len(texts):
            firsts = np.concatenate([[0], np.cumsum([len(text) for text in texts])[:-1]])
            total, size, names = (
                np.concatenate([np.add.reduceat(each, firsts, axis=0), each]) for each in (total, size, names)
            )
        vectors = self._head(total, size, _seated(names, seats), seats, adapter)
        return vectors[: len(texts)], vectors[-len(lengths) :]

    def _look_up(self, distinct: Ids, rows: Ids, seats: int) -> _Known:
        chunk = distinct % _CHUNKS
        embedding = np.zeros((_height(rows, seats) + seats, _EMBEDDING), np.float32)
        embedding[rows] = self._table[distinct] * self._w["scale"][chunk, None] + self._w["lo"][chunk, None]
        projection = embedding @ self._projection
        projection += self._projection_bias
        _normalise(projection, self._gain, self._shift, self._eps)
        projection[-1] = 0
        first = [
            np.ascontiguousarray(projection[:, at : at + _WIDTH]) @ weights
            for at, weights in zip(range(0, projection.shape[1], _WIDTH), self._first, strict=True)
        ]
        squares = np.einsum("ij,ij->i", embedding, embedding)
        return _Known(embedding, embedding.sum(1), squares, projection, first)

    def _sums(self, known: _Known, line: Ids, windows: Sequence[tuple[int, int]]) -> Matrix:
        """The normalised features of each window's tokens, summed."""
        count = len(line) - 2 * _GAP
        inner = line[_GAP:-_GAP]
        taken = (inner != known.empty).astype(np.float32)
        features = np.empty((count, len(_ORDERS) * _WIDTH), np.float32)
        for number, (size, before) in enumerate(_ORDERS):
            columns = slice(number * _WIDTH, (number + 1) * _WIDTH)
            padded = np.zeros((len(line), _WIDTH), np.float32)
            hidden = padded[_GAP:-_GAP]
            for place in range(size):
                shifted = line[_GAP - before + place :][:count]
                hidden += known.first[number][shifted, place * _WIDTH : (place + 1) * _WIDTH]
            hidden += self._w[f"b1_{size}"]
            np.maximum(hidden, 0, out=hidden)
            hidden += known.projection[inner, columns]
            hidden *= taken[:, None]
            step = padded.itemsize
            seen = as_strided(padded[_GAP - before :], (count, size * _WIDTH), (_WIDTH * step, step))
            second = np.ascontiguousarray(seen) @ self._w[f"w2_{size}"]
            second += self._w[f"b2_{size}"]
            np.maximum(second, 0, out=second)
            np.add(second, hidden, out=features[:, columns])
        mean = (features.sum(1) + known.total[inner]) / _FEATURES
        square = (np.einsum("ij,ij->i", features, features) + known.squares[inner]) / _FEATURES
        scale = taken / np.sqrt(square - mean * mean + self._eps)
        features *= scale[:, None]
        embedding = known.embedding[inner] * scale[:, None]
        centre = mean * scale
        sums = np.empty((len(windows), _FEATURES), np.float32)
        for row, (start, end) in enumerate(windows):
            part = slice(start, end)
            sums[row, :_EMBEDDING] = embedding[part].sum(0)
            sums[row, _EMBEDDING:] = features[part].sum(0)
            sums[row] -= np.add.reduce(centre[part])
        sums *= self._w["ln_g"]
        sums += np.array([[end - start] for start, end in windows], np.float32) * self._w["ln_b"]
        return sums

    def _head(
        self, sums: Matrix, lengths: npt.NDArray[np.float32], rows: Ids, seats: int, adapter: Matrix
    ) -> Matrix:
        seated = np.zeros((_height(rows, seats), _FEATURES), np.float32)
        seated[rows] = sums
        length = np.ones(len(seated), np.float32)
        length[rows] = lengths
        mean = seated @ self._w["cnn_W"]
        mean += length[:, None] * self._w["cnn_b"]
        mean /= np.sqrt(length)[:, None]
        hidden = np.maximum(mean @ self._w["d0"], 0)
        hidden = np.maximum(mean @ self._w["p1"] + hidden @ self._w["d1"], 0)
        rest = np.maximum(hidden @ self._w["d2"], 0)
        vectors = self._unit(np.tanh(hidden @ self._w["p3"] + rest @ self._w["d3"]))
        return self._unit(vectors @ adapter)[rows]

    def _unit(self, vectors: Matrix) -> Matrix:
        vectors /= np.sqrt(np.maximum(np.einsum("ij,ij->i", vectors, vectors), self._eps))[:, None]
        return vectors


def _seated(names: Ids, seats: int) -> Ids:
    """A row for each name, such that the row modulo `seats` depends on the name alone."""
    seat = names % seats
    order = np.argsort(seat, kind="stable")
    ordered = seat[order]
    rank = np.arange(len(names)) - np.searchsorted(ordered, ordered)
    rows = np.empty(len(names), np.int64)
    rows[order] = rank * seats + ordered
    return rows


def _height(rows: Ids, seats: int) -> int:
    """So many rows that none sits in a row of seats that is not full."""
    return (int(rows.max()) // seats + 1) * seats


def _groups(texts: Sequence[Sequence[Sequence[int]]]) -> list[list[Sequence[Sequence[int]]]]:
    """Runs of texts of about `_TOKENS` tokens: enough to feed the matrix kernels, few enough for the caches."""
    groups: list[list[Sequence[Sequence[int]]]] = [[]]
    size = 0
    for text in texts:
        if size > _TOKENS:
            groups.append([])
            size = 0
        groups[-1].append(text)
        size += sum(map(len, text))
    return groups


def _laid_out(
    group: Sequence[Sequence[Sequence[int]]], places: Ids, start: int, empty: int, seats: int
) -> tuple[Ids, list[tuple[int, int]], int]:
    """Texts in a line with gaps between them, where their windows are in it, and where the next group starts.

    Every text begins on the first seat, and the line has full rows of seats.
    """
    parts = [np.full(_GAP, empty)]
    windows = []
    at = 0
    for text in group:
        length = 0
        for window in text:
            windows.append((at + length, at + length + len(window)))
            length += len(window)
        room = length + _GAP + -(length + _GAP) % seats
        parts += [places[start : start + length], np.full(room - length, empty)]
        start += length
        at += room
    return np.concatenate([*parts, np.full(_GAP, empty)]), windows, start


def _normalise(rows: Matrix, gain: Matrix, shift: Matrix, eps: np.float32) -> None:
    rows -= rows.mean(axis=1, keepdims=True)
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows) / rows.shape[1] + eps)[:, None]
    rows *= gain
    rows += shift
