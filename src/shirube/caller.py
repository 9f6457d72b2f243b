"""Who asks. Every store and index call takes a Caller; there is no call without one."""

from dataclasses import dataclass
from enum import IntEnum

LOCAL_TENANT = "local"


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


LOCAL = Caller(
    tenant=LOCAL_TENANT,
    subject="local",
    clearance=Confidentiality.top_secret,
    roles=frozenset({"admin"}),
    every_department=True,
)
