"""Who a token's claims name, and who they do not."""

import time
from typing import Any

import pytest

from shirube.caller import Caller, Confidentiality, claimed
from shirube.errors import Unauthenticated

HANAKO = {"tenant_id": "甲社", "sub": "hanako"}


def test_claims_name_a_caller() -> None:
    claims = {**HANAKO, "departments": ["人事", "経理"], "clearance": "confidential", "roles": ["admin"]}
    assert claimed(claims) == Caller(
        "甲社",
        "hanako",
        frozenset({"人事", "経理"}),
        Confidentiality.confidential,
        frozenset({"admin"}),
    )


def test_claims_hold_until_they_expire() -> None:
    assert claimed({**HANAKO, "exp": time.time() + 60}).subject == "hanako"


@pytest.mark.parametrize("level", Confidentiality)
def test_clearance_is_a_name_or_a_number(level: Confidentiality) -> None:
    assert claimed({**HANAKO, "clearance": level.name}).clearance is level
    assert claimed({**HANAKO, "clearance": int(level)}).clearance is level


def test_what_is_not_claimed_is_not_given() -> None:
    caller = claimed(HANAKO)
    assert caller.clearance is Confidentiality.public
    assert not caller.departments
    assert not caller.is_admin
    assert not caller.every_department


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"sub": "hanako"},
        {"tenant_id": "", "sub": "hanako"},
        {"tenant_id": "  ", "sub": "hanako"},
        {"tenant_id": None, "sub": "hanako"},
        {"tenant_id": 5, "sub": "hanako"},
        {"tenant_id": "甲社"},
        {**HANAKO, "departments": "人事"},
        {**HANAKO, "departments": [None]},
        {**HANAKO, "roles": {"admin": True}},
        {**HANAKO, "clearance": "all"},
        {**HANAKO, "clearance": True},
        {**HANAKO, "clearance": 0},
        {**HANAKO, "clearance": 6},
        {**HANAKO, "clearance": None},
        {**HANAKO, "exp": 0},
        {**HANAKO, "exp": 1_700_000_000},
        {**HANAKO, "exp": "2099"},
        {**HANAKO, "exp": float("nan")},
        {**HANAKO, "exp": True},
    ],
)
def test_claims_that_name_nobody_are_refused_with_one_message(claims: dict[str, Any]) -> None:
    with pytest.raises(Unauthenticated) as refused:
        claimed(claims)
    assert (refused.value.status, refused.value.message) == (401, "Invalid authentication credentials")
