"""`make bench`: a large manual (6,339 Markdown pages) as a folder of pages; writes benchmarks/pages.md.

    python -m benchmarks.pages

In process: from the files to the first search, vectors in the background, what each tool takes, and how long an edit
takes to be found while the folder is followed.
"""

import random
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.datasets import data_folder, unpack
from benchmarks.machine import machine_lines
from benchmarks.measures import percentile
from shirube.settings import load_settings
from shirube.toolsets.pages import schema
from shirube.toolsets.pages.service import PagesService
from shirube.toolsets.pages.site import Site
from shirube.workspace import Workspace

REPORT = Path(__file__).with_name("pages.md")
ARCHIVE = "pages/visualstudio-docs-ja.tar.xz"
ASKED = 200
EDITS = 10
ROUNDS = 3
_WORD = re.compile(r"[一-鿿ァ-ヺー]{2,8}|[A-Za-z]{3,}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder) / "project" / "docs"
        unpack(data_folder() / ARCHIVE, docs)
        workspace = Workspace(load_settings({"SHIRUBE_HOME": str(Path(folder) / "home")}))
        rows = _measured(docs, workspace)
    lines = [
        "# Benchmark: pages",
        "",
        *machine_lines("the Japanese pages of the Visual Studio documentation (CC BY 4.0)"),
        "",
        f"All in process. Times of a tool are p50 / p95 of {ASKED} calls, the fastest of {ROUNDS} rounds; queries are "
        "titles of pages, keywords single words of titles.",
        "",
        "| what | figure |",
        "| --- | --- |",
        *(f"| {what} | {figure} |" for what, figure in rows),
    ]
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"written: {REPORT.name}")


def _measured(docs: Path, workspace: Workspace) -> list[tuple[str, str]]:
    assert workspace.embedder
    workspace.embedder.embed_query("準備")
    site = Site(docs)
    service = PagesService(site, lambda: workspace.embedder)
    started = time.perf_counter()
    report = site.read()
    read = time.perf_counter() - started
    started = time.perf_counter()
    site.embed(workspace.embedder)
    embedded = time.perf_counter() - started
    started = time.perf_counter()
    again = site.read()
    unchanged = time.perf_counter() - started
    assert not again.moved
    site.learn_words()
    with site.graph() as graph:
        pages = list(graph.pages.values())
        links = sum(len(graph.links(page.id)) for page in pages)
        dangling = len(list(graph.dangling()))
    some = random.Random(1).sample(pages, ASKED)
    words = [random.Random(at).choice(_WORD.findall(page.title) or ["方法"]) for at, page in enumerate(some)]
    rows = [
        ("pages, sections, links", f"{len(pages):,}, {site.space.count():,}, {links:,}"),
        ("links that lead nowhere", f"{dangling:,}"),
        ("from files to searchable by text", f"{read:.1f} s, {len(report.added) / read:,.0f} pages/s"),
        (
            "vectors of all sections",
            f"{embedded / 60:.1f} minutes, {site.space.count() / embedded:,.0f} sections/s",
        ),
        ("reading the folder again, nothing changed", f"{unchanged:.2f} s"),
    ]
    calls: list[tuple[str, Sequence[Callable[[], Any]]]] = [
        ("ubp_search", [_call(service.search, schema.SearchInput(query=page.title)) for page in some]),
        (
            "ubp_fulltext_search",
            [_call(service.fulltext_search, schema.FulltextInput(query=word)) for word in words],
        ),
        (
            "ubp_get_page",
            [_call(service.get_page, schema.GetPageInput(filepath=page.filepath)) for page in some],
        ),
        (
            "ubp_get_context",
            [_call(service.get_context, schema.GetContextInput(filepath=page.filepath)) for page in some],
        ),
        ("ubp_list_pages", [_call(service.list_pages, schema.ListInput())] * 10),
        ("ubp_get_graph, whole", [_call(service.get_graph, schema.GraphInput())] * 10),
    ]
    rows += [(name, _times(asked)) for name, asked in calls]
    seen = _edits(service, docs)
    rows.append(
        ("an edit is found by text after", f"{percentile(seen, 50):.2f} s, {max(seen):.2f} s at most")
    )
    site.close()
    return rows


def _call(tool: Callable[[Any], Any], asked: Any) -> Callable[[], Any]:
    return lambda: tool(asked)


def _times(asked: Sequence[Callable[[], Any]]) -> str:
    rounds = []
    for _ in range(ROUNDS):
        times = []
        for call in asked:
            started = time.perf_counter()
            call()
            times.append((time.perf_counter() - started) * 1000)
        rounds.append(times)
    best = min(rounds, key=lambda times: percentile(times, 50))
    return f"{percentile(best, 50):.1f} / {percentile(best, 95):.1f} ms"


def _edits(service: PagesService, docs: Path) -> list[float]:
    """Seconds from a saved edit until it is found, while the folder is followed."""
    service.site.follow(lambda: None)
    service.list_pages(schema.ListInput())
    time.sleep(3)
    seen = []
    for path in sorted(docs.rglob("*.md"))[:EDITS]:
        mark = f"編集の印{time.time_ns()}"
        path.write_text(path.read_text(encoding="utf-8") + f"\n\n{mark}\n", encoding="utf-8")
        started = time.perf_counter()
        while not service.fulltext_search(schema.FulltextInput(query=mark)).total_found:
            time.sleep(0.01)
        seen.append(time.perf_counter() - started)
    return seen


if __name__ == "__main__":
    main()
