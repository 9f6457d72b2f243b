"""API keys: shown once when they are made, kept as a hash, each with who it stands for and what it opens."""

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Row, String, insert, select, update

from shirube.caller import Caller, Confidentiality
from shirube.errors import InvalidInput
from shirube.store.clock import aware, now
from shirube.store.tables import api_keys

PREFIX = "shk_"
_ID_BYTES, _SECRET_BYTES = 6, 32


@dataclass(frozen=True)
class Key:
    id: str
    name: str
    caller: Caller
    scopes: frozenset[str]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


def create_key(
    connection: Connection, name: str, caller: Caller, scopes: Sequence[str], expires_at: datetime | None
) -> tuple[Key, str]:
    """A new key, and the text that whoever uses it sends; nobody can read that again."""
    _check_name(name)
    key_id, secret = secrets.token_hex(_ID_BYTES), secrets.token_urlsafe(_SECRET_BYTES)
    made = now()
    connection.execute(
        insert(api_keys).values(
            id=key_id,
            name=name,
            tenant_id=caller.tenant,
            subject=caller.subject,
            hash=_hash(secret),
            scopes=sorted(set(scopes)),
            departments=sorted(caller.departments),
            clearance=int(caller.clearance),
            roles=sorted(caller.roles),
            created_at=made,
            expires_at=expires_at,
        )
    )
    return Key(key_id, name, caller, frozenset(scopes), made, expires_at, None), f"{PREFIX}{key_id}_{secret}"


def find_key(connection: Connection, written: str) -> Key | None:
    """The key that this is, if it is good now. A wrong secret takes as long as a right one."""
    key_id, _, secret = written.removeprefix(PREFIX).partition("_")
    row = connection.execute(select(api_keys).where(api_keys.c.id == key_id)).first()
    expected = row.hash if row else _hash("")
    if not hmac.compare_digest(expected, _hash(secret)) or row is None or row.revoked_at is not None:
        return None
    key = _key(row)
    return None if key.expires_at is not None and key.expires_at <= now() else key


def list_keys(connection: Connection, tenant: str | None) -> list[Key]:
    """The keys of a tenant, oldest first. `None` is for whoever owns the data: those of all."""
    wanted = select(api_keys).order_by(api_keys.c.created_at, api_keys.c.id)
    if tenant is not None:
        wanted = wanted.where(api_keys.c.tenant_id == tenant)
    return [_key(row) for row in connection.execute(wanted)]


def revoke_key(connection: Connection, tenant: str | None, key_id: str) -> bool:
    """Whether there was such a key of the tenant that was still good. `None` is as above: whosever it is."""
    wanted = update(api_keys).where(api_keys.c.id == key_id, api_keys.c.revoked_at.is_(None))
    if tenant is not None:
        wanted = wanted.where(api_keys.c.tenant_id == tenant)
    return bool(connection.execute(wanted.values(revoked_at=now())).rowcount)


def _check_name(name: str) -> None:
    """SQLite would take any length, and PostgreSQL would not take the row over later."""
    kind = api_keys.c.name.type
    if isinstance(kind, String) and kind.length is not None and len(name) > kind.length:
        raise InvalidInput(
            f"A key's name has at most {kind.length} characters; this one has {len(name)}",
            f"キーの名前は {kind.length} 文字以内にしてください（{len(name)} 文字あります）。",
        )


def _key(row: Row[tuple[object, ...]]) -> Key:
    values = row._mapping
    return Key(
        values["id"],
        values["name"],
        Caller(
            tenant=values["tenant_id"],
            subject=values["subject"],
            departments=frozenset(values["departments"]),
            clearance=Confidentiality(values["clearance"]),
            roles=frozenset(values["roles"]),
        ),
        frozenset(values["scopes"]),
        aware(values["created_at"]),
        *(aware(each) if (each := values[name]) else None for name in ("expires_at", "revoked_at")),
    )


def _hash(secret: str) -> str:
    """Enough for a secret of 256 random bits: nobody guesses those."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
