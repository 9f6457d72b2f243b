"""`shirube keys`, `shirube token` and `shirube audit`: who may come in, and who was there."""

import unicodedata
from pathlib import Path
from typing import Annotated

import typer

from shirube.caller import Caller
from shirube.cli.verbs.options import As, Json, MaybeDocs, caller_of

keys = typer.Typer(no_args_is_help=True, help="APIキー。 API keys.")
audit = typer.Typer(no_args_is_help=True, help="監査ログ。 The audit log.")

store = typer.Typer(no_args_is_help=True, help="データの置き場所。 Where data are kept.")
mcp = typer.Typer(no_args_is_help=True, help="MCP クライアントの設定。 Set up MCP clients.")


def _composed(name: str | None) -> str | None:
    """As claims are kept, whichever way the terminal writes them."""
    return None if name is None else unicodedata.normalize("NFC", name)


Tenant = Annotated[
    str | None,
    typer.Option(
        "--tenant",
        callback=_composed,
        help="このテナントだけ（省くと全部）。 This tenant only; all if left out.",
    ),
]
Scopes = Annotated[
    list[str] | None,
    typer.Option(
        "--scope", help="使えるツールセット（繰り返し可。省くと全部）。 Toolsets it opens; all if left out."
    ),
]


@keys.command("create")
def keys_create(
    name: Annotated[str, typer.Argument(help="何のキーか。 What it is for.")],
    scope: Scopes = None,
    days: Annotated[int | None, typer.Option(min=1, max=3650, help="有効な日数。 Days until it ends.")] = 90,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """キーを作ります。表示されるのは一度だけです。 Make a key; it is shown once.

    例: shirube keys create 検索ボット --scope knowledge --as '{"tenant_id":"甲社","sub":"bot","clearance":"internal"}'
    """
    from shirube.cli.serving import make_key

    make_key(name, scope or [], caller_of(as_), days, as_json=as_json)


@keys.command("list")
def keys_list(tenant: Tenant = None, as_json: Json = False) -> None:
    """キーの一覧。 The keys of all tenants, or of one."""
    from shirube.cli.serving import show_keys

    show_keys(tenant, as_json=as_json)


@keys.command("revoke")
def keys_revoke(
    key: Annotated[str, typer.Argument(help="キーの ID。 Its id.")],
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """キーを取り消します。 Make a key useless at once."""
    from shirube.cli.serving import end_key

    end_key(tenant, key, as_json=as_json)


def token(
    scope: Scopes = None,
    minutes: Annotated[int, typer.Option(min=1, max=1440, help="有効な分数。 Minutes until it ends.")] = 60,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """試すためのトークン（HS256）を作ります。 A token for trials, signed with SHIRUBE_JWT_SECRET.

    例: shirube token --scope knowledge --as '{"tenant_id":"甲社","sub":"hanako","departments":["人事"]}'
    """
    from shirube.cli.serving import make_token

    make_token(caller_of(as_), scope or ["*"], minutes, as_json=as_json)


def _named(claims: str | None) -> Caller | None:
    """Whom `--as` names; whoever sits here has the data folder, and with it every tenant."""
    return None if claims is None else caller_of(claims)


@audit.command("tail")
def audit_tail(
    last: Annotated[int, typer.Option("-n", min=1, max=100_000, help="件数。 How many.")] = 20,
    tenant: Tenant = None,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """最近の呼び出し。 The latest calls, without what was asked."""
    from shirube.cli.serving import show_audit

    show_audit(_named(as_), tenant, last=last, as_csv=False, as_json=as_json)


@audit.command("export")
def audit_export(tenant: Tenant = None, as_: As = None, as_json: Json = False) -> None:
    """残っている呼び出しを全部、CSV か JSON で。 All calls that are kept, as CSV or JSON."""
    from shirube.cli.serving import show_audit

    show_audit(_named(as_), tenant, last=None, as_csv=not as_json, as_json=as_json)


@store.command("copy")
def store_copy(
    target: Annotated[str, typer.Option("--to", metavar="URL", help="postgresql+psycopg://…（空のもの）")],
    as_json: Json = False,
) -> None:
    """使っているデータを全部、空のデータベースへコピーします。 Copy everything into an empty database.

    例: shirube store copy --to postgresql+psycopg://shirube@db/shirube
    """
    from shirube.cli.serving import copy_to

    copy_to(target, as_json=as_json)


@mcp.command("install")
def mcp_install(
    client: Annotated[
        str,
        typer.Option("--client", help="claude-desktop・claude-code・cursor・vscode のどれか。 Which client."),
    ],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--project", help="設定を置くプロジェクト（省くとこの場所）。 The project; here if left out."
        ),
    ] = None,
    docs: MaybeDocs = None,
    yes: Annotated[bool, typer.Option("--yes", help="確認せずに書きます。 Write without asking.")] = False,
    as_json: Json = False,
) -> None:
    """クライアントの設定に shirube を加えます。変更を見せてから書きます。 Add shirube to a client's settings.

    例: shirube mcp install --client claude-desktop
    """
    from shirube.cli.clients import install

    install(client, folder or Path.cwd(), docs, yes=yes, as_json=as_json)
