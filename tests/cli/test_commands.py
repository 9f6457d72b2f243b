"""The command line from a folder of documents to results, as a user types it."""

import json
import unicodedata
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.toolsets.knowledge.llm import speaking

TEXTS = {
    "手当.md": "# 通勤手当\n\n通勤手当は月額5万円を上限として支給する。\n",
    "補助.md": "# 資格取得補助\n\n資格の受験料を補助する。\n",
    "副業.md": "# 副業規程\n\n副業を行う者は、あらかじめ許可を受けなければならない。\n",
    "運用.md": "# 運用手順\n\nサーバーを再起動するときは、情報システム部に連絡する。\n",
    "採用.txt": "採用にはマイナビの求人サイトを使う。",
}


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    folder = tmp_path / "規程"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    return folder


def _base(shirube: Run, folder: Path, *words: str) -> str:
    added = shirube("kb", "add", str(folder), "--kb", "規程", "--json", "--no-vectors", *words)
    assert added.code == 0, added.err
    return str(added.json()["knowledge_base_id"])


@pytest.mark.parametrize(
    ("query", "file"),
    [
        ("手当", "規程/手当.md"),
        ("補助", "規程/補助.md"),
        ("副業", "規程/副業.md"),
        ("サーバ", "規程/運用.md"),
        ("ﾏｲﾅﾋﾞ", "規程/採用.txt"),
        ("副業の許可", "規程/副業.md"),
    ],
)
def test_words_of_two_characters_and_other_spellings_find_their_document(
    shirube: Run, rules: Path, query: str, file: str
) -> None:
    base = _base(shirube, rules)
    arguments = json.dumps({"query": query, "knowledge_base_id": base}, ensure_ascii=False)
    called = shirube("call", "search_documents", "--args", arguments)
    assert called.code == 0, called.out
    body = called.json()
    assert body["count"] >= 1
    assert body["results"][0]["metadata"]["source"]["file"] == file
    assert query not in ("サーバ", "ﾏｲﾅﾋﾞ") or "\\u" not in called.out


def test_what_is_unchanged_is_skipped_and_what_is_gone_leaves_with_sync(shirube: Run, rules: Path) -> None:
    base = _base(shirube, rules)
    again = shirube("kb", "add", str(rules), "--kb", "規程", "--json", "--no-vectors").json()
    assert (len(again["added"]), len(again["unchanged"])) == (0, 5)
    (rules / "補助.md").unlink()
    (rules / "副業.md").write_text("# 副業規程\n\n兼業は届け出る。\n")
    synced = shirube("kb", "add", str(rules), "--kb", "規程", "--json", "--no-vectors", "--sync").json()
    assert (synced["changed"], synced["removed"]) == (["規程/副業.md"], ["規程/補助.md"])
    for query, found in (("補助", False), ("兼業", True), ("許可", False)):
        body = shirube("search", query, "--kb", "規程", "--json").json()
        assert (body["count"] > 0) is found, query
    assert body["knowledge_base_id"] == base


def test_files_that_cannot_be_read_are_reported_and_the_rest_goes_in(shirube: Run, rules: Path) -> None:
    (rules / "壊れた.txt").write_bytes(b"\x00\x01\x02\xff" * 100)
    (rules / "空.md").write_text("")
    (rules / "表.xyz").write_text("x")
    (rules / "旧.txt").write_bytes("旧システムの文書です。".encode("cp932"))
    (rules / unicodedata.normalize("NFD", "ガイド.md")).write_text("# ガイド\n\n案内します。")
    added = shirube("kb", "add", str(rules), "--kb", "規程", "--json", "--no-vectors")
    body = added.json()
    assert added.code == 0
    assert {each["source"] for each in body["refused"]} == {"規程/壊れた.txt", "規程/空.md", "規程/表.xyz"}
    assert all(each["reason"] and each["reason_ja"] for each in body["refused"])
    assert {"規程/旧.txt", "規程/ガイド.md"} <= set(body["added"])


@pytest.mark.parametrize(
    ("words", "detail"),
    [
        (("search_documents", "--args", "{"), "--args is not valid JSON"),
        (("search_documents", "--args", "[1]"), "arguments"),
        (("search_documents",), "query is required"),
        (("no_such_operation",), "Unknown operation: no_such_operation"),
        (
            (
                "search_documents",
                "--args",
                '{"query":"手当","knowledge_base_id":"0b0e8f66-6d5c-4f59-b49a-000000000000"}',
            ),
            "Knowledge base not found",
        ),
        (("search_documents", "--args", '{"query":"手当","knowledge_base_id":"規程"}'), "must be a UUID"),
    ],
)
def test_a_wrong_call_ends_with_1_and_says_what_is_wrong_in_json(
    shirube: Run, words: tuple[str, ...], detail: str
) -> None:
    called = shirube("call", *words)
    assert called.code == 1
    assert detail in called.json()["detail"]


def test_an_empty_query_is_refused_and_changes_nothing(shirube: Run, rules: Path) -> None:
    base = _base(shirube, rules)
    before = shirube("kb", "list", "--json").json()
    arguments = json.dumps({"query": " 　", "knowledge_base_id": base})
    called = shirube("call", "search_documents", "--args", arguments)
    assert (called.code, called.json()["status"]) == (1, 422)
    assert shirube("kb", "list", "--json").json() == before


def test_a_removed_knowledge_base_leaves_nothing_behind(shirube: Run, rules: Path, home: Path) -> None:
    base = _base(shirube, rules)
    assert (home / "index" / base).exists()
    assert shirube("kb", "remove", "規程", "--yes").code == 0
    assert not (home / "index" / base).exists()
    assert shirube("kb", "list", "--json").json()["count"] == 0
    assert shirube("search", "手当", "--kb", "規程").code == 1


def test_a_missing_folder_and_an_unknown_level_are_said_in_both_languages(shirube: Run, rules: Path) -> None:
    missing = shirube("kb", "add", str(rules / "なし"), "--kb", "規程")
    assert missing.code == 1
    assert "No such file or folder" in missing.err
    assert "ありません" in missing.err
    unknown = shirube("kb", "add", str(rules), "--kb", "規程", "--confidentiality", "hidden")
    assert unknown.code == 1
    assert "public" in unknown.err


def test_status_and_reindex_tell_the_state_of_each_knowledge_base(shirube: Run, rules: Path) -> None:
    base = _base(shirube, rules)
    [row] = shirube("status", "--json").json()["knowledge_bases"]
    assert (row["knowledge_base_id"], row["documents"], row["index"], row["vectors"]) == (
        base,
        5,
        "current",
        0,
    )
    rebuilt = shirube("reindex", "--json").json()["rebuilt"]
    assert (rebuilt[0]["passages"], rebuilt[0]["vectors_added"]) == (row["passages"], row["passages"])
    [row] = shirube("status", "--json").json()["knowledge_bases"]
    assert row["vectors"] == row["passages"]


def test_help_and_version_work_without_a_data_folder(shirube: Run, home: Path) -> None:
    assert shirube("--version").out.startswith("shirube ")
    assert "kb" in shirube("--help").out
    assert not home.exists()


def test_the_demo_shows_a_search_with_passage_source_score_and_reasons(shirube: Run) -> None:
    shown = shirube("demo", "--once")
    assert shown.code == 0, shown.err
    for part in ("月額5,000円", "在宅勤務規程.md", "スコア", "理由", "total_documents"):
        assert part in shown.out


def _as(**claims: object) -> tuple[str, str]:
    return "--as", json.dumps({"tenant_id": "甲社", "sub": "hanako", **claims}, ensure_ascii=False)


def test_a_caller_finds_only_what_they_may_see(shirube: Run, rules: Path) -> None:
    owner = _as(sub="owner", clearance="top_secret", departments=["人事"])
    base = _base(shirube, rules, *owner, "--department", "人事", "--confidentiality", "secret")
    arguments = json.dumps({"query": "副業", "knowledge_base_id": base}, ensure_ascii=False)

    def asked(*caller: str) -> tuple[int, object]:
        called = shirube("call", "search_documents", "--args", arguments, *caller)
        body = called.json()
        return called.code, body.get("detail", body.get("count"))

    admin = {"roles": ["admin"], "departments": ["人事"]}
    assert asked(*owner) == (0, 1)
    assert asked(*_as(**admin, clearance="confidential")) == (0, 0)
    assert asked(*_as(clearance="top_secret")) == (1, "Access denied to this knowledge base")
    assert asked() == (1, "Knowledge base not found"), "the local user is of another tenant"
    assert asked("--as", '{"sub": "hanako"}') == (1, "Invalid authentication credentials")
    assert asked("--as", "hanako")[0] == 1

    shared = shirube("kb", "share", base, "--member", "hanako", "--json", *owner)
    assert (shared.json()["is_public"], shared.json()["members"]) == (False, ["hanako"])
    assert asked(*_as(departments=["人事"], clearance="secret")) == (0, 1)
    assert shirube("kb", "share", base, "--public", *_as()).code == 1, "a member does not decide who reads"
    shirube("kb", "share", base, "--public", "--remove-member", "hanako", *owner)
    assert asked(*_as(sub="taro", departments=["人事"], clearance="secret")) == (0, 1)
    assert "テナントの全員" in shirube("kb", "share", base, *owner).out
    assert shirube("kb", "share", base, "--private", "--member", " ", *owner).code == 1
    assert shirube("kb", "share", base, "--private", *owner).code == 0
    assert asked(*_as(departments=["人事"], clearance="secret"))[0] == 1

    taken = shirube("kb", "add", str(rules), "--kb", "規程", "--no-vectors", *_as(sub="taro"))
    assert (taken.code, "Access denied" in taken.err, "UNIQUE" in taken.err) == (1, True, False)

    assert "規程" not in shirube("kb", "list", *_as(**admin, tenant_id="乙社")).out
    assert shirube("kb", "remove", base, "--yes", *_as()).code == 1
    assert shirube("kb", "remove", base, "--yes", *owner).code == 0


def test_chat_shows_the_models_answer_its_citations_and_what_went_wrong(shirube: Run, rules: Path) -> None:
    _base(shirube, rules)
    with speaking("ollama") as llm:
        chosen = '{"tool_name": "search_documents", "arguments": {"query": "副業の許可"}}'
        llm.say(chosen, "副業には許可が必要です。[1]")
        ask = ("chat", "副業に許可は要る？", "--kb", "規程")
        models = {"SHIRUBE_LLM": llm.setting, "SHIRUBE_EMBEDDER": "none"}
        written = shirube(*ask, **models)
        llm.fail()
        failed = shirube(*ask, **models)
    assert written.code == failed.code == 0
    assert written.out.startswith("副業には許可が必要です。[1]\n")
    assert "[1] 副業規程  規程/副業.md" in written.out
    assert "書いたモデル: ollama:elyza\n" in written.out
    assert written.err == ""
    assert "あらかじめ許可を受けなければならない" in failed.out
    assert failed.err.count("注意:") == 2, failed.err


def test_a_language_model_that_does_not_exist_is_an_error(shirube: Run, rules: Path) -> None:
    _base(shirube, rules)
    ran = shirube("chat", "副業", "--kb", "規程", SHIRUBE_LLM="gpt")
    assert ran.code == 1
    assert "SHIRUBE_LLM=gpt は使えません" in ran.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("search", "副業", "--kb", "ない", "--json"), "NOT_FOUND"),
        (("kb", "list", "--as", "{", "--json"), "INVALID_INPUT"),
        (("kb", "add", "/ない", "--kb", "x", "--json"), "INVALID_INPUT"),
        (("mcp", "install", "--client", "emacs", "--json"), "INVALID_INPUT"),
        (("keys", "revoke", "ない", "--json"), "NOT_FOUND"),
    ],
)
def test_a_verb_that_was_asked_for_json_fails_in_json(
    shirube: Run, words: tuple[str, ...], code: str
) -> None:
    done = shirube(*words)
    assert done.code == 1
    body = done.json()
    assert {"status", "detail", "code", "message_ja"} <= body.keys()
    assert body["code"] == code
    assert body["message_ja"] in done.err
