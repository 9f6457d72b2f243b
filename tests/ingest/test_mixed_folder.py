"""A folder of everything an office keeps, taken in with one command: what goes in, what is refused, what is cited."""

import unicodedata
from pathlib import Path

import docx
import pytest

from shirube.ingest.readers.tesseract import languages
from tests.cli.conftest import Run, shirube
from tests.ingest.conftest import Program
from tests.ingest.office import bomb, deck, saved, sheets, word
from tests.ingest.paper import ENCRYPTION, Line, Scan, paragraph, pdf
from tests.ingest.test_sync import Shelf, shelf

__all__ = ["shelf", "shirube"]

PAGE = Path(__file__).parent / "scans" / "page.png"
HANDBOOK = pdf(
    [
        Line("出張の手引", 200, 750, 20),
        *paragraph(["出張の前に上長の承認を受ける。", "経路は最も安いものを選ぶ。"], 650),
    ],
    [
        Line("宿泊費の上限", 72, 750, 16),
        *paragraph(["東京都区部に宿泊するときの上限は、一泊につき一万三千五百円", "とする。"], 700),
    ],
)


@pytest.fixture
def office(tmp_path: Path) -> Path:
    folder = tmp_path / "共有"
    folder.mkdir()
    files = {
        "案内.md": "# 案内\n\n受付は一階にあります。\n".encode(),
        "内線.csv": "氏名,内線\n佐藤はなこ,5678\n".encode(),
        "食堂.html": "<h1>食堂</h1><p>営業は十一時からです。</p>".encode(),
        "手引.pdf": HANDBOOK,
        unicodedata.normalize("NFD", "育児ガイド.docx"): word(
            ("Heading 1", "育児休業"), "育児休業は子が二歳になるまで取得できる。"
        ),
        "備品.xlsx": sheets(貸出=[["備品", "保管場所"], ["プロジェクター", "第二会議室"]]),
        "方針.pptx": deck(("はじめに", "本日の内容です。"), ("品質方針", "検査は二人で行う。")),
        "壊れた.pdf": HANDBOOK[:400],
        "鍵.pdf": pdf([Line("秘密の文章です。")], trailer=ENCRYPTION),
        "爆弾.docx": bomb(),
        "偽物.docx": HANDBOOK,
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def test_a_mixed_folder_goes_in_with_one_command(shirube: Run, office: Path, tesseract: Program) -> None:
    tesseract("cat > /dev/null; echo 日当は一日二千五百円を支給する。")
    (office / "旅費.png").write_bytes(PAGE.read_bytes())
    added = shirube("kb", "add", str(office), "--kb", "共有", "--json", "--no-vectors")
    assert added.code == 0, added.err
    report = added.json()
    assert sorted(report["added"]) == sorted(
        f"共有/{name}"
        for name in "案内.md 内線.csv 食堂.html 手引.pdf 育児ガイド.docx 備品.xlsx 方針.pptx 旅費.png".split()
    )
    reasons = {refused["source"]: refused["reason"] for refused in report["refused"]}
    assert reasons == {
        "共有/壊れた.pdf": "damaged, or not a PDF",
        "共有/鍵.pdf": "encrypted; remove the password",
        "共有/爆弾.docx": "unpacks to far more than it should (a zip bomb?)",
        "共有/偽物.docx": "named .docx, but it is a PDF; give it its right name",
    }
    for query, file, page, heading in (
        ("東京都区部の宿泊費の上限", "手引.pdf", 2, ["出張の手引", "宿泊費の上限"]),
        ("出張の承認", "手引.pdf", 1, ["出張の手引"]),
        ("育児休業は何歳まで", "育児ガイド.docx", None, ["育児休業"]),
        ("プロジェクターの保管場所", "備品.xlsx", None, ["貸出"]),
        ("検査は何人で行う", "方針.pptx", 2, ["品質方針"]),
        ("日当の額", "旅費.png", None, []),
    ):
        first = shirube("search", query, "--kb", "共有", "--json", "--threshold", "0").json()["results"][0][
            "metadata"
        ]
        place = {"file": f"共有/{file}", "page": page} if page else {"file": f"共有/{file}"}
        assert (first["source"], first["heading_path"]) == (place, heading), query
    assert (
        "手引.pdf p.2"
        in shirube("search", "東京都区部の宿泊費の上限", "--kb", "共有", "--threshold", "0").out
    )


def test_the_report_says_in_japanese_why_a_file_was_refused(shirube: Run, office: Path) -> None:
    said = shirube("kb", "add", str(office), "--kb", "共有", "--no-vectors").err
    assert "共有/鍵.pdf: 暗号化されています。" in said
    assert "共有/爆弾.docx: 展開すると異常に大きくなります" in said


def test_a_killed_child_costs_one_file_and_the_next_goes_in(shelf: Shelf, tesseract: Program) -> None:
    tesseract("kill -9 $PPID")
    shelf.write("1.docx", word("一つ目の文章です。"))
    shelf.write("2.png", PAGE.read_bytes())
    shelf.write("3.docx", word("三つ目の文章です。"))
    report = shelf.add()
    assert report.added == ["docs/1.docx", "docs/3.docx"]
    assert [(refused.source, refused.reason) for refused in report.refused] == [
        ("docs/2.png", "its reader broke down; the file may be damaged")
    ]


def test_pages_and_headings_are_stored_with_the_passages(shelf: Shelf) -> None:
    shelf.write("手引.pdf", HANDBOOK)
    shelf.add()
    (document,) = shelf.documents().values()
    assert [(row.page, row.heading_path[-1]) for row in shelf.passages(document.id)] == [
        (1, "出張の手引"),
        (2, "宿泊費の上限"),
    ]


def test_an_unchanged_office_file_is_not_read_again(shelf: Shelf) -> None:
    path = shelf.write("規程.docx", word("一つ目の文章です。"))
    assert shelf.add().added == ["docs/規程.docx"]
    assert shelf.add().unchanged == ["docs/規程.docx"]
    document = docx.Document(str(path))
    document.add_paragraph("書き足した文章です。")
    shelf.write("規程.docx", saved(document))
    assert shelf.add().changed == ["docs/規程.docx"]


def test_a_scanned_file_is_read_again_once_tesseract_is_there(shelf: Shelf, tesseract: Program) -> None:
    white = Scan(100, 140, b"\xff" * 14_000)
    shelf.write("混在.pdf", pdf([Line("はじめの頁の文章です。", 72, 700)], [white]))
    shelf.write("案内.md", "本文です。")
    with pytest.MonkeyPatch.context() as without:
        without.setenv("PATH", "/nowhere")
        report = shelf.add()
    assert [
        warning for warning in report.warnings if "混在.pdf" in warning and warning.endswith("not read: 2")
    ]
    languages.cache_clear()
    tesseract("cat > /dev/null; echo 次の頁の文章です。")
    report = shelf.add()
    assert (report.changed, report.unchanged) == (["docs/混在.pdf"], ["docs/案内.md"])
    (row,) = [each for each in shelf.documents().values() if each.source == "docs/混在.pdf"]
    assert [(passage.page, passage.text) for passage in shelf.passages(row.id)] == [
        (1, "はじめの頁の文章です。"),
        (2, "次の頁の文章です。"),
    ]


def test_what_tesseract_read_is_kept_while_it_is_missing(shelf: Shelf, tesseract: Program) -> None:
    """Whoever imports from another account, without it, must not lose what it read."""
    tesseract("cat > /dev/null; echo 次の頁の文章です。")
    shelf.write(
        "混在.pdf", pdf([Line("はじめの頁の文章です。", 72, 700)], [Scan(100, 140, b"\xff" * 14_000)])
    )
    shelf.write("画像.png", PAGE.read_bytes())
    assert len(shelf.add().added) == 2
    before = {source: row.content_hash for source, row in shelf.documents().items()}
    languages.cache_clear()
    with pytest.MonkeyPatch.context() as without:
        without.setenv("PATH", "/nowhere")
        report = shelf.add(remove_missing=True)
    assert (len(report.unchanged), report.removed, report.refused) == (2, [], [])
    assert len([warning for warning in report.warnings if "Tesseract is missing" in warning]) == 2
    assert {source: row.content_hash for source, row in shelf.documents().items()} == before


def test_a_changed_scan_is_not_removed_because_nobody_can_read_it_now(
    shelf: Shelf, tesseract: Program
) -> None:
    tesseract("cat > /dev/null; echo 画像の文章です。")
    shelf.write("画像.png", PAGE.read_bytes())
    shelf.add()
    shelf.write("画像.png", PAGE.read_bytes() + b"\n")
    languages.cache_clear()
    with pytest.MonkeyPatch.context() as without:
        without.setenv("PATH", "/nowhere")
        report = shelf.add(remove_missing=True)
    assert [refused.source for refused in report.refused] == ["docs/画像.png"]
    assert report.removed == []
    assert set(shelf.documents()) == {"docs/画像.png"}


def test_a_page_that_could_not_be_read_is_tried_again(
    shelf: Shelf, tesseract: Program, tmp_path: Path
) -> None:
    tesseract(f"cat > /dev/null; [ -e {tmp_path}/well ] || exit 1; echo 次の頁の文章です。")
    shelf.write(
        "混在.pdf", pdf([Line("はじめの頁の文章です。", 72, 700)], [Scan(100, 140, b"\xff" * 14_000)])
    )
    assert shelf.add().added == ["docs/混在.pdf"]
    assert shelf.add().changed == ["docs/混在.pdf"]
    (tmp_path / "well").touch()
    assert shelf.add().changed == ["docs/混在.pdf"]
    assert shelf.add().unchanged == ["docs/混在.pdf"]
    (row,) = shelf.documents().values()
    assert "次の頁の文章です。" in "".join(each.text for each in shelf.passages(row.id))
