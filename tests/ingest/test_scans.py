"""Images and scanned pages: what Tesseract reads on them, and what happens where it is not there or goes wrong."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from shirube.ingest.readers import apart
from shirube.ingest.readers.contract import Content, Unreadable
from shirube.ingest.readers.registry import READERS
from shirube.ingest.readers.tesseract import languages, paragraphs
from tests.ingest.conftest import Program
from tests.ingest.paper import Line, Scan, pdf

PAGE = Path(__file__).parent / "scans" / "page.png"
installed = pytest.mark.skipif(languages() is None, reason="Tesseract with Japanese is not installed here")


def read(data: bytes, suffix: str = ".png") -> Content:
    return READERS[suffix](data)


def scanned() -> Scan:
    """The page as a scanner leaves it in a PDF."""
    with Image.open(PAGE) as image:
        paper = Image.new("L", (1240, 1754), 255)
        paper.paste(image, (0, 0))
    return Scan(*paper.size, paper.tobytes())


@installed
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "BMP", "TIFF"])
def test_japanese_is_read_on_an_image(kind: str) -> None:
    written = io.BytesIO()
    with Image.open(PAGE) as image:
        image.convert("L").save(written, kind)
    text = read(written.getvalue(), {"JPEG": ".jpg", "TIFF": ".tif"}.get(kind, f".{kind.lower()}")).text
    assert "出張旅費規程\n" in text
    assert "日当として一日二千五百円を支給する。" in text
    assert "マネージャーの承認を受けたサーバー管理者" in text


@installed
def test_black_on_transparent_is_read_as_black_on_white() -> None:
    with Image.open(PAGE) as image:
        ink = image.convert("L").point(lambda light: 255 - light)
    drawn = Image.new("RGBA", ink.size, (0, 0, 0, 0))
    drawn.putalpha(ink)
    written = io.BytesIO()
    drawn.save(written, "PNG")
    assert "日当として一日二千五百円" in read(written.getvalue()).text


@installed
def test_a_scanned_page_of_a_pdf_is_read_between_the_others() -> None:
    content = read(
        pdf(
            [Line("はじめの頁の文章です。", 72, 700)], [scanned()], [Line("おわりの頁の文章です。", 72, 700)]
        ),
        ".pdf",
    )
    at = content.text.index("日当として一日二千五百円を支給する。")
    assert content.pages[1] < at < content.pages[2]
    assert not content.warnings


def test_what_tesseract_prints_becomes_paragraphs_with_their_long_vowels() -> None:
    printed = (
        "出 張 旅 費 規 程\n\n第 3 条 社 員 に は 日 当 を 支 給 し 、 マ ネ - ジ ャ - が こ れ\n"
        "を 承 認 す る 。\n・ Web API を 使 う\n\n  \nWords of a line\nand of another\n\f"
    )
    assert paragraphs(printed).split("\n") == [
        "出張旅費規程",
        "第 3 条社員には日当を支給し、マネージャーがこれを承認する。",
        "・ Web API を使う",
        "Words of a line and of another",
    ]


def test_every_image_of_a_tiff_is_a_page(tesseract: Program) -> None:
    tesseract("cat > /dev/null; echo 読みました。")
    written = io.BytesIO()
    pages = [Image.new("L", (40, 40), 255) for _ in range(3)]
    pages[0].save(written, "TIFF", save_all=True, append_images=pages[1:])
    content = read(written.getvalue(), ".tiff")
    assert content.text == "読みました。\n" * 3
    assert list(content.pages) == [0, 7, 14]


@pytest.mark.usefixtures("no_tesseract")
def test_without_tesseract_an_image_is_refused_with_what_to_install() -> None:
    with pytest.raises(Unreadable, match="install tesseract with jpn") as refused:
        read(PAGE.read_bytes())
    assert "tesseract-ocr-jpn" in refused.value.ja


def test_without_japanese_tesseract_is_not_used(tesseract: Program, tmp_path: Path) -> None:
    tesseract("echo wrong")
    (tmp_path / "bin" / "tesseract").write_text("#!/bin/sh\necho eng\n")
    with pytest.raises(Unreadable, match="install tesseract with jpn"):
        read(PAGE.read_bytes())


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n" + b"\0" * 100, PAGE.read_bytes()[:2000], b"no image"])
def test_a_damaged_image_is_refused(tesseract: Program, data: bytes) -> None:
    tesseract("cat > /dev/null; echo 読みました。")
    with pytest.raises(Unreadable, match="damaged, or not an image"):
        read(data)


def test_an_image_of_too_many_pixels_is_refused_before_it_is_unpacked(tesseract: Program) -> None:
    tesseract("cat > /dev/null; echo 読みました。")
    written = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(written, "PNG")
    assert len(written.getvalue()) < 200_000
    with pytest.raises(Unreadable, match="million pixels"):
        read(written.getvalue())


def test_a_page_on_which_tesseract_fails_is_named_and_the_rest_read(tesseract: Program) -> None:
    tesseract("exit 1")
    content = read(pdf([Line("はじめの頁の文章です。", 72, 700)], [scanned()]), ".pdf")
    assert content.text == "はじめの頁の文章です。"
    assert content.warnings[0].endswith("not read: 2")


def test_a_child_that_is_killed_costs_only_its_file(tesseract: Program) -> None:
    tesseract("kill -9 $PPID")
    assert read(pdf([Line("一つ目の文章です。", 72, 700)]), ".pdf").text == "一つ目の文章です。"
    before = apart.pid()
    with pytest.raises(Unreadable, match="its reader broke down"):
        read(PAGE.read_bytes())
    assert read(pdf([Line("二つ目の文章です。", 72, 700)]), ".pdf").text == "二つ目の文章です。"
    assert before != apart.pid()


def test_a_child_that_dies_between_files_is_started_again() -> None:
    assert read(pdf([Line("一つ目の文章です。", 72, 700)]), ".pdf").text
    child = apart.pid()
    assert child
    os.killpg(child, signal.SIGKILL)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert read(pdf([Line("二つ目の文章です。", 72, 700)]), ".pdf").text == "二つ目の文章です。"


def test_what_takes_too_long_is_ended_with_everything_it_has_started(
    tesseract: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(pdf([Line("準備の文章です。", 72, 700)]), ".pdf")
    apart._reader.close()
    os.mkfifo(tmp_path / "alive")
    tesseract(f"exec 3<> {tmp_path / 'alive'}; exec sleep 600")
    monkeypatch.setattr(apart, "SECONDS", 3.0)
    heard = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(Unreadable, match="took too long"):
            read(PAGE.read_bytes())
        os.set_blocking(heard, True)
        assert os.read(heard, 1) == b""  # the end: nobody holds it open any more
    finally:
        os.close(heard)
    assert read(pdf([Line("次の文章です。", 72, 700)]), ".pdf").text == "次の文章です。"


def test_the_child_ends_when_its_parent_is_killed_in_the_middle_of_a_file(
    tesseract: Program, tmp_path: Path
) -> None:
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    tesseract(f"exec 3> {alive}; echo begun >&3; exec sleep 600")
    program = (
        "from pathlib import Path; from shirube.ingest.readers.registry import READERS; "
        f"READERS['.png'](Path({str(PAGE)!r}).read_bytes())"
    )
    parent = subprocess.Popen([sys.executable, "-c", program])
    with alive.open("rb") as heard:
        assert heard.readline() == b"begun\n"
        parent.kill()
        parent.wait()
        assert heard.read() == b""


def test_the_libraries_are_loaded_in_the_child_only() -> None:
    program = (
        "import sys, shirube.cli.knowledge; "
        "print([name for name in ('pypdfium2', 'docx', 'openpyxl', 'pptx', 'PIL') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
