"""The verbs for knowledge bases and searching them."""

import asyncio
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import Any
from uuid import UUID

from rich.panel import Panel
from rich.table import Column, Table
from rich.text import Text
from sqlalchemy import Connection

from shirube.caller import LOCAL, Caller, Confidentiality
from shirube.cli.calls import checked
from shirube.cli.output import err, out, progress_bar, show_json
from shirube.errors import InvalidInput, NotFound
from shirube.index.embedded.workers import kept_processes
from shirube.ingest.embedding import embed_missing
from shirube.ingest.indexing import Indexing
from shirube.ingest.sync import File, Options, Report, add_files, find_files
from shirube.models.errors import ModelError
from shirube.settings import load_settings
from shirube.store import bases
from shirube.store.bases import KnowledgeBase
from shirube.toolsets.knowledge.chat import reply
from shirube.toolsets.knowledge.feed import BODY, TITLE
from shirube.toolsets.registry import Application

# What the column holds.
_LONGEST_SUBJECT = 200


def find(application: Application, name: str, caller: Caller = LOCAL) -> KnowledgeBase:
    """The knowledge base of that name or id."""
    name = unicodedata.normalize("NFC", name.encode("utf-8", "replace").decode())
    with application.workspace().database.read() as connection:
        found = bases.find_base(connection, caller, name)
        if found:
            return found
        known = [base.name for base, _ in bases.list_bases(connection, caller)]
        try:
            return bases.get_base(connection, caller, name)
        except NotFound:
            raise NotFound(
                f"Knowledge base not found: {name}",
                f"ナレッジベース「{name}」が見つかりません。",
                hint="あるもの: " + "、".join(known)
                if known
                else "まだ1つもありません。shirube kb add フォルダー --kb 名前 で作れます。",
            ) from None


def add(
    paths: list[Path],
    name: str,
    *,
    collection: str,
    department: str | None,
    confidentiality: str | None,
    description: str,
    sync: bool,
    vectors: bool,
    caller: Caller,
    as_json: bool,
) -> None:
    if not collection.strip():
        raise InvalidInput("--collection must not be empty", "--collection が空です。")
    # As macOS types them, names would differ from what everybody else types.
    name, collection = (unicodedata.normalize("NFC", each).strip() for each in (name, collection))
    department = None if department is None else unicodedata.normalize("NFC", department).strip()
    options = Options(collection, department, _level(confidentiality), sync)
    application = Application(load_settings())
    files = find_files(paths)
    folders = [path.resolve() for path in paths if path.is_dir()]
    base, report = add_to(
        application, name, files, options, description, caller=caller, vectors=vectors, folders=folders
    )
    body = {"knowledge_base_id": base.id, "name": base.name, **asdict(report)}
    if as_json:
        show_json(body)
    else:
        _show_report(base, report)


def add_to(
    application: Application,
    name: str,
    files: list[File],
    options: Options,
    description: str = "",
    *,
    caller: Caller = LOCAL,
    vectors: bool = True,
    folders: Sequence[Path] = (),
) -> tuple[KnowledgeBase, Report]:
    """Take `files` into the knowledge base `name`, made where it is missing: text first, then vectors."""
    workspace = application.workspace()
    with workspace.database.write() as connection:
        base = bases.find_base(connection, caller, name) or _by_id(connection, caller, name)
        base = base or bases.create_base(connection, caller, name, description)
    space = application.knowledge().space(base.id)
    with kept_processes(), Indexing(space) as indexing:
        with progress_bar("文書を読んでいます") as progress:

            def on_file(report: Report) -> None:
                done = len(report.added) + len(report.changed) + len(report.unchanged) + len(report.refused)
                progress(min(done, len(files)), len(files))
                indexing.stored(report.passages)

            report = add_files(workspace.database, caller, base, files, options, on_file, folders)
        with progress_bar("索引を作っています") as progress:
            if not indexing.finish(progress):
                report.warnings.append(
                    "別のプロセスが索引を書き込み中です。残りは次の検索のときに反映されます。 "
                    "Another process holds the index; the rest is caught up with on the next search."
                )
    if vectors and workspace.embedder:
        with workspace.embedding(), progress_bar("ベクトルを作っています（検索はもう使えます）") as progress:
            try:
                embed_missing(space, workspace.embedder, BODY, TITLE, progress)
                application.knowledge().summarise(base.id)
            except ModelError as error:
                report.warnings.append(
                    f"ベクトルを作れませんでした。全文検索は使えます。 Vectors could not be made: {error}"
                )
    return base, report


def _by_id(connection: Connection, caller: Caller, name: str) -> KnowledgeBase | None:
    try:
        return bases.get_base(connection, caller, str(UUID(name)))
    except (ValueError, NotFound):
        return None


def _level(name: str | None) -> Confidentiality | None:
    if name is None:
        return None
    try:
        return Confidentiality[name.strip().lower()]
    except KeyError:
        levels = ", ".join(level.name for level in Confidentiality)
        raise InvalidInput(
            f"--confidentiality must be one of {levels}", f"--confidentiality は {levels} のどれかです。"
        ) from None


def _show_report(base: KnowledgeBase, report: Report) -> None:
    out.print(f"{base.name}  {base.id}", style="bold")
    out.print(
        f"追加 {len(report.added)} ・更新 {len(report.changed)} ・変更なし {len(report.unchanged)} "
        f"・削除 {len(report.removed)} ・取り込めず {len(report.refused)} （{report.passages} 箇所）"
    )
    for refused in report.refused:
        err.print(
            Text(
                f"  取り込めません: {refused.source}: {refused.reason_ja}（{refused.reason}）", style="yellow"
            )
        )
    for warning in report.warnings:
        err.print(Text(f"  注意: {warning}", style="yellow"))
    out.print(f'次は: shirube search "質問" --kb {quote(base.name)}')


def show_list(caller: Caller, as_json: bool) -> None:
    application = Application(load_settings())
    answer = checked(asyncio.run(application.registry.call("list_knowledge_bases", caller, {})))
    if as_json:
        show_json(answer.body)
        return
    table = Table("名前", Column("ID", no_wrap=True, min_width=36), "文書", "箇所", "説明")
    for item in answer.body["knowledge_bases"]:
        counts = item["statistics"]
        table.add_row(
            item["name"],
            item["knowledge_base_id"],
            str(counts["total_documents"]),
            str(counts["total_chunks"]),
            item["description"],
        )
    if answer.body["count"]:
        out.print(table)
    else:
        out.print("まだありません。 shirube kb add フォルダー --kb 名前 で作れます。")


def share(
    name: str,
    *,
    public: bool | None,
    join: Sequence[str],
    leave: Sequence[str],
    caller: Caller,
    as_json: bool,
) -> None:
    for subject in (*join, *leave):
        if not subject.strip() or len(subject) > _LONGEST_SUBJECT:
            raise InvalidInput(
                f"A member needs a name of 1 to {_LONGEST_SUBJECT} characters",
                f"メンバーの名前は1〜{_LONGEST_SUBJECT}文字で指定してください。",
            )
    application = Application(load_settings())
    found = find(application, name, caller)
    with application.workspace().database.write() as connection:
        base, listed = bases.share_base(connection, caller, found.id, public=public, join=join, leave=leave)
    if as_json:
        body = {"knowledge_base_id": base.id, "name": base.name, "owner": base.owner}
        show_json({**body, "is_public": base.is_public, "members": listed})
        return
    out.print(f"{base.name}  {base.id}", style="bold")
    out.print(f"所有者: {base.owner}  公開: {'テナントの全員' if base.is_public else 'メンバーだけ'}")
    out.print(f"メンバー: {'、'.join(listed) or 'なし'}")


def remove(name: str, *, yes: bool, caller: Caller, as_json: bool) -> None:
    application = Application(load_settings())
    base = find(application, name, caller)
    if not yes:
        from typer import confirm

        confirm(f"「{base.name}」を文書と索引ごと削除しますか？", abort=True, err=True)
    with application.workspace().database.write() as connection:
        bases.remove_base(connection, caller, base.id)
    application.knowledge().space(base.id)
    application.workspace().drop_space(base.id)
    if as_json:
        show_json({"removed": base.id, "name": base.name})
    else:
        out.print(f"「{base.name}」を削除しました。")


def show_search(
    query: str, name: str, *, threshold: float, results: int, why: bool, caller: Caller, as_json: bool
) -> None:
    application = Application(load_settings())
    base = find(application, name, caller)
    arguments = {
        "query": query,
        "knowledge_base_id": base.id,
        "threshold": threshold,
        "max_results": results,
        "explain": why,
    }
    answer = checked(asyncio.run(application.registry.call("search_documents", caller, arguments)))
    if as_json:
        show_json(answer.body)
    else:
        show_results(answer.body)


def show_chat(message: str, name: str, *, tool: str | None, caller: Caller, as_json: bool) -> None:
    application = Application(load_settings())
    base = find(application, name, caller)
    model = application.workspace().generator
    given = asyncio.run(reply(application.registry, caller, message, base.id, tool, model))
    if as_json:
        show_json(asdict(given))
        return
    out.print(Text(given.answer))
    for citation in given.citations:
        place = _place(citation.document_title, citation.heading_path)
        out.print(
            Text(f"  [{citation.number}] {place}  {_file(citation.source)}  スコア {citation.score:.2f}"),
            style="dim",
        )
    by = f"  書いたモデル: {given.model}" if given.model else ""
    out.print(Text(f"使ったツール: {given.tool_name}{by}", style="dim"))
    for warning in given.warnings:
        err.print(Text(f"注意: {warning}", style="yellow"))


def _place(title: str, headings: Sequence[str]) -> str:
    """Where a passage stands; a first heading that repeats the title is not said twice."""
    return " › ".join([title, *(heading for heading in headings if heading != title)])


def _file(source: Mapping[str, Any]) -> str:
    """The file of a passage, with the page where it has pages."""
    page = source.get("page")
    return source["file"] if page is None else f"{source['file']} p.{page}"


def show_results(body: Mapping[str, Any]) -> None:
    """Results as a person reads them: passage, source, score, and the reasons when asked for."""
    for rank, result in enumerate(body["results"], 1):
        meta = result["metadata"]
        place = _place(meta["document_title"], meta["heading_path"])
        out.print(
            Panel(
                Text(result["content"]),
                title=Text(f"{rank}. {place}"),
                title_align="left",
                subtitle=Text(f"{_file(meta['source'])}  スコア {result['score']:.2f}"),
                subtitle_align="right",
            ),
            soft_wrap=False,
        )
        if "ranks" in meta:
            scores = [
                f"{label} {meta[key]:.2f}"
                + (f"（{meta['ranks'][stage]}位）" if stage in meta["ranks"] else "")
                for label, key, stage in (
                    ("全文", "sparse_score", "sparse"),
                    ("ベクトル", "dense_score", "dense"),
                    ("融合", "rrf_score", "rrf"),
                    ("候補内BM25", "bm25_score", "bm25"),
                    ("再ランク", "cross_encoder_score", "rerank"),
                )
                if meta.get(key) is not None
            ]
            out.print(Text("   理由: " + " → ".join(scores), style="dim"))
    if not body["results"]:
        best = body.get("best_score_below_threshold")
        hint = (
            f"（閾値 {body['threshold']} に届いた箇所がありません。最高は {best}）"
            if best is not None
            else ""
        )
        out.print(f"見つかりませんでした。{hint}")
        if best is not None:
            out.print("言い換えるか、--threshold を下げてください。 Rephrase it, or lower --threshold.")
    for warning in body.get("warnings", ()):
        err.print(Text(f"注意: {warning}", style="yellow"))
    if "explain" in body:
        stages = " / ".join(
            f"{each['stage']} {each['count']}件 {each['ms']}ms" for each in body["explain"]["stages"]
        )
        out.print(Text(f"段階: {stages}", style="dim"))
    out.print(Text(f"{body['count']}件  {body['took_ms']} ms  run {body['run_id']}", style="dim"))
