"""The verbs for a folder of Markdown pages."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from shirube.caller import LOCAL
from shirube.cli import calls
from shirube.cli.output import err, out, progress_bar, show_json
from shirube.settings import settings_with
from shirube.store.pages import StoredPage, page_warnings
from shirube.toolsets.pages.graph import Resolved
from shirube.toolsets.pages.service import SHALLOW
from shirube.toolsets.pages.suggestions import suggested_links
from shirube.toolsets.registry import Application

_LEVELS = {"fresh": "最新", "possibly_stale": "古いかもしれない", "stale": "古い", "untracked": "対象外"}
_REASONS = {"modified": "変更された", "deleted": "削除された", "not_found": "見つからない"}


def opened(docs: Path) -> Application:
    """The application over a folder, read and indexed, with progress shown."""
    application = Application(settings_with(docs))
    with progress_bar("ページを読んでいます") as progress:
        application.pages().site.read(progress)
    return application


def call(
    docs: Path,
    name: str,
    arguments: Mapping[str, Any],
    *,
    as_json: bool,
    application: Application | None = None,
) -> dict[str, Any] | None:
    """The answer of a tool, or None where it was printed as JSON."""
    body: dict[str, Any] = calls.call(application or opened(docs), LOCAL, name, arguments)
    if as_json:
        show_json(body)
        return None
    return body


def search(docs: Path, query: str, *, results: int, depth: int, linked: bool, as_json: bool) -> None:
    asked = {"query": query, "limit": results, "depth": depth, "include_linked": linked}
    application = opened(docs)
    application.pages().site.embed_few(application.workspace().embedder)
    body = call(docs, "ubp_search", asked, as_json=as_json, application=application)
    for number, each in enumerate(body["results"] if body else [], start=1):
        text = Text()
        for section in each["sections"][:1]:
            text.append((section["heading"] or each["title"]) + "\n", style="bold")
            text.append(" ".join(section["content"].split())[:300])
        text.append(f"\n{each['relevance_reason']}", style="dim")
        title = f"{number}. {each['title']}  {each['filepath']}  {each['score']:.3f}  {_LEVELS[each['staleness']]}"
        out.print(Panel(text, title=_shown(title), title_align="left"), soft_wrap=False)
    if body:
        for warning in body.get("warnings", []):
            err.print(warning)
        if body["search_type"] == "fulltext_fallback":
            err.print(
                "ベクトルがないため、語だけで探しました。 There are no vectors: searched by words alone."
            )
        if not body["results"]:
            out.print("見つかりません。 Nothing was found.")


def get(docs: Path, filepath: str, as_json: bool) -> None:
    body = call(docs, "ubp_get_page", {"filepath": filepath}, as_json=as_json)
    if body:
        out.print(
            f"{body['title']}  ({body['doc_type']}, {_LEVELS[body['staleness']]}, {body['updated_at']})"
        )
        for path, reason in body.get("stale_reasons", {}).items():
            out.print(f"  {path}: {_REASONS[reason]}")
        out.print(f"\n{body['content']}\n")
        for name, arrow in (("outlinks", "→"), ("backlinks", "←")):
            for link in body[name]:
                out.print(f"{arrow} {link['title']}  {link['filepath']}  {link['link_type']}")


def context(docs: Path, filepath: str, *, depth: int, max_size: int, as_json: bool) -> None:
    asked = {"filepath": filepath, "depth": depth, "max_size": max_size}
    body = call(docs, "ubp_get_context", asked, as_json=as_json)
    if body:
        out.print(body["center"]["content"])
        for each in body["related"]:
            arrow = "→" if each["direction"] == "outlink" else "←"
            out.print(
                f"\n{arrow} {each['title']}  {each['filepath']}  {each['link_type']}  深さ{each['depth']}"
            )
            out.print(each["summary"])
        out.print(f"\n{body['total_size']} 文字、省略 {body['truncated_count']} ページ")


def list_pages(docs: Path, *, doc_type: str | None, sort: str, order: str, as_json: bool) -> None:
    asked = {"doc_type": doc_type, "sort": sort, "order": order}
    body = call(docs, "ubp_list_pages", asked, as_json=as_json)
    if body:
        table = Table("ページ", "題名", "種別", "リンク", "更新")
        for page in body["pages"]:
            table.add_row(
                page["filepath"], page["title"], page["doc_type"], str(page["link_count"]), page["updated_at"]
            )
        out.print(table)
        out.print(f"{body['total']} ページ")


def graph(docs: Path, *, center: str | None, depth: int, as_json: bool) -> None:
    body = call(docs, "ubp_get_graph", {"center": center, "depth": depth}, as_json=as_json)
    if body:
        names = {node["id"]: node["filepath"] for node in body["nodes"]}
        for edge in body["edges"]:
            out.print(f"{names[edge['source']]} → {names[edge['target']]}  {edge['type']}")
        out.print(f"{len(body['nodes'])} ページ、{len(body['edges'])} リンク")


def stale(docs: Path, *, exit_code: bool, annotate: bool, as_json: bool) -> bool:
    """Show what may be stale; whether anything is, where somebody asked for an exit code."""
    application = opened(docs)
    site = application.pages().site
    found = [(page, state) for page, state in application.pages().stale_pages() if state.level != "fresh"]
    rows = [
        {
            "filepath": page.filepath,
            "staleness": state.level,
            "stale_refs": [
                {"path": ref.path, "reason": ref.reason, "commits": ref.commits} for ref in state.refs
            ],
        }
        for page, state in found
    ]
    shallow = site.sources.is_shallow
    if shallow:
        err.print(SHALLOW)
    if as_json:
        show_json({"stale": rows, "count": len(rows), "is_shallow": shallow})
    elif annotate:
        for page, state in found:
            _annotate(
                site.folder.docs / page.filepath, site.folder.root, state.level, [r.path for r in state.refs]
            )
    else:
        for page, state in found:
            out.print(f"{_shown(page.filepath)}: {_LEVELS[state.level]}")
            for ref in state.refs:
                commits = f"（コミット {ref.commits} 件）" if ref.commits else ""
                out.print(f"  {_shown(ref.path)}: {_REASONS[ref.reason]}{commits}")
        out.print(f"{len(found)} ページが古い可能性があります。 {len(found)} pages may be stale.")
    return (bool(found) or shallow) and exit_code


def _shown(name: str) -> str:
    """A name that may hold anything, on one line."""
    return "".join(char if char.isprintable() else "\ufffd" for char in name)


def _annotate(path: Path, root: Path, level: str, refs: list[str]) -> None:
    """A line that GitHub shows beside the file."""
    kind = "error" if level == "stale" else "warning"
    file = _escaped(path.relative_to(root).as_posix()).replace(",", "%2C").replace(":", "%3A")
    message = _escaped(f"sources changed since this page did: {', '.join(refs)}")
    out.print(f"::{kind} file={file},title={level}::{message}")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def broken(docs: Path, *, exit_code: bool, as_json: bool) -> bool:
    """Show links to nowhere, links that could mean several pages, and pages without links."""
    application = opened(docs)
    site = application.pages().site
    with site.graph() as pages:
        dangling = [_link_row(page, each) for page, each in pages.dangling()]
        headings = [_link_row(page, each) for page, each in pages.missing_headings()]
        ambiguous = [
            {**_link_row(page, each), "taken_for": pages.pages[each.target].filepath}
            for page, each in pages.ambiguous()
            if each.target
        ]
        orphans = [page.filepath for page in pages.orphans()]
    with site.database.read() as connection:
        warnings = page_warnings(connection, site.place.base_id)
    body = {
        "broken": dangling,
        "missing_headings": headings,
        "ambiguous": ambiguous,
        "orphans": orphans,
        "warnings": warnings,
        "refused": dict(site.refused),
    }
    if as_json:
        show_json(body)
    else:
        titled = {"切れたリンク": dangling, "見出しがないリンク": headings, "複数に当たるリンク": ambiguous}
        for title, rows in titled.items():
            if rows:
                out.print(f"{title}:", style="bold")
            for row in rows:
                taken = f" → {row['taken_for']}" if "taken_for" in row else ""
                out.print(_shown(f"  {row['filepath']}:{row['line']}: {row['target']}{taken}"))
        if orphans:
            out.print("リンクのないページ:", style="bold")
            for name in orphans:
                out.print(f"  {_shown(name)}")
        for name, problems in {**warnings, **{name: [why] for name, why in site.refused.items()}}.items():
            for problem in problems:
                out.print(_shown(f"{name}: {problem}"))
        out.print(
            f"切れたリンク {len(dangling)}、見出しなし {len(headings)}、曖昧 {len(ambiguous)}、孤立 {len(orphans)}"
        )
    return bool(dangling) and exit_code


def _link_row(page: StoredPage, each: Resolved) -> dict[str, Any]:
    target = each.link.target + (f"#{each.link.heading}" if each.link.heading else "")
    return {"filepath": page.filepath, "line": each.link.line, "target": target}


def suggest(docs: Path, *, filepath: str | None, most: int, as_json: bool) -> None:
    application = opened(docs)
    found = suggested_links(application.pages().site, filepath, most)
    if as_json:
        show_json({"suggestions": [each._asdict() for each in found], "count": len(found)})
        return
    for each in found:
        out.print(f"{each.filepath}:{each.line}: 「{each.text}」 → [[{each.target}]]")
    out.print(f"{len(found)} 件のリンクを提案します。 {len(found)} links are suggested.")


def index(docs: Path, *, vectors: bool, as_json: bool) -> None:
    application = opened(docs)
    service = application.pages()
    made = 0
    if vectors:
        with progress_bar("ベクトルを作っています") as progress:
            made = service.site.embed(application.workspace().embedder, progress)
    status(docs, as_json=as_json, application=application, made=made)


def status(docs: Path, *, as_json: bool, application: Application | None = None, made: int = 0) -> None:
    application = application or opened(docs)
    site = application.pages().site
    embedder = application.workspace().embedder
    with site.graph() as pages:
        count, links = len(pages.pages), len(list(pages.edges()))
        dangling = len(list(pages.dangling()))
    sections = site.space.count()
    missing = len(site.space.missing_vectors(embedder.name)) if embedder else sections
    body = {
        "docs": str(site.folder.docs),
        "root": str(site.folder.root),
        "state": str(site.folder.state),
        "pages": count,
        "sections": sections,
        "links": links,
        "broken_links": dangling,
        "vectors": sections - missing,
        "vectors_added": made,
        "refused": dict(site.refused),
    }
    if as_json:
        show_json(body)
        return
    out.print(f"{body['docs']}: {count} ページ、{sections} 節、{links} リンク（切れ {dangling}）")
    out.print(f"ベクトル: {sections - missing} / {sections}  状態: {body['state']}")
    for name, reason in site.refused.items():
        out.print(_shown(f"読めません {name}: {reason}"))
    if missing:
        out.print(
            "ベクトルが足りません。 shirube pages index で作れます。 Make them with shirube pages index."
        )
