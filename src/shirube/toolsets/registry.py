"""All toolsets' operations over one workspace. Heavy parts are imported when an operation is first called."""

import threading
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from shirube.caller import Caller
from shirube.errors import InvalidInput
from shirube.operations import Profile, Registry
from shirube.settings import Settings
from shirube.toolsets.answers.operations import answer_operations
from shirube.toolsets.knowledge.operations import knowledge_operations
from shirube.toolsets.knowledge.original import original_operations
from shirube.toolsets.pages.operations import page_operations
from shirube.toolsets.patents.operations import patent_operations
from shirube.toolsets.programs.operations import program_operations

if TYPE_CHECKING:
    from shirube.toolsets.answers.service import AnswersService
    from shirube.toolsets.knowledge.service import KnowledgeService
    from shirube.toolsets.pages.service import PagesService
    from shirube.toolsets.patents.service import PatentsService
    from shirube.toolsets.programs.service import ProgramsService
    from shirube.workspace import Workspace


T = TypeVar("T")
_COUNTS = ("count", "hit_count", "total", "total_docs", "total_found")


def _once(make: Callable[[], T]) -> Callable[[], T]:
    """`make`, called once however many threads ask at the same time."""
    guard = threading.RLock()
    made = cache(make)

    def get() -> T:
        with guard:
            return made()

    return get


class Application:
    """The registry, and the workspace behind it once something needs it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.workspace: Callable[[], Workspace] = _once(self._open_workspace)
        self.knowledge: Callable[[], KnowledgeService] = _once(self._open_knowledge)
        self.answers: Callable[[], AnswersService] = _once(self._open_answers)
        self.pages: Callable[[], PagesService] = _once(self._open_pages)
        self.patents: Callable[[], PatentsService] = _once(self._open_patents)
        self.programs: Callable[[], ProgramsService] = _once(self._open_programs)
        self.registry = Registry(
            [
                *knowledge_operations(self.knowledge),
                *patent_operations(self.patents),
                *program_operations(self.programs),
                *answer_operations(self.answers),
                *page_operations(self._pages_of, is_tool=settings.docs is not None),
                # The registry is asked when they are called, not while it is made.
                *original_operations(
                    lambda: self.registry.tools(), lambda *asked: self.registry.call(*asked, recorded=False)
                ),
            ],
            self.record,
            Profile(settings.toolsets, settings.people),
        )

    def _open_workspace(self) -> "Workspace":
        from shirube.workspace import Workspace

        return Workspace(self.settings)

    def _open_knowledge(self) -> "KnowledgeService":
        from shirube.toolsets.knowledge.service import KnowledgeService

        return KnowledgeService(self.workspace())

    def _open_answers(self) -> "AnswersService":
        from shirube.toolsets.answers.service import AnswersService

        return AnswersService(self.workspace(), self.knowledge)

    def _open_patents(self) -> "PatentsService":
        from shirube.toolsets.patents.service import PatentsService

        return PatentsService(self.workspace())

    def _open_programs(self) -> "ProgramsService":
        from shirube.toolsets.programs.service import ProgramsService

        return ProgramsService(self.workspace())

    def _open_pages(self) -> "PagesService":
        from shirube.toolsets.pages.service import PagesService
        from shirube.toolsets.pages.site import Site

        if self.settings.docs is None:
            raise _no_pages()
        return PagesService(Site(self.settings.docs), lambda: self.workspace().embedder)

    def _pages_of(self, caller: Caller) -> "PagesService":
        """The pages, for those of the tenant whose they are; for others there are none."""
        if caller.tenant != self.settings.docs_tenant:
            raise _no_pages()
        return self.pages()

    def record(
        self, caller: Caller, operation: str, outcome: str, duration_ms: float, body: Mapping[str, Any]
    ) -> None:
        """One row in the audit log: who called what, and how it ended."""
        from shirube.store.audit import record_call
        from shirube.store.clock import now

        at, count, run_id = now(), _count(body) if outcome == "ok" else None, body.get("run_id")
        self.workspace().journal.write(
            lambda connection: record_call(
                connection, caller, operation, outcome, duration_ms, count, run_id, at
            )
        )


def _count(body: Mapping[str, Any]) -> int | None:
    """How many there are of what was asked for: as the answer says, else as long as its first list is."""
    said = (body.get(name) for name in _COUNTS)
    listed = (len(each) for each in body.values() if isinstance(each, list))
    return next((each for each in (*said, *listed) if isinstance(each, int)), None)


def _no_pages() -> InvalidInput:
    return InvalidInput(
        "No folder of pages was given",
        "ページのフォルダーが指定されていません。",
        hint="--docs フォルダー を付けてください。 Give --docs DIR.",
    )
