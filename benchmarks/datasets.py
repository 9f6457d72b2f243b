"""Sets of questions with known passages, in BEIR layout: corpus.jsonl, queries.jsonl and qrels.tsv in one folder."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

DATA_VARIABLE = "SHIRUBE_DATA"
_BESIDE_THE_REPOSITORY = Path(__file__).resolve().parents[2] / "shared" / "data"

T = TypeVar("T")


class DataNotFound(Exception):
    """The data folder, or a set in it, is not on this machine; the message says what to do."""


@dataclass(frozen=True)
class Passage:
    id: str
    title: str
    text: str

    @property
    def titled_text(self) -> str:
        """What every engine indexes: the title on a line of its own, then the text."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True)
class Dataset:
    name: str
    corpus: tuple[Passage, ...]
    queries: Mapping[str, str]
    qrels: Mapping[str, Mapping[str, int]]


def data_folder() -> Path:
    """`SHIRUBE_DATA` if set, else ../shared/data beside the repository."""
    named = os.environ.get(DATA_VARIABLE)
    folder = Path(named) if named else _BESIDE_THE_REPOSITORY
    if not folder.is_dir():
        raise DataNotFound(f"no benchmark data at {folder}: set {DATA_VARIABLE} to the folder that holds qa/")
    return folder


def load(name: str, folder: Path | None = None) -> Dataset:
    """The set `qa/NAME` of the data folder."""
    place = (folder or data_folder()) / "qa" / name
    if not place.is_dir():
        raise DataNotFound(f"no set named {name} in {place.parent}")
    return load_folder(place)


def load_folder(folder: Path) -> Dataset:
    return Dataset(
        name=folder.name,
        corpus=tuple(read_passages(folder / "corpus.jsonl")),
        queries=read_queries(folder / "queries.jsonl"),
        qrels=_read_qrels(folder / "qrels.tsv"),
    )


def with_distractors(dataset: Dataset, other: Dataset) -> Dataset:
    """The same questions among more passages: those of `other` are added, its questions are not."""
    known = {passage.id: passage for passage in dataset.corpus}
    for passage in other.corpus:
        if known.get(passage.id, passage) != passage:
            raise ValueError(
                f"{dataset.name} and {other.name} give the id {passage.id} to different passages"
            )
    added = tuple(passage for passage in other.corpus if passage.id not in known)
    return replace(dataset, name=f"{dataset.name}+{other.name}", corpus=dataset.corpus + added)


def with_queries(dataset: Dataset, most: int) -> Dataset:
    """At most `most` of the questions, evenly spaced, with their judgements."""
    chosen = evenly_spaced(list(dataset.queries), most)
    return replace(
        dataset,
        queries={query: dataset.queries[query] for query in chosen},
        qrels={query: dataset.qrels[query] for query in chosen if query in dataset.qrels},
    )


def evenly_spaced(items: Sequence[T], most: int) -> list[T]:
    """`most` of the items at equal distances, in order; all of them where there are no more."""
    if most >= len(items):
        return list(items)
    return [items[position * len(items) // most] for position in range(most)]


def read_passages(file: Path) -> Iterator[Passage]:
    for row in _rows(file):
        yield Passage(row["_id"], row.get("title", ""), row["text"])


def read_queries(file: Path) -> dict[str, str]:
    return {row["_id"]: row["text"] for row in _rows(file)}


def write_passages(file: Path, passages: Iterable[Passage]) -> None:
    _write(file, ({"_id": p.id, "title": p.title, "text": p.text} for p in passages))


def write_queries(file: Path, queries: Mapping[str, str]) -> None:
    _write(file, ({"_id": query, "text": text} for query, text in queries.items()))


def _read_qrels(file: Path) -> dict[str, dict[str, int]]:
    """Rows of query-id, corpus-id and score under one header line."""
    judged: dict[str, dict[str, int]] = {}
    with file.open(encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            query, passage, score = line.rstrip("\n").split("\t")
            judged.setdefault(query, {})[passage] = int(score)
    return judged


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def _write(file: Path, rows: Iterable[Mapping[str, str]]) -> None:
    with file.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
