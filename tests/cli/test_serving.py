"""The verbs around serving: keys, tokens, the audit log, moving the store, and the settings of clients."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jwt
import pytest

from shirube.store import bases
from shirube.store.copying import copy_store
from shirube.store.database import open_database
from shirube.store.tables import metadata
from tests.stores import store_url

SHIRUBE = str(Path(sys.executable).with_name("shirube"))
SECRET = "x" * 40


CHECKED: dict[str, Any] = {
    "SHIRUBE_JWT_SECRET": SECRET,
    "SHIRUBE_JWT_AUDIENCE": "a",
    "SHIRUBE_JWT_ISSUER": "b",
}


def run(home: Path, *arguments: str, code: int = 0, **environ: str) -> str:
    done = subprocess.run(
        [SHIRUBE, *arguments],
        env={
            "PATH": "/usr/bin:/bin",
            "SHIRUBE_HOME": str(home),
            "SHIRUBE_EMBEDDER": "none",
            **_stores(),
            **environ,
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
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
    assert exported.splitlines()[0].startswith("at,subject,operation,outcome")
    assert "ひみつ" not in exported
    nobody = json.dumps({"tenant_id": "local", "sub": "hanako"})
    assert "admin" in run(tmp_path, "audit", "tail", "--as", nobody, code=1)


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
    from shirube.caller import LOCAL

    source, target = (open_database(store_url(tmp_path / f"{name}.db")) for name in ("source", "target"))
    with source.write() as connection:
        bases.create_base(connection, LOCAL, "規程")

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_store(source, target, interrupt)
    assert sum(copy_store(source, target).values()) > 0


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
