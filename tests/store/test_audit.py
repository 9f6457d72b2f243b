"""Looking back and keys, by tenant: callers have their own, whoever owns the data all of them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from shirube.caller import LOCAL, Caller
from shirube.errors import InvalidInput
from shirube.store.audit import calls, every_call, record_call
from shirube.store.clock import now
from shirube.store.database import Database
from shirube.store.keys import create_key, list_keys, revoke_key

ELSEWHERE = replace(LOCAL, tenant="甲社")
NOBODY = Caller("-", "-")


def test_calls_are_in_order_of_time_whoever_wrote_them_down_first(database: Database) -> None:
    started = now()
    with database.write() as connection:
        for operation, caller, seconds in (
            ("c", LOCAL, 3),
            ("a", ELSEWHERE, 1),
            ("d", NOBODY, 4),
            ("b", LOCAL, 2),
        ):
            record_call(connection, caller, operation, "ok", 1.0, at=started + timedelta(seconds=seconds))
    with database.read() as connection:
        assert [(each.operation, each.tenant) for each in every_call(connection)] == [
            ("a", "甲社"),
            ("b", "local"),
            ("c", "local"),
            ("d", "-"),
        ]
        assert [each.operation for each in every_call(connection, last=2)] == ["c", "d"]
        assert [each.operation for each in every_call(connection, "-")] == ["d"]
        assert every_call(connection, "") == []


def test_a_caller_sees_the_calls_of_their_tenant_alone(database: Database) -> None:
    with database.write() as connection:
        for caller in (LOCAL, ELSEWHERE, NOBODY):
            record_call(connection, caller, "search_documents", "ok", 1.0)
    with database.read() as connection:
        assert [each.tenant for each in calls(connection, ELSEWHERE)] == ["甲社"]
        assert calls(connection, replace(LOCAL, tenant="乙社")) == []


def test_keys_are_of_a_tenant_or_of_all_for_whoever_owns_them(database: Database) -> None:
    with database.write() as connection:
        ours, theirs = (
            create_key(connection, "k", each, ["knowledge"], None)[0] for each in (LOCAL, ELSEWHERE)
        )
        assert [key.id for key in list_keys(connection, "甲社")] == [theirs.id]
        assert list_keys(connection, "") == []
        assert [key.id for key in list_keys(connection, None)] == [ours.id, theirs.id]
        assert not revoke_key(connection, "local", theirs.id)
        assert not revoke_key(connection, "", theirs.id)
        assert revoke_key(connection, None, theirs.id)
        assert not revoke_key(connection, None, theirs.id)
        assert [key.id for key in list_keys(connection, None) if key.revoked_at is None] == [ours.id]


def test_a_name_that_the_store_has_no_room_for_is_refused_wherever_it_is(database: Database) -> None:
    with database.write() as connection:
        assert create_key(connection, "鍵" * 200, LOCAL, [], None)[0].name == "鍵" * 200
        with pytest.raises(InvalidInput) as refused:
            create_key(connection, "鍵" * 201, LOCAL, [], None)
    assert "200" in refused.value.message
    assert "200 文字以内" in refused.value.ja
