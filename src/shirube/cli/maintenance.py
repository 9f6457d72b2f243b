"""The verbs that look after indexes: status and reindex."""

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.table import Table

from shirube import __version__
from shirube.cli.output import out, progress_bar, show_json
from shirube.errors import NotFound, Unavailable
from shirube.ingest.embedding import embed_missing
from shirube.models.errors import ModelError
from shirube.settings import load_settings
from shirube.store import bases, patents
from shirube.store.bases import KnowledgeBase
from shirube.toolsets.knowledge.feed import BODY, TITLE
from shirube.toolsets.registry import Application


def show_status(as_json: bool) -> None:
    application = Application(load_settings())
    workspace = application.workspace()
    with workspace.database.read() as connection:
        found = bases.every_base(connection)
        publications = patents.tenants(connection)
    embedder, reranker = workspace.embedder, workspace.reranker
    rows: list[dict[str, Any]] = []
    for held in found:
        base, statistics = held.base, held.statistics
        space = application.knowledge().space(base.id)
        current = space.refresh()
        rows.append(
            {
                "name": base.name,
                "tenant_id": held.tenant,
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
        f"{row['name']}: ベクトルが足りません。 shirube reindex --vectors --kb {row['knowledge_base_id']}"
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
        "publications": publications,
        "advice": advice,
    }
    if as_json:
        show_json(body)
        return
    out.print(f"shirube {__version__}  データ: {body['home']}（{body['database']}）")
    out.print(f"埋め込み: {body['embedder']}  再ランキング: {body['reranker']}")
    table = Table("ナレッジベース", "テナント", "文書", "箇所", "索引", "ベクトル")
    for row in rows:
        state = "最新" if row["index"] == "current" else "更新待ち"
        counts = [str(row[name]) for name in ("documents", "passages", "vectors")]
        table.add_row(row["name"], row["tenant_id"], *counts[:2], state, counts[2])
    if rows:
        out.print(table)
    for tenant, count in publications.items():
        out.print(f"特許（{tenant}）: {count} 件")
    for line in advice:
        out.print(line)


def rebuild(name: str | None, *, vectors: bool, as_json: bool) -> None:
    """The indexes of all tenants' bases and publications anew, or of those of one name or id."""
    application = Application(load_settings())
    with application.workspace().database.read() as connection:
        held = bases.every_base(connection)
        tenants = patents.tenants(connection)
    written = None if name is None else unicodedata.normalize("NFC", name)
    chosen = [each for each in held if written in (None, each.base.name, each.base.id)]
    if name is not None and not chosen:
        raise NotFound(f"Knowledge base not found: {name}", f"ナレッジベース「{name}」が見つかりません。")
    done = []
    with _models_told(), application.workspace().embedding():
        for each in chosen:
            done.append(_base_rebuilt(application, each.base, vectors=vectors))
            if not as_json:
                out.print(
                    f"{each.base.name}: {done[-1]['passages']} 箇所、ベクトル追加 {done[-1]['vectors_added']}"
                )
        for tenant in tenants if name is None else ():
            added = _publications_rebuilt(application, tenant, vectors=vectors)
            if not as_json:
                out.print(f"特許（{tenant}）: {tenants[tenant]} 件、ベクトル追加 {added}")
    if as_json:
        show_json({"rebuilt": done})


def _base_rebuilt(application: Application, base: KnowledgeBase, *, vectors: bool) -> dict[str, Any]:
    space, embedder = application.knowledge().space(base.id), application.workspace().embedder
    if not vectors:
        with progress_bar(f"{base.name}: 索引") as progress:
            space.rebuild(progress)
    added = 0
    if embedder:
        with progress_bar(f"{base.name}: ベクトル") as progress:
            added = embed_missing(space, embedder, BODY, TITLE, progress)
            application.knowledge().summarise(base.id)
    return {"name": base.name, "passages": space.count(), "vectors_added": added}


def _publications_rebuilt(application: Application, tenant: str, *, vectors: bool) -> int:
    library = application.patents().library
    if not vectors:
        with progress_bar("特許: 索引") as progress:
            library.space(tenant).rebuild(progress)
    with progress_bar("特許: ベクトル") as progress:
        return library.embed(tenant, progress)


@contextmanager
def _models_told() -> Iterator[None]:
    try:
        yield
    except ModelError as error:
        raise Unavailable(
            f"Vectors could not be made: {error}",
            f"ベクトルを作れませんでした: {error}",
            hint="それまでの検索はそのまま使えます。 Searches go on as before.",
        ) from error
