"""The application as every surface meets it, over the sample documents."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Row, select

import shirube
from shirube.caller import LOCAL, Caller
from shirube.ingest.sync import Options, add_files, find_files
from shirube.operations import Answer
from shirube.settings import load_settings
from shirube.store import bases
from shirube.store.bases import KnowledgeBase
from shirube.store.database import Database
from shirube.store.documents import Document
from shirube.store.tables import audit
from shirube.toolsets.knowledge.service import KnowledgeService
from shirube.toolsets.registry import Application
from tests.store.records import put
from tests.toolsets.knowledge.llm import KINDS, Llm, speaking

SAMPLES = Path(shirube.__file__).parent / "samples" / "company"


@dataclass(frozen=True)
class Served:
    """An application with a knowledge base that calls go to unless they name another."""

    application: Application
    base: KnowledgeBase

    @property
    def database(self) -> Database:
        return self.application.workspace().database

    def call(self, operation: str, arguments: Any, caller: Caller = LOCAL) -> Answer:
        return asyncio.run(self.application.registry.call(operation, caller, arguments))

    def search(self, query: Any, caller: Caller = LOCAL, **arguments: Any) -> Answer:
        given = {"query": query, "knowledge_base_id": self.base.id, **arguments}
        return self.call("search_documents", given, caller)

    def found(self, query: str, caller: Caller = LOCAL, **arguments: Any) -> dict[str, Any]:
        """The body of a search that must succeed."""
        answer = self.search(query, caller, **arguments)
        assert answer.ok, answer.body
        return dict(answer.body)

    def summary(self, base_id: Any = None, caller: Caller = LOCAL) -> Answer:
        given = {"knowledge_base_id": base_id or self.base.id}
        return self.call("get_knowledge_base_summary", given, caller)

    def create(
        self,
        name: str,
        *documents: Document,
        owner: Caller = LOCAL,
        description: str = "",
        public: bool = False,
    ) -> KnowledgeBase:
        with self.database.write() as connection:
            base = bases.create_base(connection, owner, name, description, is_public=public)
            put(connection, base, *documents)
        return base

    def audited(self) -> Sequence[Row[Any]]:
        """The audit log so far."""
        self.application.workspace().journal.flush()
        with self.database.read() as connection:
            return connection.execute(select(audit).order_by(audit.c.id)).all()


def serve(home: Path, embedder: str = "none", llm: str = "none") -> Served:
    settings = {"SHIRUBE_HOME": str(home), "SHIRUBE_EMBEDDER": embedder, "SHIRUBE_LLM": llm}
    application = Application(load_settings(settings))
    with application.workspace().database.write() as connection:
        base = bases.create_base(connection, LOCAL, "社内規程", "就業規則と経費の規程")
    return Served(application, base)


@pytest.fixture(scope="session")
def company(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The 58 sample documents, searched by text alone."""
    served = serve(tmp_path_factory.mktemp("company"))
    add_files(served.database, LOCAL, served.base, find_files([SAMPLES]), Options())
    yield served
    served.database.close()


@pytest.fixture(scope="session")
def company_with_vectors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The same as a fresh install searches them."""
    served = serve(tmp_path_factory.mktemp("company-with-vectors"), "use")
    add_files(served.database, LOCAL, served.base, find_files([SAMPLES]), Options())
    service = KnowledgeService(served.application.workspace())
    service.space(served.base.id).catch_up()
    service.complete_vectors()
    yield served
    served.database.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """An application of its own with an empty knowledge base."""
    served = serve(tmp_path / "home")
    yield served
    served.database.close()


@pytest.fixture(params=KINDS)
def llm(request: pytest.FixtureRequest) -> Iterator[Llm]:
    """A language model in each wire format; it fails until a test tells it what to say."""
    with speaking(request.param) as found:
        yield found
