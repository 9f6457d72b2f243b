"""Vectors as int8 rows, memory-mapped: an exact scan with SIMD for small or filtered sets, USearch's graph for large.

Each save is a new generation, put in place by replacing one small file; readers keep the one they have open.
A generation holds the vectors of one model only.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shirube.index.contract import Entry, Hit, Layout, Vectors
from shirube.index.embedded.files import replace_text
from shirube.query.filters import Condition, Filters, matches
from shirube.query.values import Period

# Below this an exact scan costs a few milliseconds and is the same whatever the order of insertion.
EXACT_ROWS = 100_000
_MANIFEST = "vectors.json"
_FULL_SCALE = 127


@dataclass(frozen=True)
class Rows:
    """Vectors with the key and the filterable values of each. Values are coded: `values[f][codes[f][row]]`."""

    keys: npt.NDArray[np.uint64]
    matrix: npt.NDArray[np.int8]
    codes: Mapping[str, npt.NDArray[np.int32]]
    values: Mapping[str, Sequence[tuple[Any, ...]]]

    def __len__(self) -> int:
        return len(self.keys)


class UsearchSpace:
    """The vectors of one space, as they were when it was opened."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._graph: Any = None
        self.model: str | None = None
        self.rows = _no_rows()
        self._opened: object = None
        self.reload()

    def reload(self) -> None:
        """See what was saved since, by this process or another."""
        manifest = self._folder / _MANIFEST
        try:
            text = manifest.read_text()
        except FileNotFoundError:
            text = "{}"
        if text == self._opened:
            return
        known = json.loads(text)
        self._opened = text
        self._passing = lru_cache(64)(self._pass)
        self.model = known.get("model")
        self._graph = None
        if not known.get("generation"):
            self.rows = _no_rows()
            return
        generation = self._folder / known["generation"]
        self.rows = _read(generation)
        if (generation / "graph.usearch").exists():
            from usearch.index import Index

            self._graph = Index.restore(str(generation / "graph.usearch"), view=True)

    def keys(self) -> npt.NDArray[np.uint64]:
        return self.rows.keys

    def search(self, vector: Vectors, filters: Filters, limit: int) -> list[Hit]:
        rows = self.rows
        if not len(rows) or limit < 1:
            return []
        query = quantised(vector[None, :])
        if self._graph is not None and filters == Filters():
            found = self._graph.search(query[0], limit)
            return [
                Hit(int(rows.keys[at]), 1 - float(distance))
                for at, distance in zip(found.keys, found.distances, strict=True)
            ]
        from numkong import cdist

        similarity = 1 - np.asarray(cdist(query, rows.matrix, "angular"), np.float64).ravel()
        if filters != Filters():
            similarity = np.where(self._passing(filters), similarity, -np.inf)
        best = np.argpartition(-similarity, min(limit, len(rows)) - 1)[:limit]
        best = best[np.lexsort((rows.keys[best], -similarity[best]))]
        return [Hit(int(rows.keys[at]), float(similarity[at])) for at in best if similarity[at] > -np.inf]

    def save(
        self, model: str, kept: npt.NDArray[np.bool_], entries: Sequence[Entry], new: Vectors, layout: Layout
    ) -> None:
        """A new generation: the rows marked in `kept` and `entries` with their vectors, all of `model`."""
        if self.model not in (None, model) and kept.any():
            raise ValueError("vectors of two models must not be mixed")
        rows = _joined(self.rows, kept, _coded(entries, new, layout))
        number = (
            max((int(each.name.rpartition("-")[2]) for each in self._folder.glob("vectors-*")), default=0) + 1
        )
        generation = self._folder / f"vectors-{number}"
        _write(generation, rows)
        if len(rows) > EXACT_ROWS:
            _write_graph(generation, rows)
        known = {"generation": generation.name, "model": model, "rows": len(rows)}
        replace_text(self._folder / _MANIFEST, json.dumps(known))
        self.reload()
        for old in self._folder.glob("vectors-*"):
            if old != generation:
                shutil.rmtree(old, ignore_errors=True)

    def _pass(self, filters: Filters) -> npt.NDArray[np.bool_]:
        passing = np.ones(len(self.rows), bool)
        for condition in filters.all_of:
            passing &= self._meeting(condition)
        if filters.any_of:
            passing &= np.logical_or.reduce([self._meeting(each) for each in filters.any_of])
        for condition in filters.none_of:
            passing &= ~self._meeting(condition)
        return passing

    def _meeting(self, condition: Condition) -> npt.NDArray[np.bool_]:
        """The filter language's own meaning, asked once for each distinct value."""
        dated = any(isinstance(test, Period) for test in condition.tests)
        met = []
        for values in self.rows.values[condition.field]:
            record = [date.fromordinal(value) for value in values] if dated else list(values)
            met.append(matches(Filters(all_of=(condition,)), {condition.field: record}))
        return np.array(met, bool)[self.rows.codes[condition.field]]


def quantised(vectors: Vectors) -> npt.NDArray[np.int8]:
    """Each row scaled so that its largest value is ±127; cosines do not depend on a row's scale."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = np.divide(vectors, largest, out=np.zeros_like(vectors), where=largest > 0) * _FULL_SCALE
    return np.asarray(np.round(scaled), np.int8)


def _no_rows() -> Rows:
    return Rows(np.empty(0, np.uint64), np.empty((0, 0), np.int8), {}, {})


def _coded(entries: Sequence[Entry], vectors: Vectors, layout: Layout) -> Rows:
    codes, values = {}, {}
    for field in (*layout.keywords, *layout.numbers):
        known: dict[tuple[Any, ...], int] = {}
        column = np.empty(len(entries), np.int32)
        for row, entry in enumerate(entries):
            number = entry.numbers.get(field)
            held = tuple(entry.keywords.get(field, ())) if field in layout.keywords else (number,)
            column[row] = known.setdefault(held, len(known))
        codes[field], values[field] = column, list(known)
    keys = np.array([entry.key for entry in entries], np.uint64)
    return Rows(keys, quantised(vectors), codes, values)


def _joined(old: Rows, kept: npt.NDArray[np.bool_], new: Rows) -> Rows:
    """The kept rows of `old` followed by `new`, in one coding."""
    if not kept.any():
        return new
    if not len(new):
        return replace(
            old,
            keys=old.keys[kept],
            matrix=old.matrix[kept],
            codes={field: codes[kept] for field, codes in old.codes.items()},
        )
    codes, values = {}, {}
    for field, before in old.values.items():
        known = {value: code for code, value in enumerate(before)}
        translated = [known.setdefault(value, len(known)) for value in new.values[field]]
        codes[field] = np.concatenate(
            [old.codes[field][kept], np.array(translated, np.int32)[new.codes[field]]]
        )
        values[field] = list(known)
    return Rows(
        np.concatenate([old.keys[kept], new.keys]),
        np.concatenate([old.matrix[kept], new.matrix]),
        codes,
        values,
    )


def _read(generation: Path) -> Rows:
    values = json.loads((generation / "values.json").read_text())
    return Rows(
        np.load(generation / "keys.npy"),
        np.load(generation / "matrix.npy", mmap_mode="r"),
        {field: np.load(generation / f"codes-{at}.npy") for at, field in enumerate(values)},
        {field: [tuple(each) for each in held] for field, held in values.items()},
    )


def _write(generation: Path, rows: Rows) -> None:
    generation.mkdir(parents=True)
    np.save(generation / "keys.npy", rows.keys)
    np.save(generation / "matrix.npy", rows.matrix)
    for at, field in enumerate(rows.values):
        np.save(generation / f"codes-{at}.npy", rows.codes[field])
    values = {field: [list(each) for each in held] for field, held in rows.values.items()}
    (generation / "values.json").write_text(json.dumps(values, ensure_ascii=False))


def _write_graph(generation: Path, rows: Rows) -> None:
    from usearch.index import Index

    graph = Index(ndim=rows.matrix.shape[1], metric="cos", dtype="i8")
    graph.add(np.arange(len(rows), dtype=np.uint64), np.asarray(rows.matrix))
    graph.save(str(generation / "graph.usearch"))
