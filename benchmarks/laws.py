"""The whole statute book through the real command line, and searches in it."""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from pathlib import Path

from benchmarks.datasets import data_folder
from benchmarks.machine import tree_resident
from benchmarks.measures import percentile
from shirube.caller import LOCAL
from shirube.ingest.embedding import embed_missing
from shirube.query.filters import Filters
from shirube.settings import load_settings
from shirube.toolsets.knowledge.feed import BODY, TITLE, WEIGHTS
from shirube.toolsets.knowledge.schema import SearchInput
from shirube.toolsets.knowledge.service import KnowledgeService
from shirube.workspace import Workspace

CACHE = Path(__file__).with_name(".cache")


@dataclass(frozen=True)
class LawVectors:
    seconds: float
    bytes: int
    p50: float
    p95: float


@dataclass(frozen=True)
class LawsResult:
    files: int
    characters: int
    passages: int
    seconds: float
    peak: int
    bytes_store: int
    bytes_text: int
    p50: float
    p95: float
    sparse_p50: float
    sparse_p95: float
    summary_p50: float
    vectors: LawVectors | None


def measure_laws(*, vectors: bool) -> Iterator[LawsResult]:
    """First without vectors, then, if they are wanted, with them."""
    folder, characters = _files()
    with tempfile.TemporaryDirectory(dir=CACHE) as home:
        print("laws: import")
        seconds, peak, base = _import(folder, Path(home))
        print("laws: search")
        workspace = Workspace(load_settings({"SHIRUBE_HOME": home}))
        service = KnowledgeService(workspace)
        space = service.space(base)
        queries = _queries()
        for query in queries[:20]:
            service.search(LOCAL, _asked(query, base))
        whole = [_timed(partial(service.search, LOCAL, _asked(query, base))) for query in queries]
        sparse = [_timed(partial(space.search, query, WEIGHTS, Filters(), 500)) for query in queries]
        summary = [_timed(lambda: service.summary(LOCAL, base)) for _ in range(50)]
        result = LawsResult(
            files=sum(1 for _ in folder.glob("*.md")),
            characters=characters,
            passages=space.count(),
            seconds=seconds,
            peak=peak,
            bytes_store=_size(Path(home), "shirube.db"),
            bytes_text=_size(Path(home), "text-"),
            p50=percentile(whole, 50),
            p95=percentile(whole, 95),
            sparse_p50=percentile(sparse, 50),
            sparse_p95=percentile(sparse, 95),
            summary_p50=percentile(summary, 50),
            vectors=None,
        )
        yield result
        if vectors:
            yield replace(result, vectors=_with_vectors(service, workspace, base, Path(home)))
        workspace.database.close()


def _with_vectors(service: KnowledgeService, workspace: Workspace, base: str, home: Path) -> LawVectors:
    print("laws: vectors")
    started = time.perf_counter()
    embedder = workspace.embedder
    assert embedder is not None
    embed_missing(service.space(base), embedder, BODY, TITLE)
    seconds = time.perf_counter() - started
    queries = _queries()
    for query in queries[:20]:
        service.search(LOCAL, _asked(query, base))
    whole = [_timed(partial(service.search, LOCAL, _asked(query, base))) for query in queries]
    return LawVectors(seconds, _size(home, "vectors-"), percentile(whole, 50), percentile(whole, 95))


def _files() -> tuple[Path, int]:
    """The statutes as Markdown files, one each."""
    folder = CACHE / "laws"
    folder.mkdir(parents=True, exist_ok=True)
    characters = 0
    with gzip.open(data_folder() / "laws" / "laws.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            law = json.loads(line)
            characters += len(law["text"])
            path = folder / f"{law['id']}.md"
            if not path.exists():
                path.write_text(f"# {law['title']}\n\n{law['text']}\n", encoding="utf-8")
    return folder, characters


def _import(folder: Path, home: Path) -> tuple[float, int, str]:
    """Seconds, peak memory of the process and its workers, and the knowledge base's id."""
    command = [str(Path(sys.executable).with_name("shirube")), "kb", "add", str(folder), "--kb", "法令"]
    started = time.perf_counter()
    importing = subprocess.Popen(
        [*command, "--no-vectors", "--json"],
        env={**os.environ, "SHIRUBE_HOME": str(home)},
        stdout=subprocess.PIPE,
        text=True,
    )
    peak = 0
    while True:
        try:
            output, _ = importing.communicate(timeout=0.5)
            break
        except subprocess.TimeoutExpired:
            peak = max(peak, tree_resident(importing.pid))
    seconds = time.perf_counter() - started
    if importing.returncode:
        raise RuntimeError(f"the import ended with {importing.returncode}")
    return seconds, peak, str(json.loads(output)["knowledge_base_id"])


def _queries() -> list[str]:
    """The sample company's questions: what people ask of rules and laws."""
    lines = (files("shirube") / "samples" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["query"] for line in lines]


def _asked(query: str, base: str) -> SearchInput:
    return SearchInput.model_validate({"query": query, "knowledge_base_id": base})


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def _size(home: Path, part: str) -> int:
    return sum(
        path.stat().st_size
        for path in home.rglob("*")
        if path.is_file() and part in str(path.relative_to(home))
    )
