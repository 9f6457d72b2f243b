"""Files into a knowledge base, on a real database: what goes in, what is left alone, what is refused and why."""

import logging
import os
import shutil
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from sqlalchemy import Row, select

from shirube.caller import LOCAL, Caller, Confidentiality
from shirube.errors import InvalidInput
from shirube.ingest.readers import registry
from shirube.ingest.readers.contract import Content
from shirube.ingest.sync import Options, Report, add_files, find_files
from shirube.store import bases, tables
from shirube.store.bases import KnowledgeBase
from shirube.store.database import Database, open_database
from shirube.store.documents import document_text
from tests.stores import store_url

NOBODY = 65534


@dataclass(frozen=True)
class Shelf:
    """A knowledge base, and a folder whose files go into it."""

    database: Database
    base: KnowledgeBase
    folder: Path

    def write(self, name: str, content: str | bytes = "本文です。\n") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def add(self, *paths: Path, **options: Any) -> Report:
        files = find_files(paths or [self.folder])
        return add_files(self.database, LOCAL, self.base, files, Options(**options))

    def documents(self) -> dict[str, Row[Any]]:
        with self.database.read() as connection:
            return {row.source: row for row in connection.execute(select(tables.documents))}

    def passages(self, document_id: str) -> list[Row[Any]]:
        wanted = tables.passages.c.document_id == document_id
        with self.database.read() as connection:
            found = connection.execute(
                select(tables.passages).where(wanted).order_by(tables.passages.c.chunk_index)
            )
            return list(found)


@contextmanager
def opened(folder: Path) -> Iterator[Shelf]:
    database = open_database(store_url(folder / "shirube.db"))
    with database.write() as connection:
        base = bases.create_base(connection, LOCAL, "規程")
    (folder / "docs").mkdir()
    try:
        yield Shelf(database, base, folder / "docs")
    finally:
        database.close()


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with opened(tmp_path) as shelf:
        yield shelf


@contextmanager
def without_rights() -> Iterator[None]:
    """Root may open everything: lay its rights down for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_shelf() -> Iterator[Shelf]:
    """A shelf in a folder that somebody without rights may enter."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        with opened(Path(name)) as shelf:
            yield shelf


def reasons(report: Report) -> dict[str, str]:
    assert all(each.reason and each.reason_ja for each in report.refused)
    return {each.source: each.reason for each in report.refused}


def test_files_go_in_by_name_and_again_only_when_they_change(shelf: Shelf) -> None:
    shelf.write("旅費.md", "# 旅費規程\n日当は千円とする。\n")
    shelf.write("人事/休暇.txt", "休暇は年二十日とする。\n")
    shelf.write("人事/一覧.html", "<h1>一覧</h1><p>規程の一覧</p>")
    everything = ["docs/旅費.md", "docs/人事/一覧.html", "docs/人事/休暇.txt"]

    first = shelf.add()
    assert (first.added, first.refused, first.warnings, first.passages) == (everything, [], [], 3)
    assert shelf.documents().keys() == set(everything)

    second = shelf.add()
    assert (second.unchanged, second.added, second.changed, second.passages) == (everything, [], [], 0)

    shelf.write("旅費.md", "# 旅費規程\n日当は二千円とする。\n")
    third = shelf.add()
    assert (third.changed, third.unchanged, third.passages) == (everything[:1], everything[1:], 1)
    document = shelf.documents()["docs/旅費.md"]
    assert (document.version, document.title, document.filename) == (2, "旅費規程", "旅費.md")
    assert [passage.text for passage in shelf.passages(document.id)] == ["日当は二千円とする。"]


def test_a_single_file_goes_by_the_name_it_has_with_its_folder(shelf: Shelf) -> None:
    assert shelf.add(shelf.write("旅費.md")).added == ["docs/旅費.md"]
    assert shelf.documents()["docs/旅費.md"].title == "旅費"
    assert shelf.add().unchanged == ["docs/旅費.md"]


def test_a_file_further_down_goes_by_the_name_it_has_with_the_folder_that_was_added(shelf: Shelf) -> None:
    path = shelf.write("人事/休職.md", "休職は18か月までとする。\n")
    shelf.write("人事/異動.md")
    shelf.write("総務/備品.md")
    names = shelf.add().added
    shelf.write("人事/休職.md", "休職は24か月までとする。\n")
    name = f"{shelf.folder.name}/人事/休職.md"
    assert (shelf.add(path).changed, shelf.add(path.parent).changed) == ([name], [])
    assert sorted(shelf.documents()) == sorted(names)


def test_what_is_gone_from_a_folder_further_down_goes_when_that_is_synced(shelf: Shelf) -> None:
    path = shelf.write("人事/休職.md")
    shelf.write("人事/異動.md")
    shelf.write("総務/文書.md")
    shelf.add()
    path.unlink()
    files = find_files([path.parent])
    report = add_files(
        shelf.database,
        LOCAL,
        shelf.base,
        files,
        Options(remove_missing=True),
        folders=[path.parent.resolve()],
    )
    assert report.removed == [f"{shelf.folder.name}/人事/休職.md"]
    assert len(shelf.documents()) == 2


def test_a_document_is_stored_whole(shelf: Shelf) -> None:
    text = "".join(f"## 第{number}条\n従業員は、{number}日以内に届け出る。\n\n" for number in range(700))
    shelf.write("規程.md", text)
    report = shelf.add()
    document = shelf.documents()["docs/規程.md"]
    stored = shelf.passages(document.id)
    assert report.passages == document.chunk_count == len(stored) == 700
    assert [passage.chunk_index for passage in stored] == list(range(700))
    with shelf.database.read() as connection:
        whole = document_text(connection, LOCAL, document.id)
    assert whole == text
    assert all(whole[passage.start : passage.end] == passage.text for passage in stored)


def test_bad_files_are_each_refused_with_the_reason_and_the_rest_goes_in(shelf: Shelf) -> None:
    shelf.write("空.md", b"")
    shelf.write("空白.txt", " \n\n")
    shelf.write("目印だけ.txt", b"\xef\xbb\xbf")
    shelf.write("画像.md", b"\x89PNG\r\n\x1a\n\x00\x00")
    shelf.write("写真.gif", b"\xff\xd8\xff")
    shelf.write("拡張子なし", "本文")
    shelf.write("不明.txt", b"\xfe\x80\x81\xff" * 10)
    shelf.write("途中.txt", "途中で切れた本文".encode()[:-1])
    shelf.write("機密.md", "---\nconfidentiality: 極秘\n---\n本文\n")
    shelf.write("部署.md", "---\ndepartment: [人事, 総務]\n---\n本文\n")
    shelf.write("壊れた前書き.md", "---\nconfidentiality: secret\ntitle: [\n---\n本文\n")
    shelf.write("深い.html", "<div>" * 5_000)
    with shelf.write("巨大.txt", "本文").open("r+b") as huge:
        huge.truncate(100 * 1024 * 1024)
    (shelf.folder / "切れたリンク.md").symlink_to(shelf.folder / "ない.md")
    os.mkfifo(shelf.folder / "管.txt")
    shelf.write("シフト.txt", "シフトJISの本文です。".encode("cp932"))
    shelf.write("ユニックス.txt", "EUCの本文です。".encode("euc_jp"))
    shelf.write("普通.md")

    report = shelf.add()
    assert sorted(report.added) == ["docs/シフト.txt", "docs/ユニックス.txt", "docs/普通.md"]
    assert shelf.documents().keys() == set(report.added)
    expected = {
        "空.md": "empty file",
        "空白.txt": "empty file",
        "目印だけ.txt": "no text in it",
        "画像.md": "binary file, not text",
        "写真.gif": "file type .gif is not read",
        "拡張子なし": "file type (none) is not read",
        "不明.txt": "unknown character encoding",
        "途中.txt": "UTF-8 with broken characters",
        "機密.md": "confidentiality: 極秘",
        "部署.md": "department in its front matter is not one name",
        "壊れた前書き.md": "front matter with confidentiality or department is not valid YAML",
        "深い.html": "HTML nested too deeply",
        "巨大.txt": "larger than 64 MiB (100 MiB)",
        "切れたリンク.md": "cannot be opened: No such file or directory",
        "管.txt": "not a regular file",
    }
    found = reasons(report)
    assert found.keys() == {f"docs/{name}" for name in expected}
    assert [name for name, reason in expected.items() if not found[f"docs/{name}"].startswith(reason)] == []


def test_what_may_not_be_opened_is_refused_and_not_taken_for_removed(open_shelf: Shelf) -> None:
    locked, inside = open_shelf.write("鍵.md"), open_shelf.write("金庫/中.md")
    open_shelf.write("普通.md")
    assert len(open_shelf.add().added) == 3
    locked.write_text("変わった本文")
    for database in open_shelf.folder.parent.glob("shirube.db*"):
        database.chmod(0o666)
    locked.chmod(0)
    inside.parent.chmod(0)
    try:
        with without_rights():
            report = open_shelf.add(remove_missing=True)
    finally:
        inside.parent.chmod(0o755)
    assert reasons(report) == {
        "docs/鍵.md": "cannot be opened: Permission denied",
        "docs/金庫": "folder cannot be opened",
    }
    assert (report.unchanged, report.removed) == (["docs/普通.md"], [])
    assert len(open_shelf.documents()) == 3


def test_what_a_refused_file_held_before_is_said_to_be_still_there_and_goes_with_sync(shelf: Shelf) -> None:
    shelf.write("旅費.md", "前の本文。")
    shelf.add()
    shelf.write("旅費.md", b"\x00\x01")
    report = shelf.add()
    assert (len(report.refused), report.removed) == (1, [])
    assert [warning for warning in report.warnings if "--sync" in warning and "旅費.md" in warning]
    document = shelf.documents()["docs/旅費.md"]
    assert [passage.text for passage in shelf.passages(document.id)] == ["前の本文。"]
    assert shelf.add(remove_missing=True).removed == ["docs/旅費.md"]
    assert shelf.documents() == {}


def test_a_folder_that_was_emptied_leaves_nothing_with_sync(shelf: Shelf) -> None:
    file = shelf.write("旅費.md")
    shelf.add()
    file.unlink()
    files = find_files([shelf.folder])
    options = Options(remove_missing=True)
    report = add_files(shelf.database, LOCAL, shelf.base, files, options, folders=[shelf.folder.resolve()])
    assert (report.removed, shelf.documents()) == (["docs/旅費.md"], {})


def test_links_out_of_the_folder_are_not_followed(shelf: Shelf) -> None:
    secret = shelf.folder.parent / "secret.md"
    secret.write_text("秘密の本文。")
    shelf.write("a.md")
    (shelf.folder / "外.md").symlink_to(secret)
    (shelf.folder / "中.md").symlink_to(shelf.folder / "a.md")
    report = shelf.add()
    assert reasons(report) == {"docs/外.md": "a link out of the folder"}
    assert report.added == ["docs/a.md", "docs/中.md"]


def test_a_reader_that_fails_keeps_no_other_file_out(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(data: bytes) -> Content:
        raise IndexError(len(data))

    monkeypatch.setitem(registry.READERS, ".odd", fails)
    shelf.write("a.odd")
    shelf.write("b.md")
    with caplog.at_level(logging.WARNING):
        report = shelf.add()
    assert reasons(report) == {"docs/a.odd": "its reader failed (IndexError)"}
    assert report.added == ["docs/b.md"]
    assert "a.odd" in caplog.text


def test_warnings_name_the_file(shelf: Shelf) -> None:
    shelf.write("旅費.md", "---\ntitle: [\n---\n本文\n")
    report = shelf.add()
    assert report.added == ["docs/旅費.md"]
    assert report.warnings[0].startswith("docs/旅費.md: front matter is not valid YAML")


def test_names_from_a_mac_are_the_same_names(shelf: Shelf) -> None:
    name = "がくぶ/規程ガイド.md"
    apart = unicodedata.normalize("NFD", name)
    assert apart != name
    shelf.write(apart)
    assert shelf.add().added == [f"docs/{name}"]
    document = shelf.documents()[f"docs/{name}"]
    assert (document.filename, document.title) == ("規程ガイド.md", "規程ガイド")
    assert shelf.add().unchanged == [f"docs/{name}"]
    shutil.rmtree(shelf.folder / apart.split("/")[0])
    shelf.write(name)
    assert shelf.add().unchanged == [f"docs/{name}"]


def test_two_files_of_one_name_are_not_both_taken(shelf: Shelf) -> None:
    shelf.write("ガイド.md", "一つ目。")
    shelf.write(unicodedata.normalize("NFD", "ガイド.md"), "二つ目。")
    report = shelf.add()
    assert len(report.added) == 1
    assert reasons(report) == {"docs/ガイド.md": "another file has the same name"}


def test_a_name_that_is_no_text_does_not_stop_the_others(shelf: Shelf) -> None:
    odd = os.fsencode(shelf.folder) + b"/\xff\xfe.md"
    Path(os.fsdecode(odd)).write_text("本文")
    Path(os.fsdecode(os.fsencode(shelf.folder) + b"/a.\xff")).write_text("本文")
    shelf.write("普通.md")
    report = shelf.add()
    assert sorted(report.added) == ["docs/??.md", "docs/普通.md"]
    assert "file type .? is not read" in reasons(report)["docs/a.?"]
    assert shelf.add().unchanged == report.added


def test_removed_files_go_only_when_asked_for(shelf: Shelf) -> None:
    gone, stays = shelf.write("古い.md"), shelf.write("今の.md")
    other = shelf.folder.parent / "別"
    other.mkdir()
    (other / "別.md").write_text("別の本文")
    shelf.add()
    shelf.add(other)
    gone.unlink()
    assert shelf.add().removed == []
    report = shelf.add(remove_missing=True)
    assert (report.removed, report.unchanged) == (["docs/古い.md"], ["docs/今の.md"])
    assert shelf.documents().keys() == {"docs/今の.md", "別/別.md"}
    assert shelf.add(stays, remove_missing=True).removed == []
    with shelf.database.read() as connection:
        left = connection.execute(select(tables.passages.c.document_id).distinct()).scalars().all()
    assert set(left) == {row.id for row in shelf.documents().values()}


def test_two_folders_of_one_name_do_not_overwrite_each_other(shelf: Shelf) -> None:
    shelf.write("規程.md", "一つ目の会社。")
    shelf.add()
    other = shelf.folder.parent / "別の会社" / "docs"
    other.mkdir(parents=True)
    (other / "規程.md").write_text("二つ目の会社。")
    (other / "新規.md").write_text("新しい規程。")
    report = shelf.add(other, remove_missing=True)
    assert reasons(report)["docs/規程.md"].startswith("a document of this name came from another folder")
    assert (report.added, report.removed) == (["docs/新規.md"], [])
    document = shelf.documents()["docs/規程.md"]
    assert [passage.text for passage in shelf.passages(document.id)] == ["一つ目の会社。"]
    assert shelf.add(other, collection="別の会社").added == ["docs/新規.md", "docs/規程.md"]


def test_with_sync_a_file_given_by_name_says_nothing_of_its_neighbours(shelf: Shelf) -> None:
    given = shelf.write("a.md")
    shelf.write("b.txt")
    shelf.write("下/c.md")
    shelf.add()
    assert shelf.add(given, remove_missing=True).removed == []
    given.write_bytes(b"\x00\x01")
    assert shelf.add(given, remove_missing=True).removed == ["docs/a.md"]
    assert set(shelf.documents()) == {"docs/b.txt", "docs/下/c.md"}


def test_a_folder_that_was_moved_keeps_its_documents_from_another_of_its_name(shelf: Shelf) -> None:
    shelf.write("規程.md")
    shelf.write("廃止.md")
    shelf.add()
    (shelf.folder.parent / "新居").mkdir()
    moved = shelf.folder.rename(shelf.folder.parent / "新居" / "docs")
    before = shelf.documents()
    assert shelf.add(moved).unchanged == ["docs/廃止.md", "docs/規程.md"]
    assert {row.version for row in shelf.documents().values()} == {row.version for row in before.values()}
    shelf.write("規程.md", "よその本文。")
    report = shelf.add(remove_missing=True)
    assert (report.changed, report.removed) == ([], [])
    assert reasons(report)["docs/規程.md"].startswith("a document of this name came from another folder")


def test_a_folder_that_was_moved_is_the_same_folder(shelf: Shelf) -> None:
    shelf.write("規程.md")
    shelf.write("廃止.md")
    shelf.add()
    (shelf.folder.parent / "新居").mkdir()
    moved = shelf.folder.rename(shelf.folder.parent / "新居" / "docs")
    assert shelf.add(moved).unchanged == ["docs/廃止.md", "docs/規程.md"]
    (moved / "規程.md").write_text("改定した本文。")
    (moved / "廃止.md").unlink()
    report = shelf.add(moved, remove_missing=True)
    assert (report.changed, report.removed, report.refused) == (["docs/規程.md"], ["docs/廃止.md"], [])


def test_what_the_options_say_of_access_is_what_the_document_gets(shelf: Shelf) -> None:
    shelf.write("規程.md", "---\ndepartment: 人事\nconfidentiality: Secret\ndate: 2024-04-01\n---\n本文\n")
    shelf.add()
    document = shelf.documents()["docs/規程.md"]
    assert (document.department, document.confidentiality) == ("人事", Confidentiality.secret)
    assert document.metadata["date"] == "2024-04-01"

    report = shelf.add(department="総務", confidentiality=Confidentiality.public)
    assert report.changed == ["docs/規程.md"]
    document = shelf.documents()["docs/規程.md"]
    assert (document.department, document.confidentiality) == ("総務", Confidentiality.public)
    assert shelf.add(department="総務", confidentiality=Confidentiality.public).unchanged == ["docs/規程.md"]

    assert shelf.add(confidentiality=Confidentiality.secret).changed == ["docs/規程.md"]
    assert shelf.add(department="").changed == ["docs/規程.md"]
    document = shelf.documents()["docs/規程.md"]
    assert (document.department, document.confidentiality) == (None, Confidentiality.secret)


def test_who_may_read_a_document_is_not_forgotten_when_the_options_are_not_given_again(shelf: Shelf) -> None:
    shelf.write("規程.md", "本文。")
    shelf.add(department="人事", confidentiality=Confidentiality.secret)
    assert shelf.add().unchanged == ["docs/規程.md"]
    shelf.write("規程.md", "改定した本文。")
    assert shelf.add().changed == ["docs/規程.md"]
    document = shelf.documents()["docs/規程.md"]
    assert (document.department, document.confidentiality) == ("人事", Confidentiality.secret)


@pytest.mark.parametrize(
    ("written", "department", "confidentiality"),
    [
        ("", None, "internal"),
        ("department: ''\nconfidentiality:", None, "internal"),
        ("Department: ' 法務 '\nCONFIDENTIALITY: confidential", "法務", "confidential"),
        ("department: 100", "100", "internal"),
        ("confidentiality: TOP_SECRET", None, "top_secret"),
    ],
)
def test_front_matter_says_who_may_read(
    shelf: Shelf, written: str, department: str | None, confidentiality: str
) -> None:
    shelf.write("規程.md", f"---\n{written}\n---\n本文\n")
    assert reasons(shelf.add()) == {}
    document = shelf.documents()["docs/規程.md"]
    assert (document.department, document.confidentiality) == (department, Confidentiality[confidentiality])


@pytest.mark.parametrize(
    "written",
    [
        "confidentiality: 3",
        "confidentiality: yes",
        "confidentiality: [secret]",
        "department: true",
        "department: {a: b}",
        f"department: {'長' * 201}",
    ],
)
def test_a_word_that_is_not_understood_opens_nothing(shelf: Shelf, written: str) -> None:
    shelf.write("規程.md", f"---\n{written}\n---\n本文\n")
    assert list(reasons(shelf.add())) == ["docs/規程.md"]
    assert shelf.documents() == {}


def test_front_matter_cannot_say_where_a_file_came_from(shelf: Shelf) -> None:
    shelf.write("規程.md", "---\nroot: /elsewhere\ngiven: {department: 人事}\nnote: 1.5\n---\n本文\n")
    shelf.add()
    metadata = shelf.documents()["docs/規程.md"].metadata
    given = {"department": None, "confidentiality": None}
    assert metadata == {"root": str(shelf.folder), "given": given, "note": "1.5"}


def test_a_title_without_end_is_cut(shelf: Shelf) -> None:
    shelf.write("長い.html", f"<h1>{'長い題。' * 2_000}")
    shelf.add()
    assert len(shelf.documents()["docs/長い.html"].title) == 300


def test_hidden_files_and_folders_are_passed_over(shelf: Shelf) -> None:
    for name in (".隠し.md", ".git/config.md", "見える/.中.md", "見える/外.md"):
        shelf.write(name)
    assert [file.source for file in find_files([shelf.folder])] == ["docs/見える/外.md"]


def test_links_that_go_round_come_to_an_end(shelf: Shelf) -> None:
    shelf.write("a.md")
    (shelf.folder / "輪").symlink_to(shelf.folder)
    (shelf.folder / "自分.md").symlink_to(shelf.folder / "自分.md")
    report = shelf.add()
    assert report.added == ["docs/a.md"]
    assert reasons(report) == {"docs/自分.md": "a link that leads to itself"}


@pytest.mark.parametrize("name", ["ない", "輪"])
def test_a_path_that_leads_nowhere_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "輪").symlink_to(tmp_path / "輪")
    with pytest.raises(InvalidInput) as refused:
        find_files([tmp_path / name])
    assert name in str(refused.value)


def test_what_the_report_names_is_stored_already(shelf: Shelf) -> None:
    for number in range(3):
        shelf.write(f"{number}.md")
    shelf.write("空.md", b"")
    seen: list[tuple[int, int, int]] = []

    def on_file(report: Report) -> None:
        seen.append((len(report.added), len(report.refused), len(shelf.documents())))

    add_files(shelf.database, LOCAL, shelf.base, find_files([shelf.folder]), Options(), on_file)
    assert seen == [(1, 0, 1), (2, 0, 2), (3, 0, 3), (3, 1, 3)]


def test_only_who_may_see_the_base_may_add_to_it(shelf: Shelf) -> None:
    shelf.write("規程.md")
    stranger = replace(LOCAL, tenant="elsewhere")
    with pytest.raises(Exception, match="not found"):
        add_files(shelf.database, stranger, shelf.base, find_files([shelf.folder]), Options())
    assert shelf.documents() == {}


def test_what_the_caller_may_not_see_they_cannot_change_or_remove(shelf: Shelf) -> None:
    shelf.write("秘.md", "# 合併\n\n交渉の経過。\n")
    shelf.write("他.md")
    shelf.add(confidentiality=Confidentiality.secret)
    member = Caller(LOCAL.tenant, LOCAL.subject, clearance=Confidentiality.internal)
    shelf.write("秘.md", "書き換えた。\n")
    files = find_files([shelf.folder / "秘.md"])
    options = Options(remove_missing=True, confidentiality=Confidentiality.public)
    report = add_files(shelf.database, member, shelf.base, files, options, folders=[shelf.folder])
    assert [refused.reason for refused in report.refused] == [
        "a document of this name is not yours to change"
    ]
    assert (report.changed, report.removed) == ([], [])
    held = shelf.documents()
    assert {row.confidentiality for row in held.values()} == {Confidentiality.secret}
    assert held["docs/秘.md"].title == "合併"
