"""The verbs for a folder of pages."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli import command
from tests.toolsets.pages.conftest import SITE, write


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    (root / "src").mkdir()
    (root / "src" / "search.py").write_text("print('検索')\n")
    write(root / "docs", SITE)
    return root


def run(project: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environ = {"SHIRUBE_HOME": str(project / "home"), "SHIRUBE_EMBEDDER": "none", "COLUMNS": "200"}
    return command.run([*arguments, "--docs", str(project / "docs")], {**os.environ, **environ})


def answer(project: Path, *arguments: str) -> Any:
    done = run(project, *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_call_prints_the_json_of_a_page_tool(project: Path) -> None:
    found = answer(project, "call", "ubp_list_pages", "--args", "{}")
    assert found["total"] == len(SITE)


def test_call_fails_with_the_error_of_json_rpc(project: Path) -> None:
    done = run(project, "call", "ubp_get_page", "--args", '{"filepath":"../x.md"}')
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["search", "移行"], "データベース"),
        (["get", "spec/api.md"], "呼び出し方を定める"),
        (["context", "spec/api.md", "--depth", "1"], "検索アルゴリズム"),
        (["list", "--type", "design"], "2 ページ"),
        (["graph", "--center", "spec/api.md", "--depth", "1"], "conflicts_with"),
        (["broken"], "notes/会議.md:4: 存在しないページ"),
        (["stale"], "0 ページ"),
        (["suggest-links"], "0 件"),
        (["status"], "6 ページ"),
        (["index"], "6 ページ"),
    ],
)
def test_every_verb_speaks_to_people_and_to_programs(project: Path, arguments: list[str], said: str) -> None:
    done = run(project, "pages", *arguments)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
    assert isinstance(answer(project, "pages", *arguments, "--json"), dict)


def test_broken_links_and_stale_pages_can_fail_a_build(tmp_path: Path) -> None:
    (tmp_path / "src.py").write_text("x = 1\n")
    page = "---\nsource_refs: [src.py]\n---\n# 頁\n\n[[無い]] について。\n"
    write(tmp_path / "docs", {"頁,一.md": page})
    assert run(tmp_path, "pages", "broken").returncode == 0
    assert run(tmp_path, "pages", "broken", "--exit-code").returncode == 1
    assert run(tmp_path, "pages", "stale", "--exit-code").returncode == 0
    (tmp_path / "src.py").write_text("x = 2\n")
    done = run(tmp_path, "pages", "stale", "--exit-code", "--github")
    assert done.returncode == 1
    [line] = done.stdout.splitlines()
    assert line.startswith("::warning file=docs/頁%2C一.md,title=possibly_stale::")
    assert "src.py" in line


def test_a_name_is_shown_on_one_line(tmp_path: Path) -> None:
    write(tmp_path / "docs", {"a\n::error::x.md": "[[無い]]\n"})
    for verb in ("broken", "stale", "status"):
        assert not any(line.startswith("::") for line in run(tmp_path, "pages", verb).stdout.splitlines())


def test_titles_that_are_written_without_a_link_are_suggested(tmp_path: Path) -> None:
    write(
        tmp_path / "docs",
        {
            "a.md": "# 入口の頁\n\nデータベース設計と `データベース設計` を読む。[[API仕様書]] は API仕様書。\n",
            "データベース設計.md": "# データベース設計\n",
            "API仕様書.md": "# API仕様書\n",
        },
    )
    found = answer(tmp_path, "pages", "suggest-links", "--json")["suggestions"]
    assert found == [
        {
            "filepath": "a.md",
            "line": 3,
            "text": "データベース設計",
            "target": "データベース設計.md",
            "title": "データベース設計",
        }
    ]


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    done = run(tmp_path, "pages", "status")
    assert done.returncode == 1
    assert "フォルダーがありません" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_projects_own_documents_are_pages_without_a_broken_link(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parents[2] / "docs", tmp_path / "docs")
    done = run(tmp_path, "pages", "broken", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {
        name: found[name] for name in ("broken", "missing_headings", "ambiguous", "warnings", "refused")
    } == {
        "broken": [],
        "missing_headings": [],
        "ambiguous": [],
        "warnings": {},
        "refused": {},
    }
