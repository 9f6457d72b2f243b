"""Vectors as int8 rows, memory-mapped: an exact scan with SIMD for small or filtered sets, USearch's graph for large.

Each save is a new generation, put in place by replacing one small file; readers keep the one they have open.
A generation holds the vectors of one model only.
"""

import json
import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shirube.index.contract import Entry, Hit, Layout, Vectors
from shirube.index.embedded.files import replace_text
from shirube.query.filters import Condition, Filters, matches
from shirube.query.values import Period

log = logging.getLogger(__name__)

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


@dataclass(frozen=True)
class Generation:
    """What one save put in place. It never changes, so that a search sees the same rows from its start to its end."""

    model: str | None
    rows: Rows
    graph: Any = None
    revision: int | None = None
    """The feed's revision of which every entry is here, if that is known."""

    @cached_property
    def passing(self) -> Callable[[Filters], npt.NDArray[np.bool_]]:
        """Which rows pass some filters; the last few are remembered."""
        return lru_cache(64)(partial(_passing, self.rows))


_NOTHING = Generation(None, Rows(np.empty(0, np.uint64), np.empty((0, 0), np.int8), {}, {}))


class UsearchSpace:
    """The vectors of one space, as they were when it was opened."""

    def __init__(self, folder: Path, layout: Layout) -> None:
        self._folder = folder
        self._fields = (*layout.keywords, *layout.numbers)
        self._layout = layout
        self._manifest: str | None = None
        self._generation = _NOTHING
        self.reload()

    def reload(self) -> None:
        """See what was saved since, by this process or another. Damaged ones and another layout's count as missing."""
        text = self._read_manifest()
        while text != self._manifest:
            try:
                generation = _opened(self._folder, text, self._fields)
            except Exception as error:
                newer = self._read_manifest()
                if newer != text:  # another process has just put the next one in place
                    text = newer
                    continue
                log.warning("the vectors cannot be read and have to be made anew: %s", error)
                generation = _NOTHING
            self._manifest, self._generation = text, generation

    @property
    def model(self) -> str | None:
        return self._generation.model

    @property
    def revision(self) -> int | None:
        return self._generation.revision

    @property
    def rows(self) -> Rows:
        return self._generation.rows

    def keys(self) -> npt.NDArray[np.uint64]:
        return self.rows.keys

    def search(self, vector: Vectors, filters: Filters, limit: int) -> list[Hit]:
        generation = self._generation
        rows = generation.rows
        if not len(rows) or limit < 1:
            return []
        query = quantised(vector[None, :])
        if generation.graph is not None and filters == Filters():
            found = generation.graph.search(query[0], limit)
            return [
                Hit(int(rows.keys[at]), 1 - float(distance))
                for at, distance in zip(found.keys, found.distances, strict=True)
            ]
        from numkong import cdist

        similarity = 1 - np.asarray(cdist(query, rows.matrix, "angular"), np.float64).ravel()
        if filters != Filters():
            similarity = np.where(generation.passing(filters), similarity, -np.inf)
        # All that are as good as the last one, or the cut would be an accident of the rows' order.
        last = np.partition(similarity, -limit)[-limit] if limit < len(rows) else -np.inf
        best = np.flatnonzero((similarity >= last) & (similarity > -np.inf))
        best = best[np.lexsort((rows.keys[best], -similarity[best]))][:limit]
        return [Hit(int(rows.keys[at]), float(similarity[at])) for at in best]

    def save(
        self,
        model: str,
        kept: npt.NDArray[np.bool_],
        entries: Sequence[Entry],
        new: Vectors,
        revision: int | None = None,
    ) -> None:
        """A new generation: the rows marked in `kept` and `entries` with their vectors, all of `model`."""
        if self.model not in (None, model) and kept.any():
            raise ValueError("vectors of two models must not be mixed")
        rows = _joined(self.rows, kept, _coded(entries, new, self._layout))
        number = (
            max((int(each.name.rpartition("-")[2]) for each in self._folder.glob("vectors-*")), default=0) + 1
        )
        generation = self._folder / f"vectors-{number}"
        _write(generation, rows)
        if len(rows) > EXACT_ROWS:
            _write_graph(generation, rows)
        known = {"generation": generation.name, "model": model, "rows": len(rows), "revision": revision}
        replace_text(self._folder / _MANIFEST, json.dumps(known))
        self.reload()
        for old in self._folder.glob("vectors-*"):
            if old != generation:
                shutil.rmtree(old, ignore_errors=True)

    def _read_manifest(self) -> str:
        try:
            return (self._folder / _MANIFEST).read_text(errors="replace")
        except FileNotFoundError:
            return "{}"


def _passing(rows: Rows, filters: Filters) -> npt.NDArray[np.bool_]:
    passing = np.ones(len(rows), bool)
    for condition in filters.all_of:
        passing &= _meeting(rows, condition)
    if filters.any_of:
        passing &= np.logical_or.reduce([_meeting(rows, each) for each in filters.any_of])
    for condition in filters.none_of:
        passing &= ~_meeting(rows, condition)
    return passing


def _meeting(rows: Rows, condition: Condition) -> npt.NDArray[np.bool_]:
    """The filter language's own meaning, asked once for each distinct value."""
    dated = any(isinstance(test, Period) for test in condition.tests)
    met = []
    for values in rows.values[condition.field]:
        held = [value for value in values if value is not None]
        record = [date.fromordinal(value) for value in held] if dated else held
        met.append(matches(Filters(all_of=(condition,)), {condition.field: record}))
    return np.array(met, bool)[rows.codes[condition.field]]


def quantised(vectors: Vectors) -> npt.NDArray[np.int8]:
    """Each row scaled so that its largest value is ±127; cosines do not depend on a row's scale."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = np.divide(vectors, largest, out=np.zeros_like(vectors), where=largest > 0) * _FULL_SCALE
    return np.asarray(np.round(scaled), np.int8)


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


def _opened(folder: Path, manifest: str, fields: Sequence[str]) -> Generation:
    """The generation that the manifest names; raises whatever its damage raises."""
    known = json.loads(manifest)
    if not known:
        return _NOTHING
    generation = folder / known["generation"]
    rows = _read(generation)
    if not len(rows.keys) == len(rows.matrix) == known["rows"]:
        raise ValueError("rows are missing")
    if list(rows.values) != list(fields):
        raise ValueError("they were made with other fields")
    return Generation(known["model"], rows, _graph(generation / "graph.usearch"), known.get("revision"))


def _graph(path: Path) -> Any:
    if not path.exists():
        return None
    from usearch.index import Index

    try:
        return Index.restore(str(path), view=True)
    except (RuntimeError, ValueError) as error:
        log.warning("the graph of the vectors cannot be read; they are scanned instead: %s", error)
        return None


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
