"""Vectors as int8 rows, memory-mapped: an exact scan with SIMD for small or filtered sets, USearch's graph for large.

An entry has a vector of its whole text, one of each window of it, and one of its title, which entries share. Each save
is a new generation, put in place by replacing one small file; readers keep the one they have open. A generation holds
the vectors of one model only.
"""

import json
import logging
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shirube.index.contract import Embedded, Entry, Hits, Layout, Similarity, Vectors
from shirube.index.embedded.files import replace_text
from shirube.index.embedded.rows import (
    NO_VECTORS,
    Rows,
    coded_rows,
    joined_rows,
    quantised,
    read_rows,
    write_rows,
)
from shirube.query.filters import Condition, Filters, matches
from shirube.query.values import Period

log = logging.getLogger(__name__)

# Up to so many (entries and windows together) all windows are compared. Above it whole texts propose some times the
# limit, and their windows decide: found by a scan, or beyond the second number, where that takes too long, by a graph.
EXACT_ROWS = 50_000
GRAPH_ROWS = 300_000
_BY_SCAN, _BY_GRAPH = 4, 2
_MANIFEST = "vectors.json"


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
        self, query: npt.NDArray[np.int8], passing: npt.NDArray[np.bool_] | None, limit: int
    ) -> npt.NDArray[np.int64]:
        """Rows whose whole text is near, by the graph or, where there is none or it cannot be asked, by a scan."""
        if self.graph is not None and passing is None:
            return np.sort(self.graph.search(query[0], limit * _BY_GRAPH).keys.astype(np.int64))
        count = limit * _BY_SCAN
        [cosines] = self.rows.whole.cosines(query)
        at = np.arange(len(self.rows)) if passing is None else np.flatnonzero(passing)
        if len(at) <= count:
            return at
        # All that are as near as the last one, or the cut would be an accident of the rows' order.
        near = cosines[at]
        return np.asarray(at[near >= np.partition(near, -count)[-count]], np.int64)

    def places(self, keys: Sequence[int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """The rows of those entries that have any, and which of the keys these are."""
        rows, wanted = self.rows, np.array(keys, np.uint64)
        if not len(rows):
            return np.empty(0, np.int64), np.zeros(len(wanted), bool)
        place = np.searchsorted(rows.keys, wanted, sorter=self._by_key)
        at = self._by_key[np.minimum(place, len(rows) - 1)]
        known = rows.keys[at] == wanted
        return at[known], known

    @cached_property
    def _by_key(self) -> npt.NDArray[np.int64]:
        """The rows in the order of their keys."""
        return np.argsort(self.rows.keys, kind="stable")


_NO_CODES = np.empty(0, np.int64)
_NOTHING = Generation(
    None,
    Rows(
        np.empty(0, np.uint64), NO_VECTORS, NO_VECTORS, np.zeros(1, np.int64), NO_VECTORS, _NO_CODES, {}, {}
    ),
)


class UsearchSpace:
    """The vectors of one space, as they were when it was opened."""

    def __init__(self, folder: Path, layout: Layout) -> None:
        self.folder = folder
        self._layout = layout
        self._manifest: str | None = None
        self._generation = _NOTHING
        self.reload()

    def reload(self) -> None:
        """See what was saved since, by this process or another. Damaged ones and another layout's count as missing."""
        text = self._read_manifest()
        while text != self._manifest:
            try:
                generation = _opened(self.folder, text, self._layout)
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

    def search(self, vector: Vectors, filters: Filters, limit: int) -> Hits:
        generation = self._generation
        rows = generation.rows
        if not len(rows) or limit < 1:
            return Hits()
        query = quantised(vector[None, :])
        passing = generation.passing(filters) if filters != Filters() else None
        if len(rows) + len(rows.windows) <= EXACT_ROWS:
            at, scores = np.arange(len(rows)), rows.similarity(query).score
            if passing is not None:
                scores = np.where(passing, scores, -np.inf)
        else:
            at = generation.proposed(query, passing, limit)
            scores = rows.similarity(query, at).score
        # All that are as good as the last one, or the cut would be an accident of the rows' order.
        last = np.partition(scores, -limit)[-limit] if limit < len(at) else -np.inf
        best = np.flatnonzero((scores >= last) & (scores > -np.inf))
        best = best[np.lexsort((rows.keys[at[best]], -scores[best]))][:limit]
        return Hits(rows.keys[at[best]], scores[best])

    def similarity(self, vectors: Vectors, keys: Sequence[int]) -> Similarity:
        """How near the entries of these keys are to a query: its vector, and after it those of its clauses."""
        generation = self._generation
        at, known = generation.places(keys)
        if known.all() and len(at):
            return generation.rows.similarity(quantised(vectors), at)
        found = Similarity.unknown(len(keys), len(vectors) - 1)
        if len(at):
            got = generation.rows.similarity(quantised(vectors), at)
            found.whole[known], found.window[known], found.title[known] = got.whole, got.window, got.title
            found.clauses[:, known] = got.clauses
        return found

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
        rows = joined_rows(self.rows, kept, coded_rows(entries, new, self._layout))
        number = (
            max((int(each.name.rpartition("-")[2]) for each in self.folder.glob("vectors-*")), default=0) + 1
        )
        self.folder.mkdir(parents=True, exist_ok=True)
        generation = self.folder / f"vectors-{number}"
        write_rows(generation, rows)
        # A graph takes its time: while a base gets its first vectors, a scan has to do.
        graphed = revision is not None or self._generation.graph is not None
        if graphed and len(rows) + len(rows.windows) > GRAPH_ROWS:
            _write_graph(generation, rows)
        known = {
            "generation": generation.name,
            "model": model,
            "setting": setting,
            "rows": len(rows),
            "revision": revision,
            "version": self._layout.version,
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


def _opened(folder: Path, manifest: str, layout: Layout) -> Generation:
    """The generation that the manifest names; raises whatever its damage raises."""
    known = json.loads(manifest)
    if not known:
        return _NOTHING
    generation = folder / known["generation"]
    rows = read_rows(generation)
    if not len(rows.keys) == len(rows.whole) == len(rows.title_codes) == known["rows"]:
        raise ValueError("rows are missing")
    if len(rows.starts) != len(rows) + 1 or rows.starts[-1] != len(rows.windows):
        raise ValueError("windows are missing")
    if list(rows.values) != [*layout.keywords, *layout.numbers] or known.get("version", 1) != layout.version:
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


def _write_graph(generation: Path, rows: Rows) -> None:
    from usearch.index import Index

    graph = Index(ndim=rows.whole.rows.shape[1], metric="cos", dtype="i8")
    graph.add(np.arange(len(rows), dtype=np.uint64), np.asarray(rows.whole.rows))
    graph.save(str(generation / "graph.usearch"))
