"""Whatever path a caller writes, nothing outside the folder of pages is ever shown or told of."""

import asyncio
import itertools
from pathlib import Path
from typing import Any

import pytest

from shirube.caller import LOCAL
from shirube.operations import Answer
from shirube.settings import load_settings
from shirube.toolsets.registry import Application
from tests.toolsets.pages.conftest import SITE, write

SECRET = "秘密の中身"
UPS = [
    "..",
    "../..",
    "../../..",
    "%2e%2e",
    "%252e%252e",
    "..%2f..",
    "..\\..",
    "．．",
    "....//..",
    "．．／",
    "..;",
    "..\0",
]
TARGETS = [
    *("secret.md", "etc/passwd", "secret", "project/secret.md", "docs/../secret.md", ".shirube/serve.lock"),
    *("docs/link.md/../../secret.md", "SECRET.MD", "secret.md#x", "secret.md?x", "secret.md\0.md"),
]
ROOTS = [
    *(
        "/etc/passwd",
        "/secret.md",
        "//secret.md",
        "\\secret.md",
        "\\\\host\\share\\a.md",
        "C:\\secret.md",
        "C:secret.md",
    ),
    *(
        "c:/secret.md",
        "file:///etc/passwd",
        "~/secret.md",
        "~root/secret.md",
        "/proc/self/environ",
        "/dev/zero",
        "NUL",
    ),
    *(
        "CON.md",
        "a\0.md",
        "\0",
        ".",
        "..",
        "./..",
        "./.././secret.md",
        "design/../../secret.md",
        "link.md",
        "above/secret.md",
    ),
    *(
        "design/./../../secret.md",
        "design//..//..//secret.md",
        "index.md/../../secret.md",
        ".hidden.md",
        ".shirube",
        "",
    ),
    *(
        "\u202e",
        "a" * 1024,
        "../" * 300 + "etc/passwd",
        "．．／secret.md",
        "index.md\n",
        "%00",
        "design/",
        "*",
        "[a]",
    ),
]
CORPUS = sorted(
    {*(f"{up}/{target}" for up, target in itertools.product(UPS, TARGETS)), *ROOTS}
    | {f"design/{up}/{up}/{target}" for up, target in itertools.product(UPS, TARGETS)}
)


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Application:
    project = tmp_path_factory.mktemp("outside") / "project"
    docs = write(project / "docs", SITE)
    for folder in (project, project.parent):
        (folder / "secret.md").write_text(f"# {SECRET}\n")
    (docs / "link.md").symlink_to(project / "secret.md")
    (docs / "above").symlink_to(project)
    (docs / ".hidden.md").write_text(f"# {SECRET}\n")
    environ = {"SHIRUBE_HOME": str(project / "home"), "SHIRUBE_DOCS": str(docs), "SHIRUBE_EMBEDDER": "none"}
    made = Application(load_settings(environ))
    made.pages().site.read()
    return made


def call(application: Application, name: str, arguments: Any) -> Answer:
    return asyncio.run(application.registry.call(name, LOCAL, arguments))


def test_the_corpus_is_large_enough() -> None:
    assert len(CORPUS) >= 300


@pytest.mark.parametrize(
    ("tool", "argument"),
    [("ubp_get_page", "filepath"), ("ubp_get_context", "filepath"), ("ubp_get_graph", "center")],
)
def test_no_path_leads_out_and_every_one_is_an_invalid_parameter(
    application: Application, tool: str, argument: str
) -> None:
    outside = Path(application.pages().site.folder.root)
    for path in CORPUS:
        answer = call(application, tool, {argument: path})
        assert not answer.ok, path
        assert answer.body["error"]["code"] == -32602, path
        shown = answer.json()
        assert SECRET not in shown, path
        assert str(outside) not in shown, path
        assert "Traceback" not in shown, path


def test_what_is_outside_is_not_indexed(application: Application) -> None:
    answer = call(application, "ubp_fulltext_search", {"query": SECRET})
    assert answer.body == {"results": [], "total_found": 0}


def test_an_internal_fault_is_minus_32603_without_a_stack_trace(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("/home/someone/secret.py line 3")

    monkeypatch.setattr(application.pages().site, "graph", broken)
    for tool, arguments in (
        ("ubp_get_page", {"filepath": "index.md"}),
        ("ubp_list_pages", {}),
        ("ubp_get_graph", {}),
        ("ubp_search", {"query": "検索"}),
    ):
        answer = call(application, tool, arguments)
        assert answer.body["error"]["code"] == -32603
        assert "someone" not in answer.json()
        assert "Traceback" not in answer.json()


def test_a_wrong_argument_says_which(application: Application) -> None:
    error = call(application, "ubp_search", {"query": "x", "limit": 21}).body["error"]
    assert error["code"] == -32602
    assert "limit" in error["message"]
    assert set(error) == {"code", "message", "data"}


def test_without_a_folder_of_pages_the_tools_say_what_to_do() -> None:
    bare = Application(load_settings({"SHIRUBE_HOME": "/nonexistent", "SHIRUBE_EMBEDDER": "none"}))
    assert "ubp_search" not in [tool.name for tool in bare.registry.tools()]
    with pytest.raises(Exception, match="No folder of pages"):
        bare.pages()
