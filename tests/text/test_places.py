"""Prefectures by any name, and the level of a body of government."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.text.places import (
    PREFECTURES,
    Prefecture,
    authority_level,
    find_prefectures,
    nearest_prefectures,
    prefecture,
)

EACH = st.sampled_from(PREFECTURES)


def named(text: str) -> list[tuple[str, str]]:
    return [(mention.prefecture.name, text[slice(*mention.span)]) for mention in find_prefectures(text)]


def test_there_are_47_with_the_codes_of_the_standard() -> None:
    assert [one.code for one in PREFECTURES] == list(range(1, 48))
    codes = {1: "北海道", 13: "東京都", 20: "長野県", 26: "京都府", 33: "岡山県", 40: "福岡県", 47: "沖縄県"}
    assert {code: PREFECTURES[code - 1].name for code in codes} == codes


@given(EACH)
def test_every_form_of_a_name_gives_its_prefecture(one: Prefecture) -> None:
    katakana = "".join(chr(ord(char) + 0x60) for char in one.kana)
    forms = [one.name, one.short, one.romaji, one.romaji.upper(), one.kana, katakana, f"JP-{one.code:02}"]
    forms += [
        f"{one.romaji} Prefecture",
        f"{one.romaji}-ken",
        str(one.code),
        f"{one.code:02}",
        f" {one.name} ",
    ]
    assert {prefecture(form) for form in forms} == {one}
    assert prefecture(one.code) == one


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tokyo-to", "東京都"),
        ("ＴＯＫＹＯ", "東京都"),
        ("１３", "東京都"),
        ("ﾄｳｷｮｳ", "東京都"),
        ("とうきょうと", "東京都"),
        ("Tōkyō", "東京都"),
        ("Toukyou", "東京都"),
        ("Ohsaka", "大阪府"),
        ("Ooita", "大分県"),
        ("Gumma", "群馬県"),
        ("Hokkai-do", "北海道"),
        ("Kyoto", "京都府"),
        ("おおさかふ", "大阪府"),
        ("廣島縣", "広島県"),
    ],
)
def test_other_ways_of_writing_a_name_are_known(name: str, expected: str) -> None:
    one = prefecture(name)
    assert one
    assert one.name == expected


@pytest.mark.parametrize(
    "name", ["", "東", "0", "48", "113", 0, -1, "東京市", "青森市", "日本", "全国", "kyo"]
)
def test_anything_else_is_no_prefecture(name: str | int) -> None:
    assert prefecture(name) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東京都庁", [("東京都", "東京都")]),
        ("京都府と東京都", [("京都府", "京都府"), ("東京都", "東京都")]),
        ("東京都府中市", [("東京都", "東京都")]),
        ("愛知県名古屋市", [("愛知県", "愛知県")]),
        ("青森の補助金", [("青森県", "青森")]),
        ("東京・大阪、京都", [("東京都", "東京"), ("大阪府", "大阪"), ("京都府", "京都")]),
        ("【秋田への移住】", [("秋田県", "秋田")]),
        ("廣島縣", [("広島県", "廣島縣")]),
        ("大分・三重", [("大分県", "大分"), ("三重県", "三重")]),
    ],
)
def test_prefectures_are_found_where_they_are_named(text: str, expected: list[tuple[str, str]]) -> None:
    assert named(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "青森市",
        "東京駅",
        "新青森",
        "中京都市圏",
        "山口さん",
        "大分あたたかい",
        "三重の扉",
        "京都議定書",
        "香川大学",
    ],
)
def test_a_short_name_inside_another_word_names_no_prefecture(text: str) -> None:
    assert named(text) == []


@given(st.lists(EACH, max_size=6), st.sampled_from(["", "、", "と", "Ａ", "㌔"]))
def test_full_names_are_found_in_order_whatever_stands_between(those: list[Prefecture], between: str) -> None:
    text = between.join(one.name for one in those)
    assert named(text) == [(one.name, one.name) for one in those]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("青林県", "青森県"),
        ("東京部", "東京都"),
        ("Tokio", "東京都"),
        ("北海度", "北海道"),
        ("とうきよう", "東京都"),
    ],
)
def test_the_nearest_name_of_a_slip_comes_first(typed: str, meant: str) -> None:
    assert nearest_prefectures(typed)[0] == meant


def test_there_are_no_hints_where_nothing_is_like_it_and_never_more_than_asked() -> None:
    assert nearest_prefectures("xyz") == nearest_prefectures("") == nearest_prefectures("山", n=0) == []
    assert len(nearest_prefectures("山", n=2)) == 2
    assert nearest_prefectures("青" * 1_000_000) == []


@given(EACH)
def test_a_right_name_is_nearest_to_itself(one: Prefecture) -> None:
    assert nearest_prefectures(one.name, n=1) == [one.name]
    assert nearest_prefectures(one.romaji, n=1) == [one.name]


@pytest.mark.parametrize(
    ("level", "names"),
    [
        (
            "national",
            "国 national National 経済産業省 農水省 中小企業庁 内閣府 九州農政局 北海道開発局 国（農水省等）",
        ),
        (
            "prefecture",
            "都道府県 prefecture 青森県 青森 Tokyo 東京都庁 東京都財務局 京都府 警視庁 都道府県(福岡県)",
        ),
        (
            "municipality",
            "市区町村 municipality 市町村 横浜市 港区 ○○町 ○○村 長野県飯綱町 東京都港区 札幌市役所",
        ),
        ("financial", "公庫 financial 日本政策金融公庫 信用保証協会 青森県信用保証協会 商工中金 みずほ銀行"),
    ],
)
def test_the_level_of_a_body_is_told_by_its_name(level: str, names: str) -> None:
    assert {name: authority_level(name) for name in names.split()} == dict.fromkeys(names.split(), level)


def test_of_several_bodies_those_that_tell_must_agree() -> None:
    assert authority_level("中小企業庁 × 全国商工会連合会") == "national"
    assert authority_level("厚生労働省/都道府県") is None


@pytest.mark.parametrize(
    "name", ["", "地方自治体", "農村", "日本商工会議所", "13", "青森県市町村課", "(東京都)", "○○地区"]
)
def test_a_name_that_does_not_tell_has_no_level(name: str) -> None:
    assert authority_level(name) is None
