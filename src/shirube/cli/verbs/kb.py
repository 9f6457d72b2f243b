"""`shirube kb`: knowledge bases."""

from pathlib import Path
from typing import Annotated

import typer

from shirube.cli.verbs.options import As, BaseName, Json, caller_of

kb = typer.Typer(no_args_is_help=True, help="ナレッジベースの管理。 Manage knowledge bases.")


@kb.command("add")
def kb_add(
    paths: Annotated[list[Path], typer.Argument(help="ファイルまたはフォルダー。 Files or folders.")],
    base: BaseName,
    collection: Annotated[
        str, typer.Option("--collection", help="入れるコレクション。 The collection they go to.")
    ] = "default",
    department: Annotated[
        str | None, typer.Option("--department", help="読める部署。 Only this department may read them.")
    ] = None,
    confidentiality: Annotated[
        str | None,
        typer.Option("--confidentiality", help="public, internal, confidential, secret, top_secret"),
    ] = None,
    description: Annotated[str, typer.Option("--description", help="新しく作るときの説明。")] = "",
    sync: Annotated[
        bool, typer.Option("--sync", help="フォルダーから消えた文書も外します。 Also remove what is gone.")
    ] = False,
    vectors: Annotated[
        bool, typer.Option("--vectors/--no-vectors", help="ベクトルも作ります。 Make vectors too.")
    ] = True,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """文書を入れます。変わっていないファイルは飛ばします。 Add documents; unchanged files are skipped.

    例: shirube kb add ./規程 --kb 社内規程
    """
    from shirube.cli.knowledge import add

    add(
        paths,
        base,
        collection=collection,
        department=department,
        confidentiality=confidentiality,
        description=description,
        sync=sync,
        vectors=vectors,
        caller=caller_of(as_),
        as_json=as_json,
    )


@kb.command("list")
def kb_list(as_: As = None, as_json: Json = False) -> None:
    """ナレッジベースの一覧。 List knowledge bases."""
    from shirube.cli.knowledge import show_list

    show_list(caller_of(as_), as_json)


@kb.command("share")
def kb_share(
    base: Annotated[str, typer.Argument(help="名前または ID。 Name or id.")],
    public: Annotated[
        bool | None,
        typer.Option("--public/--private", help="テナントの全員に公開するか。 For all of the tenant."),
    ] = None,
    join: Annotated[
        list[str] | None, typer.Option("--member", help="メンバーに加えます。 Let this subject in.")
    ] = None,
    leave: Annotated[
        list[str] | None, typer.Option("--remove-member", help="メンバーから外します。 Let them out.")
    ] = None,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """誰が読めるかを決めます。指定しなければ今の状態を表示します。 Say who may read it, or show who may.

    例: shirube kb share 社内規程 --public
    """
    from shirube.cli.knowledge import share

    share(base, public=public, join=join or [], leave=leave or [], caller=caller_of(as_), as_json=as_json)


@kb.command("remove")
def kb_remove(
    base: Annotated[str, typer.Argument(help="名前または ID。 Name or id.")],
    yes: Annotated[bool, typer.Option("--yes", help="確認せずに削除します。 Do not ask.")] = False,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """ナレッジベースを文書と索引ごと削除します。 Remove a knowledge base with all it holds."""
    from shirube.cli.knowledge import remove

    remove(base, yes=yes, caller=caller_of(as_), as_json=as_json)
