"""The verbs around serving a company: the server itself, keys, tokens for trials, and the audit log."""

import csv
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shirube.caller import Caller
from shirube.cli.output import err, out, progress_bar, show_json
from shirube.errors import AccessDenied, InvalidInput, NotFound
from shirube.settings import TOOLSETS, load_settings
from shirube.store.audit import Call, calls, every_call
from shirube.store.clock import now
from shirube.store.keys import Key, create_key, list_keys, revoke_key
from shirube.toolsets.registry import Application

if TYPE_CHECKING:
    from shirube.serve.settings import ServeSettings


def serve_over_http(
    docs: Path | None,
    host: str | None,
    port: int | None,
    workers: int,
    *,
    insecure_local: bool,
    log: str,
    conformance: bool,
) -> None:
    """Workers are processes of their own, so what was asked for goes to them by the environment."""
    if log not in ("pretty", "json"):
        raise InvalidInput("--log must be pretty or json", "--log は pretty か json です。")
    given = {
        "SHIRUBE_DOCS": str(docs.resolve()) if docs else None,
        "SHIRUBE_HOST": host,
        "SHIRUBE_PORT": str(port) if port is not None else None,
        "SHIRUBE_INSECURE_LOCAL": "1" if insecure_local else None,
        "SHIRUBE_LOG": log,
        "SHIRUBE_CONFORMANCE": "1" if conformance else None,
    }
    os.environ.update({name: value for name, value in given.items() if value is not None})
    from shirube.serve.run import serve_http
    from shirube.serve.settings import serve_settings

    settings = serve_settings()
    _check(settings)
    at = settings.address
    err.print(f"MCP: {at}/mcp  REST: {at}/v1  OpenAPI: {at}/openapi.json")
    if not settings.insecure_local:
        err.print(
            "トークンが必要です（shirube keys create）。 Tokens are needed (shirube keys create).",
            style="dim",
        )
    serve_http(workers)


def _check(settings: "ServeSettings") -> None:
    """What would make every call fail is told here, not to the callers."""
    from shirube.store.database import check_url
    from shirube.toolsets.pages.folder import open_folder

    chosen = load_settings()
    check_url(chosen.database_url)
    if chosen.docs:
        open_folder(chosen.docs)
    keys = settings.jwt.jwks if settings.jwt else None
    if keys and "://" not in keys and not Path(keys).is_file():
        err.print(
            "SHIRUBE_JWKS のファイルがありません。できるまで JWT は受け付けません。 "
            "There is no such file; no JWT is taken until there is.",
            style="yellow",
        )


def make_key(name: str, scopes: Sequence[str], caller: Caller, days: int | None, *, as_json: bool) -> None:
    application = Application(load_settings())
    if not name.strip():
        raise InvalidInput("A key needs a name", "キーには名前が必要です。")
    wanted = list(scopes) or list(TOOLSETS)
    _check_scopes(wanted)
    expires = now() + timedelta(days=days) if days else None
    with application.workspace().database.write() as connection:
        key, written = create_key(connection, name, caller, wanted, expires)
    if as_json:
        show_json({**_shown(key), "key": written})
        return
    out.print(written)
    err.print("このキーは二度と表示されません。 This key is shown only once.", style="yellow")


def _check_scopes(wanted: Sequence[str]) -> None:
    if unknown := [each for each in wanted if each not in TOOLSETS]:
        raise InvalidInput(
            f"There is no scope {unknown[0]}; there are {', '.join(TOOLSETS)}",
            f"scope {unknown[0]} はありません（{'・'.join(TOOLSETS)}）。",
        )


def show_keys(tenant: str | None, *, as_json: bool) -> None:
    """The keys of a tenant, or of all."""
    with Application(load_settings()).workspace().database.read() as connection:
        found = list_keys(connection, tenant)
    if as_json:
        show_json([_shown(key) for key in found])
        return
    for key in found:
        state = "取り消し済み" if key.revoked_at else "期限切れ" if _is_over(key.expires_at) else "有効"
        ends = f"〜{key.expires_at:%Y-%m-%d}" if key.expires_at else "期限なし"
        out.print(
            f"{key.id}  {key.name}  {key.caller.tenant}  {key.caller.subject}  "
            f"{','.join(sorted(key.scopes))}  {ends}  {state}"
        )


def end_key(tenant: str | None, key_id: str, *, as_json: bool) -> None:
    with Application(load_settings()).workspace().database.write() as connection:
        if not revoke_key(connection, tenant, key_id):
            raise NotFound(f"No key {key_id} that is still good", f"有効なキー {key_id} はありません。")
    if as_json:
        show_json({"revoked": key_id})
    else:
        out.print(f"{key_id} を取り消しました。")


def make_token(caller: Caller, scopes: Sequence[str], minutes: int, *, as_json: bool) -> None:
    """A token signed with the secret that the server checks: for trials, where no identity provider is at hand."""
    import jwt

    from shirube.serve.identity import EVERYTHING
    from shirube.serve.settings import serve_settings

    _check_scopes([each for each in scopes if each != EVERYTHING])
    settings = serve_settings().jwt
    if settings is None or settings.secret is None:
        raise InvalidInput(
            "SHIRUBE_JWT_SECRET, SHIRUBE_JWT_AUDIENCE and SHIRUBE_JWT_ISSUER are needed",
            "SHIRUBE_JWT_SECRET・SHIRUBE_JWT_AUDIENCE・SHIRUBE_JWT_ISSUER を設定してください。",
        )
    started = int(time.time())
    claims = {
        "iss": settings.issuer,
        "aud": settings.audience,
        "sub": caller.subject,
        "tenant_id": caller.tenant,
        "departments": sorted(caller.departments),
        "clearance": caller.clearance.name,
        "roles": sorted(caller.roles),
        "scope": " ".join(scopes),
        "iat": started,
        "exp": started + minutes * 60,
    }
    token = jwt.encode(claims, settings.secret, algorithm="HS256")
    if as_json:
        show_json({"token": token})
    else:
        out.print(token)


def copy_to(target: str, *, as_json: bool) -> None:
    """Everything of the store in use into another, which has to be empty."""
    from shirube.store.copying import copy_store
    from shirube.store.database import open_database

    source = Application(load_settings()).workspace().database
    into = open_database(target)
    with progress_bar("コピーしています") as progress:
        copied = copy_store(source, into, progress)
    into.close()
    if as_json:
        show_json({"copied": copied})
        return
    out.print(
        f"{sum(copied.values()):,} 行をコピーしました。次から SHIRUBE_STORE に新しいアドレスを設定してください。"
    )


def show_audit(
    caller: Caller | None, tenant: str | None, *, last: int | None, as_csv: bool, as_json: bool
) -> None:
    """The calls of the caller's tenant, oldest first; whoever sits here sees those of all, or of the one they name."""
    if caller is not None and not caller.is_admin:
        raise AccessDenied("The audit log is for admins", "監査ログは管理者だけが見られます。")
    if caller is not None and tenant not in (None, caller.tenant):
        raise InvalidInput(
            "--as and --tenant name different tenants", "--as と --tenant のテナントが違います。"
        )
    application = Application(load_settings())
    with application.workspace().database.read() as connection:
        found = calls(connection, caller, last) if caller else every_call(connection, tenant, last)
    if as_csv:
        rows = csv.DictWriter(sys.stdout, list(Call.__dataclass_fields__))
        rows.writeheader()
        rows.writerows(_row(each) for each in found)
    elif as_json:
        show_json([_row(each) for each in found])
    else:
        for each in found:
            count = "" if each.result_count is None else f"  {each.result_count}件"
            out.print(
                f"{each.at:%Y-%m-%d %H:%M:%S}  {each.tenant}  {each.subject}  {each.operation}  "
                f"{each.outcome}  {each.duration_ms:.1f} ms{count}"
            )


def _row(call: Call) -> dict[str, Any]:
    return {**asdict(call), "at": call.at.isoformat()}


def _shown(key: Key) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "tenant_id": key.caller.tenant,
        "sub": key.caller.subject,
        "scopes": sorted(key.scopes),
        "expires_at": key.expires_at.isoformat() if key.expires_at else None,
        "revoked_at": key.revoked_at.isoformat() if key.revoked_at else None,
    }


def _is_over(moment: datetime | None) -> bool:
    return moment is not None and moment <= now()
