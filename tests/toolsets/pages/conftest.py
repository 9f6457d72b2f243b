"""A small site of linked pages, and services over any folder of pages."""

from collections.abc import Callable
from pathlib import Path

import pytest

from shirube.settings import load_settings
from shirube.toolsets.pages.service import PagesService
from shirube.toolsets.pages.site import Site
from shirube.workspace import Workspace

Pages = dict[str, str]
SITE: Pages = {
    "index.md": "# 設計の入口\n\n[[検索アルゴリズム]] と [仕様](spec/api.md) を読む。\n",
    "design/検索アルゴリズム.md": (
        "---\ntitle: 検索アルゴリズム\ndoc_type: design\ntags: [検索, 順位]\nsource_refs:\n  - src/search.py\n---\n"
        "# 検索アルゴリズム\n\n検索の全体を説明する。\n\n## 順位付け\n\n"
        "ベクトルの類似度と全文検索の得点を足し合わせて、ページを並べる。サーバーは結果をキャッシュする。\n\n"
        "### 重み\n\n重みは計測で決める。[[データベース|depends_on]] に保存する。計測は毎月おこない、結果を残す。\n\n"
        "## 索引\n\n索引は変更のたびに更新する。詳しくは [[api#エラー|implements]] を見る。\n"
    ),
    "design/データベース.md": (
        "---\ntitle: データベース\ndoc_type: design\n---\n# データベース\n\n表と列を定める。手当の計算も保存する。\n\n"
        "## 移行\n\n移行は前にしか進まない。戻すときは控えから復元し、その手順を半年に一度は訓練しておく。\n"
    ),
    "spec/api.md": (
        "---\ntitle: API仕様\ndoc_type: api\n---\n# API仕様\n\n呼び出し方を定める。\n\n## エラー\n\n"
        "エラーは番号と文で返す。[[検索アルゴリズム|conflicts_with]] とは別に決める。\n"
    ),
    "notes/会議.md": "---\ndoc_type: meeting\n---\n会議の記録。[[存在しないページ]] と [[データベース]] を話した。\n",
    "notes/離れ島.md": "どこからもつながらないページ。通勤手当の申請は総務へ。\n",
}


def write(folder: Path, pages: Pages) -> Path:
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """The site, in a project with its source."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "search.py").write_text("print('検索')\n")
    return write(tmp_path / "docs", SITE)


@pytest.fixture
def opened(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], PagesService]:
    """A service without vectors over a folder."""
    return lambda folder: PagesService(Site(folder), lambda: None)


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The models of a fresh install."""
    return Workspace(load_settings({"SHIRUBE_HOME": str(tmp_path_factory.mktemp("home"))}))


@pytest.fixture(scope="session")
def site_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    (root / "src").mkdir()
    (root / "src" / "search.py").write_text("print('検索')\n")
    return write(root / "docs", SITE)


@pytest.fixture(scope="session")
def service(site_folder: Path, workspace: Workspace) -> PagesService:
    """The site with vectors; nobody writes to it."""
    return PagesService(Site(site_folder), lambda: workspace.embedder)
