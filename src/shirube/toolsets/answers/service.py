"""kb_answer: whoever is set up to answer does."""

import asyncio
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from shirube.caller import Caller
from shirube.errors import InvalidInput
from shirube.operations import given
from shirube.text.invisible import visible
from shirube.toolsets.answers import schema
from shirube.toolsets.answers.bedrock import KBResponse, KnowledgeBase
from shirube.toolsets.answers.config import KBConfig, backend, load_config, threshold
from shirube.toolsets.answers.local import LocalAnswers
from shirube.workspace import Workspace

if TYPE_CHECKING:
    from shirube.toolsets.knowledge.service import KnowledgeService

# Calls of Bedrock at a time: they wait, so they have threads of their own and keep nobody else's.
_CALLS = 32
_INTERVENED = "ガードレールが回答を変えました。 A guardrail has changed the answer."


class AnswersService:
    def __init__(
        self,
        workspace: Workspace,
        knowledge: "Callable[[], KnowledgeService]",
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._workspace = workspace
        self._knowledge = knowledge
        self._environ = environ
        self._waiting = ThreadPoolExecutor(_CALLS, thread_name_prefix="bedrock")
        self._guard = threading.Lock()
        self._bases: dict[KBConfig, KnowledgeBase] = {}

    async def answer(self, caller: Caller, asked: schema.AnswerInput) -> schema.AnswerOutput:
        if backend(self._environ) == "local":
            local = LocalAnswers(self._workspace, self._knowledge, threshold(self._environ))
            return await asyncio.to_thread(local.answer, caller, asked)
        if asked.knowledge_base_id is not None:
            raise InvalidInput(
                "knowledge_base_id is for the documents here; Bedrock's is set by BEDROCK_KB_ID",
                "knowledge_base_id は手元の文書用です。Bedrock のものは BEDROCK_KB_ID で指定します。",
            )
        base = self._base(load_config(self._environ))
        loop = asyncio.get_running_loop()
        return _shown(await loop.run_in_executor(self._waiting, base.ask, asked.query, asked.max_results))

    def _base(self, config: KBConfig) -> KnowledgeBase:
        with self._guard:
            return self._bases.setdefault(config, KnowledgeBase(config))


def _shown(response: KBResponse) -> schema.AnswerOutput:
    """As it is shown, without what cannot be seen; spans point into that."""

    def place(at: int) -> int:
        return len(visible(response.answer[:at]))

    return schema.AnswerOutput(
        answer=visible(response.answer),
        citations=[
            schema.Citation(
                content=visible(each.content),
                location=each.location,
                score=each.score,
                **given(
                    spans=[schema.Spanned(start=place(start), end=place(end)) for start, end in each.spans]
                    or None
                ),
            )
            for each in response.citations
        ],
        **given(warnings=[_INTERVENED] if response.intervened else None),
    )
