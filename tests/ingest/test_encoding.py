"""Bytes to text: the encodings Japanese files come in, and what is refused rather than guessed."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.ingest.readers.contract import Unreadable
from shirube.ingest.readers.encoding import decode

ENCODINGS = [
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-16-le-bom",
    "utf-16-be-bom",
    "utf-32",
    "cp932",
    "euc_jp",
    "iso2022_jp",
]
BOOK = (
    "第一条　この規程は、従業員の出張に関する手続を定める。\r\n旅費は１日につき1,000円とする（税別）。\r\n"
    * 20
)
SHORT = ["あ", "東京都", "株式会社", "売上 100円", "テスト", "ＡＢＣ", "はい。", "A社の件", "※注記", "■"]
# Hiragana, katakana, and kanji that every Japanese encoding has and uses.
JAPANESE = st.text("あいうえおかきくけこのはをがでアイウエオカードン。、日本東京都会社員時月電気", min_size=2)


def encoded(text: str, encoding: str) -> bytes:
    if encoding.endswith("-bom"):
        return f"\ufeff{text}".encode(encoding.removesuffix("-bom"))
    return text.encode(encoding)


def refusal(data: bytes) -> Unreadable:
    with pytest.raises(Unreadable) as refused:
        decode(data)
    assert refused.value.en
    assert refused.value.ja
    return refused.value


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("text", [BOOK, *SHORT], ids=["book", *SHORT])
def test_japanese_text_is_read_exactly_in_every_encoding(text: str, encoding: str) -> None:
    assert decode(encoded(text, encoding)) == text


@given(JAPANESE, st.sampled_from(ENCODINGS))
def test_any_japanese_text_comes_back_as_it_was_written(text: str, encoding: str) -> None:
    assert decode(encoded(text, encoding)) == text


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_utf_8_is_never_taken_for_anything_else(text: str) -> None:
    assert decode(text.encode()) == text.removeprefix("\ufeff")


@pytest.mark.parametrize("encoding", ["cp932", "euc_jis_2004"])
def test_letters_that_windows_added_are_read(encoding: str) -> None:
    text = "①申請書　㈱山田商店　№１２　Ⅳ章\n"
    assert decode(text.encode(encoding)) == text


def test_mail_from_windows_is_read() -> None:
    assert decode(b"\x1b$B-!F|K\\\x1b(B OK\r\n") == "①日本 OK\r\n"
    assert decode(b"\x1b$@F|K\\\x1b(J OK") == "日本 OK"


def test_shift_jis_full_of_half_width_katakana_is_read() -> None:
    transfers = "".join(
        f"2{number:04}ﾐﾂﾋﾞｼUFJ        {number:03}ｼﾌﾞﾔ           ｶ)ﾔﾏﾀﾞｼﾖｳﾃﾝ      {number * 1000:010}\r\n"
        for number in range(30)
    )
    assert decode(transfers.encode("cp932")) == transfers
    assert decode("ﾔﾏﾀﾞ ﾀﾛｳ\nｽｽﾞｷ ﾊﾅｺ\n".encode("cp932")) == "ﾔﾏﾀﾞ ﾀﾛｳ\nｽｽﾞｷ ﾊﾅｺ\n"


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
        b"PK\x03\x04\x14\x00\x00\x00",
        b"a" * 300_000 + b"\x00",
        "日本語".encode("utf-16-le") + "text".encode("utf-16-le"),
        b"\xff\xfe" + "text\0text".encode("utf-16-le"),
        bytes(range(1, 32)) * 10,
    ],
    ids=["image", "archive", "late NUL", "UTF-16 without a mark", "NUL in UTF-16", "controls"],
)
def test_binary_files_are_called_that(data: bytes) -> None:
    assert "binary" in refusal(data).en


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(128, 256)) * 4,
        b"\xff\xfea",
        b"\xff\xfe\x00\xd8a\x00",
        b"\x1b$B\x7f\x7f\x1b(B",
        "It’s a fine “day”.".encode("cp1252"),
        "It’s fine".encode("cp1252"),
        "größte Mühe, Übung".encode("latin-1"),
        "fête".encode("latin-1"),
        "Привет, мир".encode("cp1251"),
        ("中国的首都是北京，我们在这里工作。" * 5).encode("gb2312"),
        ("한국의 수도는 서울입니다. " * 5).encode("euc_kr"),
        ("台灣的首都是台北市，我們在這裡工作。" * 5).encode("big5"),
    ],
    ids=lambda data: data[:8].hex(),
)
def test_what_cannot_be_told_is_refused_with_the_encodings_that_are_read(data: bytes) -> None:
    assert "Shift_JIS" in refusal(data).en


@given(JAPANESE.filter(lambda text: len(text) > 3), st.data())
def test_broken_utf_8_is_reported_and_not_read_as_shift_jis(text: str, data: st.DataObject) -> None:
    whole = text.encode()
    at = data.draw(st.integers(6, len(whole) - 1).filter(lambda at: whole[at] & 0xC0 == 0x80))
    assert refusal(whole[:at]).en.startswith("UTF-8 with broken characters")
    refusal(whole[:at] + whole[at + 1 :])


@given(st.binary(max_size=300))
def test_any_bytes_are_read_exactly_or_refused(data: bytes) -> None:
    try:
        text = decode(data)
    except Unreadable:
        return
    encodings = [*ENCODINGS, "euc_jis_2004", "iso2022_jp_ext", "iso2022_jp_2004"]
    assert any(_same(data, text, encoding) for encoding in encodings)
    assert "\0" not in text


def _same(data: bytes, text: str, encoding: str) -> bool:
    try:
        return data.decode(encoding.removesuffix("-le-bom").removesuffix("-be-bom")) == text
    except UnicodeDecodeError:
        return False


def test_a_declared_encoding_is_believed_only_where_utf_8_fails() -> None:
    assert decode("日本".encode(), "cp932") == "日本"
    assert decode("fête".encode("latin-1"), "cp1252") == "fête"
    assert decode("日本".encode("cp932"), "ascii") == "日本"


@pytest.mark.parametrize("encoding", ["utf-8", "cp932", "euc_jp", "iso2022_jp"])
def test_a_large_file_is_told_at_a_glance(encoding: str) -> None:
    data = encoded(BOOK * 1_000, encoding)
    begun = time.process_time()
    assert len(decode(data)) == len(BOOK) * 1_000
    assert time.process_time() - begun < 5
