"""Sets of questions with known passages, in BEIR layout.

    SET/corpus.jsonl     {"_id", "title", "text"}, one a line
    SET/queries.jsonl    {"_id", "text"}, one a line
    SET/qrels.tsv        query-id, corpus-id and score under a header line; or SET/qrels/test.tsv

What cannot be read is an error that names file and line. Only Python itself is needed here: the benchmark's peers read
sets in environments of their own.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from shirube.errors import InvalidInput, NotFound

CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"
QRELS = ("qrels.tsv", "qrels/test.tsv")
_HEADER = "query-id\tcorpus-id\tscore"
_LAYOUT = f"必要なもの / Needed: {CORPUS}, {QUERIES}, {QRELS[0]} ({QRELS[1]})"

T = TypeVar("T")


@dataclass(frozen=True)
class Passage:
    id: str
    title: str
    text: str

    @property
    def titled_text(self) -> str:
        """For engines that know no titles: the title on a line of its own, then the text."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True)
class Dataset:
    name: str
    corpus: tuple[Passage, ...]
    queries: Mapping[str, str]
    qrels: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Checked:
    """A set whose every question has an answer in it, and how much had to be left out for that."""

    dataset: Dataset
    skipped_queries: int
    unknown_passages: int
    unknown_queries: int


def load_folder(folder: Path) -> Dataset:
    if not folder.is_dir():
        raise NotFound(
            f"No such folder: {folder}",
            f"フォルダー {folder} がありません。",
            hint=f"BEIR 形式です。 {_LAYOUT}",
        )
    return Dataset(
        name=folder.resolve().name,
        corpus=tuple(read_passages(folder / CORPUS)),
        queries=read_queries(folder / QUERIES),
        qrels=read_qrels(_first_there(folder, QRELS)),
    )


def write_folder(folder: Path, dataset: Dataset) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_passages(folder / CORPUS, dataset.corpus)
    write_queries(folder / QUERIES, dataset.queries)
    write_qrels(folder / QRELS[0], dataset.qrels)


def checked(dataset: Dataset) -> Checked:
    """Without questions that no ranking could be right for, and without judgements of what is not in the set."""
    if not dataset.corpus:
        raise InvalidInput(f"{CORPUS} has no passages", f"{CORPUS} に箇所が1つもありません。", hint=_LAYOUT)
    known = {passage.id for passage in dataset.corpus}
    qrels = {
        query: {passage: grade for passage, grade in grades.items() if passage in known}
        for query, grades in dataset.qrels.items()
        if query in dataset.queries
    }
    answered = {query for query, grades in qrels.items() if any(grade > 0 for grade in grades.values())}
    if not answered:
        raise InvalidInput(
            f"No query has a relevant passage: {len(dataset.queries)} queries, {len(known)} passages",
            f"正解の箇所がある質問が1つもありません（質問 {len(dataset.queries)}、箇所 {len(known)}）。",
            hint="qrels の ID を確認してください。 Check the ids in qrels.",
        )
    named = {passage for grades in dataset.qrels.values() for passage in grades}
    return Checked(
        replace(
            dataset,
            queries={query: text for query, text in dataset.queries.items() if query in answered},
            qrels={query: grades for query, grades in qrels.items() if query in answered},
        ),
        skipped_queries=len(dataset.queries) - len(answered),
        unknown_passages=len(named - known),
        unknown_queries=len(dataset.qrels.keys() - dataset.queries.keys()),
    )


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
    for _, identity, row in _rows(file):
        yield Passage(identity, _mended(row.get("title") or ""), _mended(row["text"]))


def read_queries(file: Path) -> dict[str, str]:
    queries: dict[str, str] = {}
    for number, identity, row in _rows(file):
        queries[identity] = _mended(row["text"])
        if not queries[identity].strip():
            raise _wrong(file, number, "text is empty", "text が空です。")
    return queries


def read_qrels(file: Path) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    for number, line in _lines(file):
        columns = line.split("\t")
        if len(columns) != 3:
            raise _wrong(
                file,
                number,
                "query-id, corpus-id and score are needed, with tabs between them",
                "query-id、corpus-id、score の3つをタブで区切ってください。",
            )
        query, passage, score = columns
        try:
            grade = int(score)
        except ValueError:
            if number == 1:
                continue  # the header
            raise _wrong(
                file, number, "score is not a whole number", "score が整数ではありません。"
            ) from None
        if judged.setdefault(query, {}).setdefault(passage, grade) != grade:
            raise _wrong(
                file, number, "the same pair has another score above", "同じ組に別の score があります。"
            )
    return judged


def write_passages(file: Path, passages: Iterable[Passage]) -> None:
    _write(file, ({"_id": p.id, "title": p.title, "text": p.text} for p in passages))


def write_queries(file: Path, queries: Mapping[str, str]) -> None:
    _write(file, ({"_id": query, "text": text} for query, text in queries.items()))


def write_qrels(file: Path, qrels: Mapping[str, Mapping[str, int]]) -> None:
    rows = [
        f"{query}\t{passage}\t{grade}" for query, held in qrels.items() for passage, grade in held.items()
    ]
    file.write_text("\n".join([_HEADER, *rows]) + "\n", encoding="utf-8")


def _first_there(folder: Path, names: Sequence[str]) -> Path:
    return next((folder / name for name in names if (folder / name).is_file()), folder / names[0])


def _rows(file: Path) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """JSON objects with their line numbers and ids; `text` is a string, `title` a string or nothing."""
    seen: set[str] = set()
    for number, line in _lines(file):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            detail = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
            raise _wrong(file, number, f"not valid JSON ({detail})", "正しい JSON ではありません。") from None
        if not isinstance(row, dict):
            raise _wrong(file, number, "not a JSON object", "JSON のオブジェクトではありません。")
        for field in ("_id", "text"):
            if not isinstance(row.get(field), str):
                raise _wrong(file, number, f"{field} is not a string", f"{field} が文字列ではありません。")
        if not isinstance(row.get("title") or "", str):
            raise _wrong(file, number, "title is not a string", "title が文字列ではありません。")
        identity = _mended(row["_id"])
        if not identity:
            raise _wrong(file, number, "_id is empty", "_id が空です。")
        if identity in seen:
            raise _wrong(
                file, number, f"the _id {identity} was used above", f"_id {identity} が重複しています。"
            )
        seen.add(identity)
        yield number, identity, row


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers from 1; a byte order mark and Windows' line ends are taken off."""
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                except UnicodeDecodeError:
                    raise _wrong(file, number, "not UTF-8", "UTF-8 ではありません。") from None
                if text.strip():
                    yield number, text
    except FileNotFoundError:
        raise NotFound(f"{file.name} is missing", f"{file.name} がありません。", hint=_LAYOUT) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InvalidInput(
            f"{file.name} cannot be read: {reason}", f"{file.name} を読めません（{reason}）。"
        ) from None


def _mended(text: str) -> str:
    """Half surrogates, which JSON can hold and nothing else takes, are replaced, as a search does with its query."""
    return text.encode("utf-8", "replace").decode()


def _wrong(file: Path, line: int, reason: str, ja: str) -> InvalidInput:
    return InvalidInput(f"{file.name}, line {line}: {reason}", f"{file.name} の {line} 行目: {ja}")


def _write(file: Path, rows: Iterable[Mapping[str, str]]) -> None:
    with file.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
