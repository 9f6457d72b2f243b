"""The verbs that look after indexes: status and reindex."""

from typing import Any

from rich.table import Table

from shirube import __version__
from shirube.caller import LOCAL
from shirube.cli.knowledge import find
from shirube.cli.output import out, progress_bar, show_json
from shirube.errors import Unavailable
from shirube.ingest.embedding import embed_missing
from shirube.models.errors import ModelError
from shirube.settings import load_settings
from shirube.store import bases
from shirube.toolsets.knowledge.feed import BODY, TITLE
from shirube.toolsets.registry import Application


def show_status(as_json: bool) -> None:
    application = Application(load_settings())
    workspace = application.workspace()
    with workspace.database.read() as connection:
        found = bases.list_bases(connection, LOCAL)
    embedder, reranker = workspace.embedder, workspace.reranker
    rows: list[dict[str, Any]] = []
    for base, statistics in found:
        space = application.knowledge().space(base.id)
        current = space.refresh()
        rows.append(
            {
                "name": base.name,
                "knowledge_base_id": base.id,
                "documents": statistics.total_documents,
                "passages": statistics.total_chunks,
                "index": "current" if current else "behind",
                "vectors": statistics.total_chunks - len(space.missing_vectors(embedder.name))
                if embedder
                else 0,
            }
        )
    advice = [
        f"{row['name']}: ベクトルが足りません。 shirube reindex --vectors --kb {row['name']}"
        for row in rows
        if embedder and row["vectors"] < row["passages"]
    ]
    body = {
        "version": __version__,
        "home": str(workspace.settings.home),
        "database": workspace.database.engine.dialect.name,
        "embedder": embedder.name if embedder else None,
        "reranker": reranker.name if reranker else None,
        "knowledge_bases": rows,
        "advice": advice,
    }
    if as_json:
        show_json(body)
        return
    out.print(f"shirube {__version__}  データ: {body['home']}（{body['database']}）")
    out.print(f"埋め込み: {body['embedder']}  再ランキング: {body['reranker']}")
    table = Table("ナレッジベース", "文書", "箇所", "索引", "ベクトル")
    for row in rows:
        state = "最新" if row["index"] == "current" else "更新待ち"
        table.add_row(row["name"], str(row["documents"]), str(row["passages"]), state, str(row["vectors"]))
    if rows:
        out.print(table)
    for line in advice:
        out.print(line)


def rebuild(name: str | None, *, vectors: bool, as_json: bool) -> None:
    application = Application(load_settings())
    workspace = application.workspace()
    if name:
        chosen = [find(application, name)]
    else:
        with workspace.database.read() as connection:
            chosen = [base for base, _ in bases.list_bases(connection, LOCAL)]
    done = []
    for base in chosen:
        space = application.knowledge().space(base.id)
        if not vectors:
            with progress_bar(f"{base.name}: 索引") as progress:
                space.rebuild(progress)
        embedded = 0
        if workspace.embedder:
            with progress_bar(f"{base.name}: ベクトル") as progress:
                try:
                    embedded = embed_missing(space, workspace.embedder, BODY, TITLE, progress)
                    application.knowledge().summarise(base.id)
                except ModelError as error:
                    raise Unavailable(
                        f"Vectors could not be made: {error}",
                        f"ベクトルを作れませんでした: {error}",
                        hint="それまでの検索はそのまま使えます。 Searches go on as before.",
                    ) from error
        done.append({"name": base.name, "passages": space.count(), "vectors_added": embedded})
        if not as_json:
            out.print(f"{base.name}: {space.count()} 箇所、ベクトル追加 {embedded}")
    if as_json:
        show_json({"rebuilt": done})
