"""The table of old kanji: one to one, and nothing in it that normalisation would never show it."""

import unicodedata

import pytest

from shirube.text.kanji import OLD_TO_NEW
from shirube.text.normalize import fold


def test_every_entry_is_one_kanji_for_another() -> None:
    assert [
        (old, new)
        for old, new in OLD_TO_NEW.items()
        if old == new or any("CJK" not in unicodedata.name(char) or len(char) != 1 for char in (old, new))
    ] == []


def test_no_entry_is_out_of_reach_of_the_folding() -> None:
    assert [old for old in OLD_TO_NEW if unicodedata.normalize("NFKC", old).casefold() != old] == []


def test_no_new_form_is_an_old_form_of_another() -> None:
    assert [old for old, new in OLD_TO_NEW.items() if new in OLD_TO_NEW or fold(new) != new] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("國學院大學", "国学院大学"),
        ("廣島縣", "広島県"),
        ("澁澤榮一", "渋沢栄一"),
        ("龍馬傳", "竜馬伝"),
        ("增稅", "増税"),
        ("戶籍謄本", "戸籍謄本"),
        ("徵收", "徴収"),
        ("步道", "歩道"),
        ("𠮷野家", "吉野家"),
        ("渡邊・渡邉", "渡辺・渡辺"),
        ("辯護士", "弁護士"),
        ("\ufa1b\ufa4d", "福祉"),
    ],
)
def test_old_names_and_words_fold_to_those_in_use(old: str, new: str) -> None:
    assert fold(old) == new
