"""The folder into the store: whatever happens to the files, the state is that of a first reading."""

import contextlib
import json
import os
import random
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from shirube.errors import Unavailable
from shirube.store.tables import document_texts, documents, page_links, page_sources, pages, passages
from shirube.toolsets.pages import schema
from shirube.toolsets.pages.service import PagesService
from shirube.toolsets.pages.site import Site
from tests.toolsets.pages.conftest import SITE, write

Open = Callable[[Path], PagesService]
_OURS = {"id", "created_at", "updated_at", "version", "document_id", "ctime_ns"}


def tables(site: Site) -> dict[str, list[dict[str, Any]]]:
    """Everything stored, but for what tells when and how often it was stored."""
    found: dict[str, list[dict[str, Any]]] = {}
    with site.database.read() as connection:
        for table in (documents, document_texts, passages, pages, page_links, page_sources):
            rows = connection.execute(select(table)).mappings()
            kept = [
                {name: value for name, value in row.items() if name not in _OURS - _keys(table.name)}
                for row in rows
            ]
            found[table.name] = sorted(kept, key=repr)
    return found


def _keys(table: str) -> set[str]:
    """Ids of pages are the same everywhere; those of passages are not."""
    return {"id"} if table == "documents" else {"document_id"}


def found(service: PagesService, word: str) -> set[str]:
    return {
        each.filepath for each in service.fulltext_search(schema.FulltextInput(query=word, limit=50)).results
    }


def test_two_thousand_changes_at_once_end_in_the_state_of_a_first_reading(
    tmp_path: Path, opened: Open
) -> None:
    chance = random.Random(4)
    folder = tmp_path / "docs"

    def text(number: int) -> str:
        target = chance.randrange(2800)
        links = f"[[頁{target}]] と [x](p{target % 7}.md) を参照。"
        return f"# 頁{number}\n\n{links}乱数 {chance.random()}。\n\n## 節\n\n{'文。' * 30}\n"

    write(folder, {f"d{number % 9}/p{number}.md": text(number) for number in range(2400)})
    service = opened(folder)
    service.site.read()
    for number in range(2400):
        path = folder / f"d{number % 9}/p{number}.md"
        match chance.randrange(4):
            case 0:
                path.unlink()
            case 1:
                path.write_text(text(number + 100))
            case 2:
                path.rename(path.with_name(f"moved{number}.md"))
    write(folder, {f"new/n{number}.md": text(number) for number in range(400)})
    report = service.site.read()
    assert len(report.removed) + len(report.changed) + len(report.added) >= 2000
    assert min(len(report.removed), len(report.changed), len(report.added)) > 400
    copy = tmp_path / "copy" / "docs"
    shutil.copytree(folder, copy)
    fresh = opened(copy)
    fresh.site.read()
    assert tables(service.site) == tables(fresh.site)
    with service.site.graph() as mine, fresh.site.graph() as theirs:
        assert sorted(mine.edges()) == sorted(theirs.edges())
        assert {page.id for page in mine.pages.values()} == {page.id for page in theirs.pages.values()}
    assert service.site.space.count() == fresh.site.space.count()
    for word in ("頁1", "乱数", "文。文"):
        assert found(service, word) == found(fresh, word)


def test_an_unchanged_folder_is_not_read_again(docs: Path, opened: Open) -> None:
    service = opened(docs)
    assert len(service.site.read().added) == len(SITE)
    report = service.site.read()
    assert (report.added, report.changed, report.removed, report.unchanged) == ([], [], [], len(SITE))
    (docs / "index.md").touch()
    assert service.site.read().touched == ["index.md"]


def test_another_process_sees_what_this_one_read(docs: Path, opened: Open) -> None:
    here, there = opened(docs), opened(docs)
    here.site.read()
    assert "index.md" in {each.filepath for each in there.list_pages(schema.ListInput()).pages}
    (docs / "新しい.md").write_text("# 新しい\n\n[[検索アルゴリズム]]\n")
    here.site.read()
    page = there.get_page(schema.GetPageInput(filepath="design/検索アルゴリズム.md"))
    assert "新しい.md" in {each.filepath for each in page.backlinks}


def test_names_as_macos_writes_them_spaces_and_crlf(tmp_path: Path, opened: Open) -> None:
    folder = tmp_path / "docs"
    decomposed = unicodedata.normalize("NFD", "ガイド 一.md")
    write(
        folder,
        {
            decomposed: "# ガイド\r\n\r\n[[プログラム]]\r\n",
            "プログラム.MD": "# プログラム\n\n[[ガイド 一]]\n",
        },
    )
    service = opened(folder)
    page = service.get_page(schema.GetPageInput(filepath="ガイド 一.md"))
    assert [each.filepath for each in page.outlinks] == ["プログラム.MD"]
    assert [each.filepath for each in page.backlinks] == ["プログラム.MD"]


@pytest.mark.parametrize(
    ("name", "content"),
    [("壊れ.md", b"\xff\xfe\x00\x00\x01"), ("二進.md", b"abc\0def")],
)
def test_a_file_that_cannot_be_read_is_reported_and_the_rest_goes_in(
    docs: Path, opened: Open, name: str, content: bytes
) -> None:
    (docs / name).write_bytes(content)
    service = opened(docs)
    report = service.site.read()
    assert list(report.refused) == [name]
    assert len(report.added) == len(SITE)
    (docs / name).write_text("# 直した\n")
    assert service.site.read().added == [name]


def test_links_out_of_the_folder_and_hidden_files_are_no_pages(
    docs: Path, tmp_path: Path, opened: Open
) -> None:
    (tmp_path / "secret.md").write_text("# 秘密\n")
    (docs / "link.md").symlink_to(tmp_path / "secret.md")
    (docs / "inner.md").symlink_to(docs / "index.md")
    (docs / "above").symlink_to(tmp_path)
    write(docs, {".hidden/x.md": "# 隠し\n", ".y.md": "# 隠し\n"})
    (docs / "loop.md").symlink_to(docs / "loop.md")
    names = {each.filepath for each in opened(docs).list_pages(schema.ListInput()).pages}
    assert names == {*SITE, "inner.md"}


def test_two_files_of_one_name_in_two_forms_are_one_page_and_take_no_other_with_them(
    tmp_path: Path, opened: Open
) -> None:
    twins = [unicodedata.normalize(form, "sub/が.md") for form in ("NFC", "NFD")]
    folder = write(tmp_path / "docs", {**dict.fromkeys(twins, "# 双子\n"), "が.md": "# 別の頁\n"})
    service = opened(folder)
    for _ in range(3):
        report = service.site.read()
        assert list(report.refused) == ["sub/が.md"]
        assert {each.filepath for each in service.list_pages(schema.ListInput()).pages} == {
            "が.md",
            "sub/が.md",
        }


def test_a_file_of_the_same_size_and_time_is_read_again(docs: Path, opened: Open) -> None:
    service = opened(docs)
    service.site.read()
    path = docs / "notes" / "離れ島.md"
    status, text = path.stat(), path.read_text()
    path.write_text(text.replace("総務", "人事"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    service.site.read()
    assert found(service, "人事へ") == {"notes/離れ島.md"}


def test_names_that_are_no_unicode_are_pages_too(docs: Path, opened: Open) -> None:
    for name in (b"\xff.md", b"\xfe.md"):
        Path(os.fsdecode(os.fsencode(docs) + b"/" + name)).write_text("# 名前\n")
    report = opened(docs).site.read()
    json.dumps(report.refused).encode()
    assert len(report.added) == len(SITE) + 1


def test_a_state_that_came_with_a_copy_is_not_believed(docs: Path, tmp_path: Path, opened: Open) -> None:
    service = opened(docs)
    service.site.read()
    with service.site.database.write() as connection:
        connection.execute(update(documents).values(title="偽りの題"))
    service.site.database.close()
    shutil.copytree(tmp_path, tmp_path.parent / f"{tmp_path.name}-copy")
    copied = opened(tmp_path.parent / f"{tmp_path.name}-copy" / "docs")
    assert "偽りの題" not in {each.title for each in copied.list_pages(schema.ListInput()).pages}


@pytest.mark.parametrize("name", [".shirube", ".shirube/.gitignore"])
def test_a_link_in_place_of_the_state_is_not_written_through(
    docs: Path, tmp_path: Path, opened: Open, name: str
) -> None:
    victim = tmp_path.parent / f"{tmp_path.name}-victim"
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).symlink_to(victim)
    with contextlib.suppress(Unavailable):
        opened(docs).site.read()
    assert not victim.exists()


def test_an_empty_page_is_a_page(docs: Path, opened: Open) -> None:
    (docs / "空.md").write_text("")
    service = opened(docs)
    page = service.get_page(schema.GetPageInput(filepath="空.md"))
    assert (page.content, page.title) == ("", "空")
    assert found(service, "空") == {"空.md"}


def test_a_changed_title_moves_the_links_that_name_it(docs: Path, opened: Open) -> None:
    service = opened(docs)
    service.site.read()
    (docs / "notes" / "会議.md").write_text("[[新しい題]]\n")
    service.site.read()
    with service.site.graph() as graph:
        assert [each.link.target for _, each in graph.dangling()] == ["新しい題"]
    (docs / "notes" / "離れ島.md").write_text("# 新しい題\n")
    service.site.read()
    assert [
        each.filepath for each in service.get_page(schema.GetPageInput(filepath="notes/離れ島.md")).backlinks
    ] == ["notes/会議.md"]
