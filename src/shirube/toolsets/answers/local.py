"""An answer from the documents here: search, then sentences of what was found, or a language model's, checked.

Nothing is said that no passage says. Where no passage answers, the answer says so.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from shirube.caller import Caller
from shirube.models.contract import Generator
from shirube.models.errors import ModelError
from shirube.operations import given
from shirube.store import bases
from shirube.store.documents import document_text
from shirube.text.invisible import stretches, visible
from shirube.text.questions import is_japanese
from shirube.toolsets.answers import schema
from shirube.toolsets.answers.evidence import Question, Sentence
from shirube.toolsets.answers.statements import Statement
from shirube.toolsets.answers.support import Passage
from shirube.toolsets.answers.written import Part, Rest, supported
from shirube.toolsets.knowledge.feed import BODY
from shirube.toolsets.knowledge.schema import MAX_RESULTS, Result, SearchInput
from shirube.toolsets.knowledge.writer import written_answer
from shirube.workspace import Workspace

if TYPE_CHECKING:
    from shirube.toolsets.knowledge.service import KnowledgeService

log = logging.getLogger(__name__)

TYPE = "DOCUMENT"
_NO_WORD = "\0"
# Sentences of the best passage; of the others one each.
_SENTENCES = 2
# A second sentence, or another passage's, that fits so much less than the best tells of something else.
_NEARLY = 0.75
# Passages beside the best that are quoted; more are no longer an answer but a list.
_OTHERS = 5
# Items that are quoted after the sentence that introduces them; rules with more are read in the document.
_ITEMS = 12
_NOTHING = {
    "ja": "手元の文書には、この質問に答える記述が見つかりませんでした。",
    "en": "No document here answers this question.",
}


@dataclass(frozen=True)
class Source:
    """A passage that was found, as it stands in its document."""

    text: str
    title: str
    document_id: str
    source: str
    page: int | None
    start: int
    score: float
    telling: list[Sentence]
    columns: list[str]

    def cited(self, start: int, end: int) -> schema.Citation:
        """The stretch of it around these characters; nothing invisible is quoted, and nothing is left out within."""
        start, end = max(stretches(self.text), key=lambda each: min(end, each[1]) - max(start, each[0]))
        return schema.Citation(
            content=self.text[start:end],
            location=schema.Location(
                type=TYPE,
                document_id=self.document_id,
                title=self.title,
                source=self.source,
                page=self.page,
                span=schema.Spanned(start=self.start + start, end=self.start + end),
            ).model_dump(),
            score=self.score,
        )


class LocalAnswers:
    def __init__(
        self, workspace: Workspace, knowledge: "Callable[[], KnowledgeService]", threshold: float
    ) -> None:
        self._workspace = workspace
        self._knowledge = knowledge
        self._threshold = threshold

    def answer(self, caller: Caller, asked: schema.AnswerInput) -> schema.AnswerOutput:
        query = asked.query.encode("utf-8", "replace").decode()
        question, sources, warnings = self._found(caller, query, asked.max_results, asked.knowledge_base_id)
        parts: list[Part] | None = None
        model = self._workspace.generator
        if model and sources:
            parts = _written(model, question, sources, warnings)
        if parts is None:
            parts = list(_chosen(sources))
        if not parts:
            said = _NOTHING["ja" if is_japanese(query) else "en"]
            return schema.AnswerOutput(
                answer=said, citations=[], supported=False, **given(warnings=warnings or None)
            )
        # The first place of a source that something rests on is where it is cited.
        cited: dict[int, Rest] = {}
        for rest in (rest for part in parts for rest in part.rests):
            cited.setdefault(rest.source, rest)
        numbers = {place: number for number, place in enumerate(cited, 1)}
        return schema.AnswerOutput(
            answer="\n".join(
                f"{part.text} " + "".join(f"[{numbers[rest.source]}]" for rest in part.rests)
                for part in parts
            ),
            citations=[sources[place].cited(rest.start, rest.end) for place, rest in cited.items()],
            supported=True,
            **given(warnings=warnings or None),
        )

    def _found(
        self, caller: Caller, query: str, most: int, base_id: UUID | None
    ) -> tuple[Question, list[Source], list[str]]:
        """The passages above the threshold that may answer the question, best first."""
        knowledge = self._knowledge()
        with self._workspace.database.read() as connection:
            if base_id is not None:
                searched = [bases.get_base(connection, caller, str(base_id)).id]
            else:
                searched = [base.id for base, _ in bases.list_bases(connection, caller)]
        results: list[Result] = []
        warnings: dict[str, None] = {}
        for each in searched:
            output = knowledge.search(
                caller,
                SearchInput(
                    query=query,
                    knowledge_base_id=UUID(each),
                    threshold=self._threshold,
                    max_results=min(most, MAX_RESULTS),
                ),
                kept=False,
            )
            results += output.results
            warnings |= dict.fromkeys(output.warnings or ())

        def rarity(tokens: Sequence[str]) -> dict[str, float]:
            """Of several bases the one in which a word is most common counts."""
            known = [knowledge.space(each).rarity(tokens, BODY) for each in searched]
            return {token: min((table[token] for table in known), default=1.0) for token in tokens}

        def nowhere(tokens: Sequence[str]) -> set[str]:
            """Words that no base has: as rare as what cannot be written."""
            known = [knowledge.space(each).rarity([*tokens, _NO_WORD], BODY) for each in searched]
            return {token for token in tokens if all(table[token] >= table[_NO_WORD] for table in known)}

        question = Question(query, rarity, nowhere)
        sources = [self._source(caller, question, each) for each in results]
        telling = sorted((each for each in sources if each.telling), key=_rank)
        return question, telling[:most], list(warnings)

    def _source(self, caller: Caller, question: Question, result: Result) -> Source:
        about = result.metadata
        text = result.content
        if len(text) != about.span.end - about.span.start:  # something invisible was taken out
            with self._workspace.database.read() as connection:
                whole = document_text(connection, caller, about.document_id)
            text = whole[about.span.start : about.span.end]
        headings = [heading for heading in about.heading_path if heading != about.document_title]
        title = visible(" › ".join([about.document_title, *headings]))
        return Source(
            text=text,
            title=title,
            document_id=about.document_id,
            source=about.source.file,
            page=about.source.page,
            start=about.span.start,
            score=result.score,
            columns=about.columns or [],
            telling=question.telling(title, text, about.source.file, about.columns or ()),
        )


def _rank(source: Source) -> tuple[float, str, str, int]:
    """Scores of several bases do not compare well; how much of the question a passage holds does."""
    share = max(each.share for each in source.telling)
    return -round(source.score * share, 9), source.source, source.document_id, source.start


def _chosen(sources: Sequence[Source]) -> Iterator[Part]:
    """Sentences as they stand: the best passage's, and of the others those that hold nearly as much of the question."""
    said: set[str] = set()
    least = least_wordy = 0.0
    others_left = _OTHERS
    for place, source in enumerate(sources):
        best, *others = source.telling
        if place == 0:
            least, least_wordy = _NEARLY * best.share, _NEARLY * best.wordy
            chosen = [best, *(each for each in others[: _SENTENCES - 1] if each.fit >= _NEARLY * best.fit)]
        else:
            is_near = best.share >= least and best.wordy >= least_wordy
            chosen = [best] if is_near and best.text not in said and others_left else []
            others_left -= len(chosen)
        for text, start, end in _in_order(chosen, with_lists=place == 0):
            if text not in said:
                said.add(text)
                yield Part(text, (Rest(place, start, end),))


def _in_order(chosen: Sequence[Sentence], *, with_lists: bool) -> list[tuple[str, int, int]]:
    """The sentences as they follow each other, with what bounds them and if wanted with what they introduce."""
    quoted: list[Sentence | Statement] = [*chosen, *(item for each in chosen for item in each.bound)]
    if with_lists:
        quoted += [item for each in chosen for item in each.listed[:_ITEMS]]
    return sorted({(each.text, each.start, each.end) for each in quoted}, key=lambda one: one[1:])


def _written(
    model: Generator, question: Question, sources: Sequence[Source], warnings: list[str]
) -> list[Part] | None:
    """A language model's sentences, as far as the passages support them; none where it finds no answer in them, and
    None where what it wrote cannot be used."""
    given_to_model = [
        {
            "content": visible(each.text),
            "metadata": {"document_title": each.title, "heading_path": [], "columns": each.columns},
        }
        for each in sources
    ]
    try:
        written = written_answer(model, question.text, given_to_model)
    except ModelError as error:
        log.warning("sentences are quoted: %s", error)
        warnings.append(
            "言語モデルの答えが使えないため、文書の文を引用して答えます。 "
            f"The language model gave no usable answer ({error.reason}); sentences of the documents are quoted."
        )
        return None
    if not written.text:
        warnings.append(
            "言語モデルは、見つかった文書に答えがないと判断しました。 "
            "The language model found no answer in the passages."
        )
        return []
    kept, whole = supported(written.text, [Passage(each.title, each.text, each.columns) for each in sources])
    if not whole:
        warnings.append(
            "出典で確かめられない文を除きました。 Sentences that no passage supports were dropped."
        )
    return kept or None
