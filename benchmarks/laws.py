"""The whole statute book through the real command line, and searches in it; writes benchmarks/laws.md.

The vectors take the longest by far: `python -m benchmarks.laws --without-vectors` leaves them out.
"""

import argparse
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
from benchmarks.machine import machine_lines, tree_resident
from benchmarks.measures import percentile
from shirube.caller import LOCAL
from shirube.ingest.embedding import embed_missing
from shirube.query.filters import Filters
from shirube.settings import load_settings
from shirube.toolsets.knowledge.feed import BODY, TITLE, WEIGHTS
from shirube.toolsets.knowledge.schema import SearchInput
from shirube.toolsets.knowledge.service import KnowledgeService
from shirube.workspace import Workspace

REPORT = Path(__file__).with_name("laws.md")
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-vectors", action="store_true")
    for result in measure_laws(vectors=not parser.parse_args().without_vectors):
        REPORT.write_text("\n".join(_report(result)) + "\n", encoding="utf-8")
        print(f"written: {REPORT.name}")


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


def _report(result: LawsResult) -> list[str]:
    rows = {
        "`shirube kb add`, whole, without vectors": f"{result.seconds:.0f} s",
        "passages per second, from files to searchable": f"{result.passages / result.seconds:,.0f}",
        "peak memory of all its processes": _mebibytes(result.peak),
        "database on disk": _mebibytes(result.bytes_store),
        "full text on disk": _mebibytes(result.bytes_text),
        "search without vectors p50 / p95, in process": f"{result.p50:.1f} / {result.p95:.1f} ms",
        **_vectors(result),
        "full text alone p50 / p95": f"{result.sparse_p50:.1f} / {result.sparse_p95:.1f} ms",
        "summary p50": f"{result.summary_p50:.2f} ms",
    }
    return [
        "# Benchmark: the statute book as one knowledge base",
        "",
        *machine_lines("e-Gov statutes (CC BY 4.0)"),
        "",
        f"{result.files:,} files, {result.characters / 1e6:.0f} M characters, {result.passages:,} passages; the sample "
        "company's questions are asked.",
        "",
        "| what | figure |",
        "| --- | --- |",
        *(f"| {what} | {figure} |" for what, figure in rows.items()),
    ]


def _vectors(result: LawsResult) -> dict[str, str]:
    if result.vectors is None:
        return {"with vectors": "not run"}
    rate = result.passages / result.vectors.seconds
    return {
        "vectors": f"{result.vectors.seconds / 60:.0f} minutes, {rate:,.0f} passages/s",
        "vectors on disk": _mebibytes(result.vectors.bytes),
        "search with vectors p50 / p95, in process": f"{result.vectors.p50:.1f} / {result.vectors.p95:.1f} ms",
    }


def _mebibytes(size: float) -> str:
    return f"{size / 1024**2:,.0f} MiB"


if __name__ == "__main__":
    main()
