"""Who asks. Every store and index call takes a Caller; there is no call without one."""

import time
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from shirube.errors import Unauthenticated

LOCAL_TENANT = "local"
# As long as the store has room for.
_LONGEST = {"tenant_id": 100, "sub": 200}


class Confidentiality(IntEnum):
    """How closely a document is kept, and how much a caller may see."""

    public = 1
    internal = 2
    confidential = 3
    secret = 4
    top_secret = 5


@dataclass(frozen=True)
class Caller:
    """A subject of one tenant. `every_department` is the local user's: their own folder holds nothing foreign."""

    tenant: str
    subject: str
    departments: frozenset[str] = frozenset()
    clearance: Confidentiality = Confidentiality.internal
    roles: frozenset[str] = frozenset()
    every_department: bool = False

    @property
    def is_admin(self) -> bool:
        return "admin" in self.roles


def claimed(claims: Mapping[str, Any]) -> Caller:
    """The caller that a token's claims name. Whoever names no tenant is nobody: there is no default one."""
    _check_time(claims.get("exp"))
    return Caller(
        tenant=_name(claims, "tenant_id"),
        subject=_name(claims, "sub"),
        departments=_names(claims, "departments"),
        clearance=_clearance(claims.get("clearance", Confidentiality.public.name)),
        roles=_names(claims, "roles"),
    )


def _check_time(expires: object) -> None:
    if expires is None:
        return
    if isinstance(expires, bool) or not isinstance(expires, int | float) or not time.time() < expires:
        raise Unauthenticated("期限が切れています。 It has expired.")


def _name(claims: Mapping[str, Any], claim: str) -> str:
    value = claims.get(claim)
    if not isinstance(value, str) or not value.strip():
        raise Unauthenticated(f"{claim} が必要です。 {claim} is required.")
    name = unicodedata.normalize("NFC", value)
    if len(name) > _LONGEST[claim]:
        raise Unauthenticated(f"{claim} が長すぎます。 {claim} is too long.")
    return name


def _names(claims: Mapping[str, Any], claim: str) -> frozenset[str]:
    value = claims.get(claim, [])
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise Unauthenticated(f"{claim} は文字列の配列です。 {claim} must be a list of texts.")
    return frozenset(unicodedata.normalize("NFC", each) for each in value)


def _clearance(value: object) -> Confidentiality:
    """By name or by number, 1 to 5."""
    for level in Confidentiality:
        if not isinstance(value, bool) and value in (level.name, level.value):
            return level
    levels = ", ".join(level.name for level in Confidentiality)
    raise Unauthenticated(f"clearance は {levels} のどれかです。 clearance must be one of them.")


LOCAL = Caller(
    tenant=LOCAL_TENANT,
    subject="local",
    clearance=Confidentiality.top_secret,
    roles=frozenset({"admin"}),
    every_department=True,
)
