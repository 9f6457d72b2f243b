"""The verbs around serving: keys, tokens, the audit log, moving the store, and the settings of clients."""

import json
import sqlite3
import stat
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest

from shirube.caller import LOCAL, Caller
from shirube.errors import InvalidInput
from shirube.store import bases
from shirube.store.audit import record_call
from shirube.store.clock import now
from shirube.store.copying import copy_store
from shirube.store.database import Database, open_database
from shirube.store.tables import api_keys, metadata
from tests.cli import command
from tests.stores import is_postgres, store_url

SECRET = "x" * 40


CHECKED: dict[str, Any] = {
    "SHIRUBE_JWT_SECRET": SECRET,
    "SHIRUBE_JWT_AUDIENCE": "a",
    "SHIRUBE_JWT_ISSUER": "b",
}


def run(home: Path, *arguments: str, code: int = 0, **environ: str) -> str:
    own = {"PATH": "/usr/bin:/bin", "SHIRUBE_HOME": str(home), "SHIRUBE_EMBEDDER": "none"}
    done = command.run(arguments, {**own, **_stores(), **environ})
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def _stores() -> dict[str, str]:
    import os

    names = ("SHIRUBE_TEST_STORE", "SHIRUBE_TEST_POSTGRES", "PYTHONPATH", "HOME")
    return {name: os.environ[name] for name in names if name in os.environ}


def test_a_key_is_made_listed_and_revoked(tmp_path: Path) -> None:
    made = json.loads(run(tmp_path, "keys", "create", "検索ボット", "--scope", "knowledge", "--json"))
    assert made["key"].startswith("shk_")
    assert made["scopes"] == ["knowledge"]
    assert run(tmp_path, "keys", "create", "別").startswith("shk_")
    listed = json.loads(run(tmp_path, "keys", "list", "--json"))
    assert [each["name"] for each in listed] == ["検索ボット", "別"]
    assert "key" not in listed[0]
    run(tmp_path, "keys", "revoke", made["id"])
    assert "取り消し済み" in run(tmp_path, "keys", "list")
    assert made["id"] in run(tmp_path, "keys", "revoke", made["id"], code=1)
    assert "知識" in run(tmp_path, "keys", "create", "x", "--scope", "知識", code=1)


def test_keys_of_every_tenant_are_listed_and_end_by_their_id(tmp_path: Path) -> None:
    bot = json.dumps({"tenant_id": "ガ社", "sub": "bot"})
    run(tmp_path, "keys", "create", "こちら")
    made = json.loads(run(tmp_path, "keys", "create", "あちら", "--as", bot, "--json"))
    assert [each["tenant_id"] for each in json.loads(run(tmp_path, "keys", "list", "--json"))] == [
        "local",
        "ガ社",
    ]
    assert "あちら  ガ社  bot" in run(tmp_path, "keys", "list")
    # The name of a tenant is the same however a terminal composes it.
    for tenant in ("ガ社", unicodedata.normalize("NFD", "ガ社")):
        [theirs] = json.loads(run(tmp_path, "keys", "list", "--tenant", tenant, "--json"))
        assert theirs["id"] == made["id"]
    assert json.loads(run(tmp_path, "keys", "list", "--tenant", "", "--json")) == []
    run(tmp_path, "keys", "revoke", made["id"], "--tenant", "local", code=1)
    run(tmp_path, "keys", "revoke", made["id"])
    assert "取り消し済み" in run(tmp_path, "keys", "list", "--tenant", "ガ社")
    assert "取り消し済み" not in run(tmp_path, "keys", "list", "--tenant", "local")


def test_a_key_with_too_long_a_name_is_not_made(tmp_path: Path) -> None:
    said = run(tmp_path, "keys", "create", "鍵" * 250, code=1)
    assert "200 文字以内" in said
    assert "at most 200 characters" in said
    assert json.loads(run(tmp_path, "keys", "list", "--json")) == []


def test_a_token_for_trials_says_who_it_is_for(tmp_path: Path) -> None:
    person = json.dumps(
        {"tenant_id": "甲社", "sub": "hanako", "departments": ["人事"], "clearance": "secret"}
    )
    token = run(tmp_path, "token", "--scope", "knowledge", "--as", person, **CHECKED).strip()
    claims = jwt.decode(token, SECRET, algorithms=["HS256"], audience="a", issuer="b")
    assert (claims["tenant_id"], claims["sub"], claims["scope"]) == ("甲社", "hanako", "knowledge")
    assert "SHIRUBE_JWT_SECRET" in run(tmp_path, "token", code=1)


def test_the_audit_log_tells_who_called_what_and_not_what_was_asked(tmp_path: Path) -> None:
    run(tmp_path, "call", "list_knowledge_bases", "--args", "{}")
    run(tmp_path, "call", "kb_answer", "--args", json.dumps({"query": "ひみつの質問"}))
    [first, second] = json.loads(run(tmp_path, "audit", "tail", "--json"))
    assert (first["operation"], first["outcome"]) == ("list_knowledge_bases", "ok")
    assert second["operation"] == "kb_answer"
    exported = run(tmp_path, "audit", "export")
    assert exported.splitlines()[0].startswith("at,tenant,subject,operation,outcome")
    assert "ひみつ" not in exported
    nobody = json.dumps({"tenant_id": "local", "sub": "hanako"})
    assert "admin" in run(tmp_path, "audit", "tail", "--as", nobody, code=1)


def test_the_audit_log_is_of_all_tenants_and_of_those_that_were_not_let_in(tmp_path: Path) -> None:
    hanako = json.dumps({"tenant_id": "甲社", "sub": "hanako", "roles": ["admin"]})
    run(tmp_path, "call", "list_knowledge_bases", "--as", hanako)
    database = open_database(store_url(tmp_path / "shirube.db"))
    with database.write() as connection:
        record_call(connection, Caller("-", "-"), "-", "UNAUTHENTICATED", 0.0)
    database.close()
    run(tmp_path, "call", "list_knowledge_bases")

    def tenants(*arguments: str) -> list[str]:
        return [each["tenant"] for each in json.loads(run(tmp_path, "audit", *arguments, "--json"))]

    assert tenants("tail") == tenants("export") == ["甲社", "-", "local"]
    assert tenants("tail", "-n", "2") == ["-", "local"]
    assert tenants("tail", "--tenant", "-") == tenants("export", "--tenant", "-") == ["-"]
    assert tenants("tail", "--as", hanako) == tenants("tail", "--as", hanako, "--tenant", "甲社") == ["甲社"]
    assert "--tenant" in run(tmp_path, "audit", "export", "--as", hanako, "--tenant", "local", code=1)
    assert "  甲社  hanako  list_knowledge_bases  ok  " in run(tmp_path, "audit", "tail")
    assert [line.split(",")[1] for line in run(tmp_path, "audit", "export").splitlines()] == [
        "tenant",
        "甲社",
        "-",
        "local",
    ]


def test_everything_moves_to_another_store(tmp_path: Path) -> None:
    (tmp_path / "規程").mkdir()
    (tmp_path / "規程" / "副業.md").write_text("# 副業\n\n副業には許可が必要です。\n")
    home = tmp_path / "home"
    run(home, "kb", "add", str(tmp_path / "規程"), "--kb", "規程")
    target = store_url(tmp_path / "target.db")
    copied = json.loads(run(home, "store", "copy", "--to", target, "--json"))["copied"]
    assert copied["documents"] == copied["knowledge_bases"] == 1
    assert set(copied) == {table.name for table in metadata.sorted_tables}
    found = run(
        tmp_path / "other",
        "search",
        "副業",
        "--kb",
        "規程",
        "--threshold",
        "0",
        "--json",
        SHIRUBE_STORE=target,
    )
    assert json.loads(found)["count"] == 1
    assert "空ではありません" in run(home, "store", "copy", "--to", target, code=1)
    # And what comes after gets numbers of its own.
    (tmp_path / "規程" / "手当.md").write_text("# 手当\n\n手当は月額5千円です。\n")
    again = run(
        tmp_path / "other",
        "kb",
        "add",
        str(tmp_path / "規程"),
        "--kb",
        "規程",
        "--json",
        SHIRUBE_STORE=target,
    )
    assert json.loads(again)["added"] == ["規程/手当.md"]


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = (open_database(store_url(tmp_path / f"{name}.db")) for name in ("source", "target"))
    with source.write() as connection:
        bases.create_base(connection, LOCAL, "規程")

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_store(source, target, interrupt)
    assert sum(copy_store(source, target).values()) > 0


@pytest.fixture
def careless(tmp_path: Path) -> Iterator[Database]:
    """SQLite, which takes values of any length and, if told so, rows that belong to nothing."""
    database = open_database(f"sqlite:///{tmp_path / 'careless' / 'shirube.db'}")
    yield database
    database.close()


def test_a_copy_names_the_table_whose_row_cannot_be_taken_over(tmp_path: Path, careless: Database) -> None:
    with careless.write() as connection:
        bases.create_base(connection, LOCAL, "規程")
    with sqlite3.connect(str(careless.engine.url.database)) as plain:
        plain.execute("DELETE FROM tenants")
    plain.close()
    target = open_database(store_url(tmp_path / "target.db"))
    with pytest.raises(InvalidInput, match="A row of knowledge_bases ") as refused:
        copy_store(careless, target)
    assert "knowledge_bases の行" in refused.value.ja
    with target.read() as connection:
        assert all(connection.execute(table.select()).first() is None for table in metadata.sorted_tables)
    target.close()


@pytest.mark.skipif(not is_postgres(), reason="SQLite takes any length: --store postgres")
def test_a_copy_names_the_column_that_a_value_is_too_long_for(tmp_path: Path, careless: Database) -> None:
    with careless.write() as connection:
        connection.execute(
            api_keys.insert().values(
                id="k",
                name="鍵" * 250,
                tenant_id="local",
                subject="bot",
                hash="",
                scopes=[],
                departments=[],
                clearance=1,
                roles=[],
                created_at=now(),
            )
        )
    url = careless.engine.url.render_as_string()
    said = run(
        tmp_path / "home",
        "store",
        "copy",
        "--to",
        store_url(tmp_path / "target.db"),
        code=1,
        SHIRUBE_STORE=url,
    )
    assert "api_keys.name の行をコピーできません" in said
    assert "A row of api_keys.name cannot be taken over" in said


@pytest.mark.parametrize(
    ("client", "file", "group"),
    [
        ("claude-code", ".mcp.json", "mcpServers"),
        ("cursor", ".cursor/mcp.json", "mcpServers"),
        ("vscode", ".vscode/mcp.json", "servers"),
    ],
)
def test_a_client_is_set_up_and_what_it_had_stays(tmp_path: Path, client: str, file: str, group: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({group: {"other": {"command": "x"}}, "kept": "残す"}))
    shown = run(tmp_path / "home", "mcp", "install", "--client", client, "--project", str(tmp_path), "--yes")
    assert '+    "shirube": {' in shown
    written: dict[str, Any] = json.loads(path.read_text())
    assert written["kept"] == "残す"
    assert written[group]["other"] == {"command": "x"}
    assert written[group]["shirube"]["args"] == ["serve"]
    assert "もう入っています" in run(
        tmp_path / "home", "mcp", "install", "--client", client, "--project", str(tmp_path), "--yes"
    )


INSTALL = ("mcp", "install", "--client", "claude-code", "--yes", "--project")


def test_what_was_written_for_a_client_is_told_as_json(tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    first, again = (json.loads(run(tmp_path / "home", *INSTALL, str(tmp_path), "--json")) for _ in range(2))
    assert first == {
        "client": "claude-code",
        "path": str(path),
        "changed": True,
        "entry": json.loads(path.read_text())["mcpServers"]["shirube"],
    }
    assert again == {**first, "changed": False}


def test_settings_that_others_could_not_read_stay_so(tmp_path: Path) -> None:
    for project, mode in (("private", 0o600), ("shared", 0o664)):
        path = tmp_path / project / ".mcp.json"
        path.parent.mkdir()
        path.write_text("{}")
        path.chmod(mode)
        run(tmp_path / "home", *INSTALL, str(path.parent))
        assert stat.S_IMODE(path.stat().st_mode) == mode
    (tmp_path / "new").mkdir()
    run(tmp_path / "home", *INSTALL, str(tmp_path / "new"))
    assert stat.S_IMODE((tmp_path / "new" / ".mcp.json").stat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / "new").iterdir()] == [".mcp.json"]


@pytest.mark.parametrize("there", [True, False])
def test_a_link_to_settings_stays_one(tmp_path: Path, there: bool) -> None:
    path, real = tmp_path / ".mcp.json", tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    if there:
        real.write_text(json.dumps({"kept": "残す"}))
    path.symlink_to(real)
    run(tmp_path / "home", *INSTALL, str(tmp_path))
    assert path.is_symlink()
    assert ("kept" in json.loads(real.read_text())) == there
    assert "shirube" in json.loads(real.read_text())["mcpServers"]


def test_a_client_finds_the_store_that_was_chosen_here(tmp_path: Path) -> None:
    def environ(**chosen: Any) -> dict[str, str]:
        run(tmp_path / "home", *INSTALL, str(tmp_path), **chosen)
        found: dict[str, str] = json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"]["shirube"][
            "env"
        ]
        return found

    home, url = str(tmp_path / "home"), "postgresql+psycopg://shirube:x@db/shirube"
    usual = {"SHIRUBE_HOME": home, "SHIRUBE_EMBEDDER": "none"}
    assert environ() == usual, "the models that made the data, too"
    assert environ(SHIRUBE_STORE=url) == {**usual, "SHIRUBE_STORE": url}
    # A client starts the server somewhere else.
    assert (
        environ(SHIRUBE_STORE="sqlite:///here.db")["SHIRUBE_STORE"] == f"sqlite:///{Path.cwd() / 'here.db'}"
    )
    whole = f"sqlite:///{tmp_path / 'there.db'}"
    assert environ(SHIRUBE_STORE=whole)["SHIRUBE_STORE"] == whole


def test_settings_with_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    path.write_text(json.dumps({"kept": "残す"}), encoding="utf-8-sig")
    run(tmp_path / "home", *INSTALL, str(tmp_path))
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["kept"] == "残す"
    assert "shirube" in written["mcpServers"]


def test_settings_that_cannot_be_read_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    path.write_text("{ // a comment\n}")
    run(
        tmp_path / "home",
        "mcp",
        "install",
        "--client",
        "claude-code",
        "--project",
        str(tmp_path),
        "--yes",
        code=1,
    )
    assert path.read_text() == "{ // a comment\n}"
    run(tmp_path / "home", "mcp", "install", "--client", "emacs", "--yes", code=1)


def test_without_a_yes_nothing_is_written(tmp_path: Path) -> None:
    run(tmp_path / "home", "mcp", "install", "--client", "claude-code", "--project", str(tmp_path), code=1)
    assert not (tmp_path / ".mcp.json").exists()


def test_serving_everybody_without_tokens_is_refused(tmp_path: Path) -> None:
    said = run(tmp_path, "serve", "--http", "--host", "0.0.0.0", "--insecure-local", code=1)
    assert "--insecure-local" in said
