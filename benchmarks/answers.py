"""`make bench`: one cited answer from the documents here; writes benchmarks/answers.md.

    python -m benchmarks.answers

Questions of JaQuAD's development set, asked of all of JaQuAD's passages: as they are, and once more by somebody who may
read everything but the passage that holds the answer. Both ways `kb_answer` is called as any caller calls it.
"""

import asyncio
import hashlib
import json
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.datasets import Dataset, data_folder, evenly_spaced, load, with_distractors
from benchmarks.machine import machine_lines
from benchmarks.measures import percentile
from shirube.caller import LOCAL_TENANT, Caller, Confidentiality
from shirube.ingest.embedding import embed_missing
from shirube.settings import load_settings
from shirube.store import bases
from shirube.store.documents import Document, Passage, document_text, put_document
from shirube.toolsets.answers import evidence, schema
from shirube.toolsets.answers.config import DEFAULT_THRESHOLD
from shirube.toolsets.answers.local import LocalAnswers
from shirube.toolsets.knowledge.feed import BODY, TITLE
from shirube.toolsets.registry import Application

REPORT = Path(__file__).with_name("answers.md")
QUESTIONS = 1000
THRESHOLDS = tuple(step / 20 for step in range(20))
FLOOR_ANSWERED, FLOOR_SILENT = 0.75, 0.70


@dataclass(frozen=True)
class Asked:
    """A question with its answers as people gave them, and the passage they took them from."""

    text: str
    answers: Sequence[str]
    passage: str
    article: str

    def held_by(self, text: str) -> bool:
        return any(answer in text for answer in self.answers)


@dataclass(frozen=True)
class Said:
    """What came of a question: with its passage and without it."""

    question: Asked
    output: schema.AnswerOutput
    ms: float

    @property
    def score(self) -> float:
        return self.output.citations[0].score or 0.0 if self.output.citations else -1.0

    @property
    def is_right(self) -> bool:
        """The answer or its first citation holds what is asked for."""
        first = self.output.citations[0].content if self.output.citations else ""
        return self.question.held_by(self.output.answer) or self.question.held_by(first)

    @property
    def is_held(self) -> bool:
        """Some citation really holds what is asked for."""
        return any(self.question.held_by(each.content) for each in self.output.citations)


class Desk:
    """All passages in one base; those that answer a question in departments, of each article one in a department.

    So whoever is of all departments but one lacks one passage of an article, and the others on the subject are there.
    """

    def __init__(self, folder: Path, corpus: Dataset, questions: Sequence[Asked]) -> None:
        numbers = Counter[str]()
        self._departments: dict[str, str] = {}
        for passage, article in {each.passage: each.article for each in questions}.items():
            self._departments[passage] = f"d{numbers[article]}"
            numbers[article] += 1
        self.application = Application(load_settings({"SHIRUBE_HOME": str(folder)}))
        self.workspace = self.application.workspace()
        with self.workspace.database.write() as connection:
            base = bases.create_base(connection, self.caller(), "answers")
            collection = bases.open_collection(connection, base, "answers")
        for each in corpus.corpus:
            document = Document(
                source=each.id,
                filename=each.id,
                title=each.title,
                text=each.text,
                content_hash=hashlib.sha256(each.text.encode()).hexdigest(),
                department=self._departments.get(each.id),
                passages=(Passage(each.text, 0, len(each.text)),),
            )
            with self.workspace.database.write() as connection:
                put_document(connection, base.id, collection, document)
        space = self.application.knowledge().space(base.id)
        space.catch_up()
        assert self.workspace.embedder
        embed_missing(space, self.workspace.embedder, BODY, TITLE)

    def caller(self, without: str | None = None) -> Caller:
        departments = frozenset(self._departments.values()) - {self._departments.get(without or "")}
        return Caller(LOCAL_TENANT, "local", departments, Confidentiality.top_secret, frozenset({"admin"}))

    def ask(self, question: Asked, threshold: float, *, hidden: bool = False) -> Said:
        answers = LocalAnswers(self.workspace, self.application.knowledge, threshold)
        caller = self.caller(question.passage if hidden else None)
        started = time.perf_counter()
        output = answers.answer(caller, schema.AnswerInput(query=question.text))
        ms = (time.perf_counter() - started) * 1000
        self._check_citations(caller, output)
        return Said(question, output, ms)

    def _check_citations(self, caller: Caller, output: schema.AnswerOutput) -> None:
        """Every citation's span gives exactly its content."""
        with self.workspace.database.read() as connection:
            for each in output.citations:
                text = document_text(connection, caller, each.location["document_id"])
                span = each.location["span"]
                if text[span["start"] : span["end"]] != each.content:
                    raise AssertionError(f"a citation of {each.location['source']} is not what stands there")


def main() -> None:
    dev = load("jaquad-dev")
    questions = evenly_spaced(_questions(dev), QUESTIONS)
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder), with_distractors(dev, load("jaquad-train")), questions)
        desk.ask(questions[0], 0.0)
        open_, hidden = ([desk.ask(each, 0.0, hidden=way) for each in questions] for way in (False, True))
        usual = [desk.ask(each, DEFAULT_THRESHOLD) for each in questions]
        usual_hidden = [desk.ask(each, DEFAULT_THRESHOLD, hidden=True) for each in questions]
        with patch.object(evidence, "asked", lambda text: None):
            untyped = [desk.ask(each, DEFAULT_THRESHOLD) for each in questions]
            untyped_hidden = [desk.ask(each, DEFAULT_THRESHOLD, hidden=True) for each in questions]
        called = _over_the_registry(desk, questions)
    REPORT.write_text(
        "\n".join(
            [
                "# Benchmark: answers",
                "",
                *machine_lines("JaQuAD (CC BY-SA 3.0)"),
                "",
                f"{len(questions)} questions of the development set among all passages of both sets, answered without "
                "a language model. Right: what people answered is in the answer or in its first citation. Without its "
                "passage: the same question by a caller who may not read the passage the answer was taken from; right "
                "is to say that nothing answers it, or to cite another passage that holds what people answered.",
                "",
                "| at the default threshold | right | without its passage | |",
                "| --- | --- | --- | --- |",
                f"| floor | {FLOOR_ANSWERED:.3f} | {FLOOR_SILENT:.3f} | |",
                _row(f"threshold {DEFAULT_THRESHOLD}", usual, usual_hidden),
                _row("the same, blind to what kind of thing is asked for", untyped, untyped_hidden),
                "",
                f"kb_answer takes {percentile([each.ms for each in usual], 50):.1f} ms (p50), "
                f"{percentile([each.ms for each in usual], 95):.1f} ms (p95) in process; {called}.",
                "",
                "## What other thresholds trade",
                "",
                "| threshold | right | without its passage |",
                "| --- | --- | --- |",
                *(
                    f"| {each:.2f} | {_right(open_, each):.3f} | {_silent(hidden, each):.3f} |"
                    for each in THRESHOLDS
                ),
                "",
                "## What limits it",
                "",
                *_limits(usual, open_, usual_hidden),
            ]
        )
        + "\n",
        encoding="utf-8",
    )
    print(f"written: {REPORT.name}")


def _questions(dev: Dataset) -> list[Asked]:
    with (data_folder() / "qa" / "jaquad-dev" / "queries.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    answers: Mapping[str, Sequence[str]] = {row["_id"]: row["answers"] for row in rows}
    articles = {each.id: each.title for each in dev.corpus}
    right = {name: next(iter(dev.qrels[name])) for name in dev.queries}
    return [
        Asked(text, answers[name], right[name], articles[right[name]]) for name, text in dev.queries.items()
    ]


def _over_the_registry(desk: Desk, questions: Sequence[Asked]) -> str:
    """That the operation says the same as what is measured here."""

    async def called(each: Asked) -> Any:
        return await desk.application.registry.call("kb_answer", desk.caller(), {"query": each.text})

    few = questions[:20]
    same = sum(
        asyncio.run(called(each)).body["answer"] == desk.ask(each, DEFAULT_THRESHOLD).output.answer
        for each in few
    )
    return f"the operation gave the same answer as its parts to {same} of {len(few)}"


def _right(said: Sequence[Said], threshold: float) -> float:
    return sum(each.score >= threshold and each.is_right for each in said) / len(said)


def _silent(said: Sequence[Said], threshold: float) -> float:
    return sum(each.score < threshold or each.is_held for each in said) / len(said)


def _row(name: str, open_: Sequence[Said], hidden: Sequence[Said]) -> str:
    in_answer = sum(each.question.held_by(each.output.answer) for each in open_) / len(open_)
    return (
        f"| {name} | {_right(open_, -0.5):.3f} | {_silent(hidden, -0.5):.3f} | "
        f"in the answer's own sentences {in_answer:.3f} |"
    )


def _limits(usual: Sequence[Said], open_: Sequence[Said], hidden: Sequence[Said]) -> list[str]:
    """Why questions were not answered rightly, and what was said where nothing should have been."""
    wrong = [(said, free) for said, free in zip(usual, open_, strict=True) if not said.is_right]
    below = sum(not said.output.citations and free.is_right for said, free in wrong)
    silent = sum(not said.output.citations and not free.is_right for said, free in wrong)
    other = sum(bool(said.output.citations) for said, _ in wrong)
    said_anyway = [each for each in hidden if each.output.citations and not each.is_held]
    same_article = sum(
        each.output.citations[0].location["title"] == each.question.article for each in said_anyway
    )
    return [
        f"- Of {len(wrong)} questions not answered rightly {below} had the right passage first, below the threshold; "
        f"{other} were answered from another passage; {silent} had another passage first and were not answered.",
        f"- Of {len(said_anyway)} answers given without the right passage {same_article} come from the same article: "
        "it speaks of the same thing in the same words, and nothing but understanding tells that it does not say this.",
    ]


if __name__ == "__main__":
    main()
