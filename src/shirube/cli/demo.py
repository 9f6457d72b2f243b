"""The demo: sample documents in a folder of their own, and something to try."""

import json
import os
import shlex
import shutil
import socket
import sys
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path

from shirube.caller import LOCAL
from shirube.cli.answers import show_answer_body
from shirube.cli.calls import call
from shirube.cli.knowledge import add_to, show_results
from shirube.cli.output import out, progress_bar
from shirube.cli.patents import show_run
from shirube.cli.programs import show_check, show_rows
from shirube.cli.serving import serve_over_http
from shirube.ingest.sync import Options, find_files
from shirube.settings import load_settings
from shirube.store import bases
from shirube.toolsets.patents.importing import import_files as import_publications
from shirube.toolsets.programs.imports import import_files
from shirube.toolsets.registry import Application

COMPANY = "みちしるべ社内規程"
STATUTES = "労働法令"
QUESTION = "リモートワーク手当の金額は？"
PAGE_QUESTION = "残業時間はどう計算する？"
PROGRAMME = "農業 融資"
CLAIM = "(顔認証 OR 顔識別) AND (遮蔽 OR マスク)"
INVENTION = "マスクで顔の一部が隠れていても本人を認証する"
TOGETHER = ["経営開始資金", "雇用就農資金", "スーパーL資金"]


def run(*, once: bool) -> None:
    """Load the samples; with `once` show a call of each toolset and end, else serve them until interrupted."""
    os.environ.setdefault("SHIRUBE_HOME", str(Path.cwd() / ".demo"))
    settings = load_settings()
    application = Application(replace(settings, docs=_pages(settings.home)))
    _load(application)
    with progress_bar("ページを読んでいます") as progress:
        application.pages().site.read(progress)
        application.pages().site.embed(application.workspace().embedder)
    application.patents().library.complete()
    company = _base_id(application, COMPANY)
    if once:
        _show_documents(application, company)
        _show_answer(application)
        _show_patents(application)
        _show_programs(application)
        _show_pages(application)
        return
    port = _free_port()
    _tell(application, company, f"http://127.0.0.1:{port}")
    docs = application.settings.docs
    application.workspace().database.close()
    serve_over_http(docs, "127.0.0.1", port, 1, insecure_local=True, log="pretty", conformance=False)


def _load(application: Application) -> None:
    samples = files("shirube") / "samples"
    with as_file(samples) as folder:
        for collection in sorted(path for path in (folder / "company").iterdir() if path.is_dir()):
            options = Options(collection=collection.name)
            add_to(
                application,
                COMPANY,
                find_files([collection]),
                options,
                "株式会社みちしるべの規程とFAQ（見本）",
            )
        add_to(
            application,
            STATUTES,
            find_files([folder / "statutes"]),
            Options(),
            "労働関係の法令（e-Gov 法令検索より）",
        )

        import_publications(application.workspace().database, LOCAL, sorted((folder / "patents").iterdir()))
        sources = sorted((folder / "programs").iterdir())
        import_files(application.workspace().database, LOCAL, sources, strict=True)


def _pages(home: Path) -> Path:
    """A copy of the sample project, whose pages name its sources: beside it an index is kept."""
    project = home / "pages"
    with as_file(files("shirube") / "samples" / "pages") as sample:
        for path in sorted(each for each in sample.rglob("*") if each.is_file()):
            copy = project / path.relative_to(sample)
            if not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(path.read_bytes())
    return project / "docs"


def _show_documents(application: Application, company: str) -> None:
    out.rule("list_knowledge_bases")
    out.print(json.dumps(call(application, LOCAL, "list_knowledge_bases", {}), ensure_ascii=False))
    out.rule("search_documents")
    out.print(f"問い: {QUESTION}")
    asked = {"query": QUESTION, "knowledge_base_id": company, "max_results": 3, "explain": True}
    show_results(call(application, LOCAL, "search_documents", asked))
    out.rule("get_knowledge_base_summary")
    summary = call(application, LOCAL, "get_knowledge_base_summary", {"knowledge_base_id": company})
    out.print(json.dumps(summary, ensure_ascii=False))


def _show_answer(application: Application) -> None:
    out.rule("kb_answer")
    out.print(f"問い: {QUESTION}")
    show_answer_body(call(application, LOCAL, "kb_answer", {"query": QUESTION}))


def _show_patents(application: Application) -> None:
    """Two lanes and their fusion."""
    out.rule("run_multilane_search, rrf_blend_frontier")
    out.print(f"式: {CLAIM}\n文: {INVENTION}")
    lanes = [{"lane_name": "fulltext_recall", "query": CLAIM}, {"lane_name": "semantic", "text": INVENTION}]
    handles = call(application, LOCAL, "run_multilane_search", {"lanes": lanes})
    runs = [{"lane": each["lane"], "run_id_lane": each["run_id_lane"]} for each in handles if each["run_id"]]
    fused = call(
        application, LOCAL, "rrf_blend_frontier", {"runs": runs, "target_profile": {"fi": {"G06V10/82": 1.0}}}
    )
    show_run(application, LOCAL, fused["run_id"], 3)


def _show_programs(application: Application) -> None:
    """Programmes found, and what of three may not be combined."""
    out.rule("search_programs")
    out.print(f"語: {PROGRAMME}")
    show_rows(call(application, LOCAL, "search_programs", {"q": PROGRAMME, "limit": 3}))
    out.rule("check_exclusions")
    out.print(" × ".join(TOGETHER))
    show_check(call(application, LOCAL, "check_exclusions", {"program_ids": TOGETHER}))


def _show_pages(application: Application) -> None:
    """One call of the page tools, and what a page knows of its neighbours."""
    out.rule("ubp_search")
    out.print(f"問い: {PAGE_QUESTION}")
    body = call(
        application, LOCAL, "ubp_search", {"query": PAGE_QUESTION, "limit": 3, "include_linked": True}
    )
    for each in body["results"]:
        linked = "、".join(page["title"] for page in each["linked_pages"])
        out.print(f"{each['score']:.3f}  {each['title']}  {each['filepath']}  ({each['staleness']})")
        out.print(f"       {each['relevance_reason']}")
        out.print(f"       つながり: {linked}")


def _base_id(application: Application, name: str) -> str:
    with application.workspace().database.read() as connection:
        base = bases.find_base(connection, LOCAL, name)
    assert base is not None
    return base.id


def _free_port() -> int:
    """8000, or the next that nobody listens on."""
    for port in range(8000, 8100):
        with socket.socket() as tried:
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    return 0


def _tell(application: Application, company: str, at: str) -> None:
    home, docs, command = application.settings.home, application.settings.docs, _command()
    typed = f"SHIRUBE_HOME={shlex.quote(str(home))} {_typed(command)}"
    out.rule("標 Shirube デモ demo")
    out.print(f"サンプルデータ: {COMPANY} と {STATUTES}（{home}） The sample data is in this folder.\n")
    out.print("文書で試す: Try the documents:")
    for query in (QUESTION, "副業 許可 条件", "サーバ", "振替休日"):
        base = STATUTES if query == "振替休日" else COMPANY
        out.print(f'  {typed} search "{query}" --kb {base} --why', soft_wrap=True)
    out.print(f'  {typed} ask "{QUESTION}"', soft_wrap=True)
    out.print("\nページで試す: Try the pages:")
    for words in (f'search "{PAGE_QUESTION}"', "graph", "broken", "stale"):
        out.print(f"  {_typed(command)} pages {words} --docs {shlex.quote(str(docs))}", soft_wrap=True)
    out.print("\n特許で試す（見本の公報）: Try the patents (invented ones):")
    out.print(f"  {typed} patents search '{CLAIM}' --fi G06V10", soft_wrap=True)
    out.print("\n制度で試す: Try the programmes:")
    for words in (f'search "{PROGRAMME}"', f"check {' '.join(TOGETHER)}", "meta"):
        out.print(f"  {typed} programs {words}", soft_wrap=True)
    asked = json.dumps({"query": QUESTION, "knowledge_base_id": company}, ensure_ascii=False)
    out.print(
        "\nHTTP で試す（この端末で動き続けます。止めるには Ctrl+C）: Try HTTP (runs here until Ctrl+C):"
    )
    out.print(f"  curl {at}/v1/knowledge-bases")
    out.print(f"  curl {at}/v1/knowledge-bases/search -d '{asked}'", soft_wrap=True)
    out.print(f"  MCP: {at}/mcp   OpenAPI: {at}/openapi.json")
    out.print("\nMCP クライアント（Claude Desktop など）の設定: For an MCP client such as Claude Desktop:")
    out.print_json(
        data={
            "mcpServers": {
                "shirube": {
                    "command": str(command),
                    "args": ["serve", "--docs", str(docs)],
                    "env": {"SHIRUBE_HOME": str(home)},
                }
            }
        }
    )


def _typed(command: Path) -> str:
    """What has to be typed for this command: its name where the shell finds it, else where it is."""
    found = shutil.which("shirube")
    same = found is not None and Path(found).resolve().parent == command.resolve().parent
    return "shirube" if same else shlex.quote(str(command))


def _command() -> Path:
    return Path(sys.executable).with_name("shirube")
