"""Entries' vectors as int8 rows, with the values they are filtered by, in memory or memory-mapped from files."""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shirube.index.contract import Embedded, Entry, Layout, Similarity, Vectors

_FULL_SCALE = 127
# From so many rows on a comparison is worth a second thread.
_SHARED = 20_000


@dataclass(frozen=True)
class Matrix:
    """Quantised vectors and their lengths."""

    rows: npt.NDArray[np.int8]
    lengths: npt.NDArray[np.float32]

    @classmethod
    def of(cls, vectors: Vectors) -> "Matrix":
        rows = quantised(vectors)
        wide = rows.astype(np.float32)
        return cls(rows, np.sqrt(np.einsum("ij,ij->i", wide, wide)))

    def __len__(self) -> int:
        return len(self.rows)

    def taken(self, at: npt.NDArray[np.int64]) -> "Matrix":
        # `take` needs half the time of an index.
        return Matrix(self.rows.take(at, axis=0), self.lengths.take(at))

    def joined(self, other: "Matrix") -> "Matrix":
        return Matrix(np.concatenate([self.rows, other.rows]), np.concatenate([self.lengths, other.lengths]))

    def cosines(self, queries: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
        """A row for each query."""
        from numkong import dots_pack, dots_packed

        if not len(self):
            return np.empty((len(queries), 0))
        found = np.empty((len(queries), len(self)))
        packed = dots_pack(queries)

        def compare(part: slice) -> None:
            found[:, part] = np.asarray(dots_packed(self.rows[part], packed)).T

        if len(self) < _SHARED:
            compare(slice(None))
        else:
            half = len(self) // 2
            other = _pool().submit(compare, slice(half, None))
            compare(slice(half))
            other.result()
        found *= self._scale
        found *= _inverse(np.linalg.norm(queries.astype(np.float64), axis=1))[:, None]
        return found

    @cached_property
    def _scale(self) -> npt.NDArray[np.float64]:
        return _inverse(self.lengths.astype(np.float64))


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(4, "rows")


def _inverse(lengths: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """1 ÷ length; a row without a direction is near to nothing."""
    return np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0)


@dataclass(frozen=True)
class Rows:
    """Entries with their vectors and filterable values.

    The windows of row r are `windows[starts[r]:starts[r + 1]]`, its title is `titles[title_codes[r]]` (−1: none), and
    its values of field f are `values[f][codes[f][r]]`.
    """

    keys: npt.NDArray[np.uint64]
    whole: Matrix
    windows: Matrix
    starts: npt.NDArray[np.int64]
    titles: Matrix
    title_codes: npt.NDArray[np.int64]
    codes: Mapping[str, npt.NDArray[np.int32]]
    values: Mapping[str, Sequence[tuple[Any, ...]]]

    def __len__(self) -> int:
        return len(self.keys)

    def windows_of(self, at: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The windows of some rows, in order, and where each row's begin among them."""
        counts = self.starts[at + 1] - self.starts[at]
        begins = np.concatenate([[0], np.cumsum(counts)])
        within = np.arange(begins[-1]) - np.repeat(begins[:-1], counts)
        return np.repeat(self.starts[at], counts) + within, begins

    def similarity(
        self, queries: npt.NDArray[np.int8], at: npt.NDArray[np.int64] | None = None
    ) -> Similarity:
        """The cosines of a query (the first of `queries`) and its clauses (the others) to the rows `at`, or to all."""
        if at is None:
            best, windows, begins = self.whole.cosines(queries), self.windows, self.starts
            codes = self.title_codes
        else:
            best = self.whole.taken(at).cosines(queries)
            wanted, begins = self.windows_of(at)
            windows, codes = self.windows.taken(wanted), self.title_codes[at]
        whole = best[0].copy()
        if len(windows):
            has = np.flatnonzero(begins[1:] > begins[:-1])
            best[:, has] = np.maximum.reduceat(windows.cosines(queries), begins[has], axis=1)
        title = np.full(len(whole), np.nan)
        if len(self.titles):
            titled = codes >= 0
            if at is None:
                title[titled] = self.titles.cosines(queries[:1])[0, codes[titled]]
            else:
                title[titled] = self.titles.taken(codes[titled]).cosines(queries[:1])[0]
        return Similarity(whole, best[0], title, best[1:])


NO_VECTORS = Matrix(np.empty((0, 0), np.int8), np.empty(0, np.float32))


def quantised(vectors: Vectors) -> npt.NDArray[np.int8]:
    """Each row scaled so that its largest value is ±127; cosines do not depend on a row's scale."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    scaled = np.divide(vectors, largest, out=np.zeros_like(vectors), where=largest > 0) * _FULL_SCALE
    return np.asarray(np.round(scaled), np.int8)


def coded_rows(entries: Sequence[Entry], vectors: Embedded, layout: Layout) -> Rows:
    codes, values = {}, {}
    for field in (*layout.keywords, *layout.numbers):
        known: dict[tuple[Any, ...], int] = {}
        column = np.empty(len(entries), np.int32)
        for row, entry in enumerate(entries):
            number = entry.numbers.get(field)
            held = tuple(entry.keywords.get(field, ())) if field in layout.keywords else (number,)
            column[row] = known.setdefault(held, len(known))
        codes[field], values[field] = column, list(known)
    titles, title_codes = _distinct(vectors.titles, len(entries))
    return Rows(
        np.array([entry.key for entry in entries], np.uint64),
        Matrix.of(vectors.whole),
        Matrix.of(vectors.windows),
        np.concatenate([[0], np.cumsum(vectors.counts)]),
        titles,
        title_codes,
        codes,
        values,
    )


def _distinct(titles: Vectors | None, count: int) -> tuple[Matrix, npt.NDArray[np.int64]]:
    """Each title once, and which one each row has; a title without a direction is none."""
    if titles is None:
        return NO_VECTORS, np.full(count, -1)
    known: dict[bytes, int] = {}
    first, codes = [], np.full(count, -1)
    for row, quantised_title in enumerate(quantised(titles)):
        if quantised_title.any():
            name = quantised_title.tobytes()
            if name not in known:
                known[name] = len(known)
                first.append(row)
            codes[row] = known[name]
    return Matrix.of(titles[first]), codes


def joined_rows(old: Rows, kept: npt.NDArray[np.bool_], new: Rows) -> Rows:
    """The kept rows of `old` followed by `new`, in one coding."""
    if not kept.any():
        return new
    stay = np.flatnonzero(kept)
    windows, begins = old.windows_of(stay)
    shown, title_codes = np.unique(old.title_codes[stay], return_inverse=True)
    none = int(len(shown) > 0 and shown[0] < 0)
    old = replace(
        old,
        keys=old.keys[stay],
        whole=old.whole.taken(stay),
        windows=old.windows.taken(windows) if len(old.windows) else old.windows,
        starts=begins,
        titles=old.titles.taken(shown[none:]) if len(old.titles) else old.titles,
        title_codes=title_codes - none,
        codes={field: codes[stay] for field, codes in old.codes.items()},
    )
    if not len(new):
        return old
    codes, values = {}, {}
    for field, before in old.values.items():
        known = {value: code for code, value in enumerate(before)}
        translated = [known.setdefault(value, len(known)) for value in new.values[field]]
        codes[field] = np.concatenate([old.codes[field], np.array(translated, np.int32)[new.codes[field]]])
        values[field] = list(known)
    moved = np.where(new.title_codes < 0, -1, new.title_codes + len(old.titles))
    return Rows(
        np.concatenate([old.keys, new.keys]),
        old.whole.joined(new.whole),
        _either(old.windows, new.windows),
        np.concatenate([old.starts, new.starts[1:] + old.starts[-1]]),
        _either(old.titles, new.titles),
        np.concatenate([old.title_codes, moved]),
        codes,
        values,
    )


def _either(first: Matrix, second: Matrix) -> Matrix:
    return first.joined(second) if len(first) and len(second) else first if len(first) else second


def read_rows(generation: Path) -> Rows:
    values = json.loads((generation / "values.json").read_text())
    whole, windows, titles = (_read_matrix(generation, name) for name in ("whole", "windows", "titles"))
    return Rows(
        np.load(generation / "keys.npy"),
        whole,
        windows,
        np.load(generation / "starts.npy"),
        titles,
        np.load(generation / "title_codes.npy"),
        {field: np.load(generation / f"codes-{at}.npy") for at, field in enumerate(values)},
        {field: [tuple(each) for each in held] for field, held in values.items()},
    )


def _read_matrix(generation: Path, name: str) -> Matrix:
    rows = np.asarray(np.load(generation / f"{name}.npy", mmap_mode="r"))
    lengths = np.load(generation / f"{name}-lengths.npy")
    if len(rows) != len(lengths):
        raise ValueError("rows are missing")
    return Matrix(rows, lengths)


def write_rows(generation: Path, rows: Rows) -> None:
    generation.mkdir(parents=True)
    np.save(generation / "keys.npy", rows.keys)
    for name, matrix in (("whole", rows.whole), ("windows", rows.windows), ("titles", rows.titles)):
        np.save(generation / f"{name}.npy", matrix.rows)
        np.save(generation / f"{name}-lengths.npy", matrix.lengths)
    np.save(generation / "starts.npy", rows.starts)
    np.save(generation / "title_codes.npy", rows.title_codes)
    for at, field in enumerate(rows.values):
        np.save(generation / f"codes-{at}.npy", rows.codes[field])
    values = {field: [list(each) for each in held] for field, held in rows.values.items()}
    (generation / "values.json").write_text(json.dumps(values, ensure_ascii=False))
