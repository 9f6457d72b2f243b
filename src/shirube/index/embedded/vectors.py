"""Vectors as int8 rows, memory-mapped: an exact scan with SIMD for small or filtered sets, USearch's graph for large.

An entry has a vector of its whole text, one of each window of it, and one of its title, which entries share. Each save
is a new generation, put in place by replacing one small file; readers keep the one they have open. A generation holds
the vectors of one model only.
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

from shirube.index.contract import Embedded, Entry, Hit, Layout, Similarity, Vectors
from shirube.index.embedded.files import replace_text
from shirube.query.filters import Condition, Filters, matches
from shirube.query.values import Period

log = logging.getLogger(__name__)

# Below this (entries and windows together) an exact scan costs some milliseconds and is the same whatever the order of
# insertion; above it the graph of whole texts proposes so many times the limit, and their windows decide.
EXACT_ROWS = 300_000
_PROPOSED = 2
# How much the whole text and the title count beside the best window.
_WHOLE, _TITLE = 0.5, 0.5
_MANIFEST = "vectors.json"
_FULL_SCALE = 127


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

    def taken(self, at: "npt.NDArray[np.int64] | npt.NDArray[np.bool_]") -> "Matrix":
        return Matrix(self.rows[at], self.lengths[at])

    def joined(self, other: "Matrix") -> "Matrix":
        return Matrix(np.concatenate([self.rows, other.rows]), np.concatenate([self.lengths, other.lengths]))

    def cosines(self, query: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
        """To one query, or a row for each of several."""
        from numkong import cdist

        queries = np.atleast_2d(query)
        if not len(self):
            return np.empty((*query.shape[:-1], 0))
        found = np.asarray(cdist(queries, self.rows, "dot"), np.float64)
        found *= self._scale
        found *= _inverse(np.linalg.norm(queries.astype(np.float64), axis=1))[:, None]
        return found.reshape(*query.shape[:-1], len(self))

    @cached_property
    def _scale(self) -> npt.NDArray[np.float64]:
        return _inverse(self.lengths.astype(np.float64))


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

    def similarity(self, query: npt.NDArray[np.int8], at: npt.NDArray[np.int64] | None = None) -> Similarity:
        """The cosines to the rows `at`, or to all."""
        if at is None:
            whole, windows, begins = self.whole.cosines(query), self.windows, self.starts
            codes = self.title_codes
        else:
            whole = self.whole.taken(at).cosines(query)
            wanted, begins = self.windows_of(at)
            windows, codes = self.windows.taken(wanted), self.title_codes[at]
        best = whole.copy()
        if len(windows):
            has = np.flatnonzero(begins[1:] > begins[:-1])
            best[has] = np.maximum.reduceat(windows.cosines(query), begins[has])
        title = np.full(len(whole), np.nan)
        if len(self.titles):
            titled = codes >= 0
            if at is None:
                title[titled] = self.titles.cosines(query)[codes[titled]]
            else:
                title[titled] = self.titles.taken(codes[titled]).cosines(query)
        return Similarity(whole, best, title)

    def best_windows(
        self, queries: npt.NDArray[np.int8], at: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """A row for each query: its cosine to the best window of the rows `at`."""
        best = self.whole.taken(at).cosines(queries)
        wanted, begins = self.windows_of(at)
        if len(wanted):
            has = np.flatnonzero(begins[1:] > begins[:-1])
            best[:, has] = np.maximum.reduceat(
                self.windows.taken(wanted).cosines(queries), begins[has], axis=1
            )
        return best


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

    def proposed(
        self, query: npt.NDArray[np.int8], passing: npt.NDArray[np.bool_] | None, count: int
    ) -> npt.NDArray[np.int64]:
        """Rows whose whole text is near, by the graph or, where it cannot be asked, by a scan."""
        if self.graph is not None and passing is None:
            return np.sort(self.graph.search(query, count).keys.astype(np.int64))
        cosines = self.rows.whole.cosines(query)
        at = np.arange(len(self.rows)) if passing is None else np.flatnonzero(passing)
        return at if len(at) <= count else np.sort(at[np.argpartition(-cosines[at], count)[:count]])

    @cached_property
    def by_key(self) -> npt.NDArray[np.int64]:
        """The rows in the order of their keys."""
        return np.argsort(self.rows.keys, kind="stable")


_EMPTY = Matrix(np.empty((0, 0), np.int8), np.empty(0, np.float32))
_NO_CODES = np.empty(0, np.int64)
_NOTHING = Generation(
    None,
    Rows(np.empty(0, np.uint64), _EMPTY, _EMPTY, np.zeros(1, np.int64), _EMPTY, _NO_CODES, {}, {}),
)


class UsearchSpace:
    """The vectors of one space, as they were when it was opened."""

    def __init__(self, folder: Path, layout: Layout) -> None:
        self.folder = folder
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
                generation = _opened(self.folder, text, self._fields)
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
        [query] = quantised(vector[None, :])
        passing = generation.passing(filters) if filters != Filters() else None
        if len(rows) + len(rows.windows) <= EXACT_ROWS:
            at, scores = np.arange(len(rows)), _scores(rows.similarity(query))
            if passing is not None:
                scores = np.where(passing, scores, -np.inf)
        else:
            at = generation.proposed(query, passing, limit * _PROPOSED)
            scores = _scores(rows.similarity(query, at))
        # All that are as good as the last one, or the cut would be an accident of the rows' order.
        last = np.partition(scores, -limit)[-limit] if limit < len(at) else -np.inf
        best = np.flatnonzero((scores >= last) & (scores > -np.inf))
        best = best[np.lexsort((rows.keys[at[best]], -scores[best]))][:limit]
        return list(map(Hit._make, zip(rows.keys[at[best]].tolist(), scores[best].tolist(), strict=True)))

    def similarity(self, vector: Vectors, keys: Sequence[int]) -> Similarity:
        """The cosines to the entries of these keys."""
        at, known = self._places(keys)
        found = Similarity(*(np.full(len(keys), np.nan) for _ in range(3)))
        if len(at):
            [query] = quantised(vector[None, :])
            got = self.rows.similarity(query, at)
            found.whole[known], found.window[known], found.title[known] = got.whole, got.window, got.title
        return found

    def best_windows(self, vectors: Vectors, keys: Sequence[int]) -> npt.NDArray[np.float64]:
        """A row for each vector: its cosine to the best window of each of these entries."""
        at, known = self._places(keys)
        found = np.full((len(vectors), len(keys)), np.nan)
        if len(at):
            found[:, known] = self.rows.best_windows(quantised(vectors), at)
        return found

    def _places(self, keys: Sequence[int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """The rows of those entries that have any, and which of the keys these are."""
        generation = self._generation
        rows, wanted = generation.rows, np.array(keys, np.uint64)
        if not len(rows):
            return np.empty(0, np.int64), np.zeros(len(wanted), bool)
        place = np.searchsorted(rows.keys, wanted, sorter=generation.by_key)
        at = generation.by_key[np.minimum(place, len(rows) - 1)]
        known = rows.keys[at] == wanted
        return at[known], known

    def save(
        self,
        model: str,
        kept: npt.NDArray[np.bool_],
        entries: Sequence[Entry],
        new: Embedded,
        *,
        setting: str = "",
        revision: int | None = None,
    ) -> None:
        """A new generation: the rows marked in `kept` and `entries` with their vectors, all of `model`."""
        if self.model not in (None, model) and kept.any():
            raise ValueError("vectors of two models must not be mixed")
        rows = _joined(self.rows, kept, _coded(entries, new, self._layout))
        number = (
            max((int(each.name.rpartition("-")[2]) for each in self.folder.glob("vectors-*")), default=0) + 1
        )
        self.folder.mkdir(parents=True, exist_ok=True)
        generation = self.folder / f"vectors-{number}"
        _write(generation, rows)
        if len(rows) + len(rows.windows) > EXACT_ROWS:
            _write_graph(generation, rows)
        known = {
            "generation": generation.name,
            "model": model,
            "setting": setting,
            "rows": len(rows),
            "revision": revision,
        }
        replace_text(self.folder / _MANIFEST, json.dumps(known))
        self.reload()
        for old in self.folder.glob("vectors-*"):
            if old != generation:
                shutil.rmtree(old, ignore_errors=True)

    def _read_manifest(self) -> str:
        try:
            return (self.folder / _MANIFEST).read_text(errors="replace")
        except FileNotFoundError:
            return "{}"


def stored_models(folder: Path) -> dict[str, str]:
    """The models that have vectors under `folder`, and the settings that name them."""
    found: dict[str, str] = {}
    for manifest in sorted(folder.glob(f"*/{_MANIFEST}")):
        try:
            known = json.loads(manifest.read_text(errors="replace"))
            found[str(known["model"])] = str(known["setting"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found


def _scores(found: Similarity) -> npt.NDArray[np.float64]:
    """What a window says, and a little of what stands around and above it; within −1 and 1 as a cosine is."""
    body = (found.window + _WHOLE * found.whole) / (1 + _WHOLE)
    titled = (found.window + _WHOLE * found.whole + _TITLE * found.title) / (1 + _WHOLE + _TITLE)
    return np.where(np.isnan(titled), body, titled)


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
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    scaled = np.divide(vectors, largest, out=np.zeros_like(vectors), where=largest > 0) * _FULL_SCALE
    return np.asarray(np.round(scaled), np.int8)


def _coded(entries: Sequence[Entry], vectors: Embedded, layout: Layout) -> Rows:
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
        return _EMPTY, np.full(count, -1)
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


def _joined(old: Rows, kept: npt.NDArray[np.bool_], new: Rows) -> Rows:
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


def _opened(folder: Path, manifest: str, fields: Sequence[str]) -> Generation:
    """The generation that the manifest names; raises whatever its damage raises."""
    known = json.loads(manifest)
    if not known:
        return _NOTHING
    generation = folder / known["generation"]
    rows = _read(generation)
    if not len(rows.keys) == len(rows.whole) == len(rows.title_codes) == known["rows"]:
        raise ValueError("rows are missing")
    if len(rows.starts) != len(rows) + 1 or rows.starts[-1] != len(rows.windows):
        raise ValueError("windows are missing")
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
    rows = np.load(generation / f"{name}.npy", mmap_mode="r")
    lengths = np.load(generation / f"{name}-lengths.npy")
    if len(rows) != len(lengths):
        raise ValueError("rows are missing")
    return Matrix(rows, lengths)


def _write(generation: Path, rows: Rows) -> None:
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


def _write_graph(generation: Path, rows: Rows) -> None:
    from usearch.index import Index

    graph = Index(ndim=rows.whole.rows.shape[1], metric="cos", dtype="i8")
    graph.add(np.arange(len(rows), dtype=np.uint64), np.asarray(rows.whole.rows))
    graph.save(str(generation / "graph.usearch"))
