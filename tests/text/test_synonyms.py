"""The table of synonyms, and what search makes of it."""

from importlib.resources import files

import pytest

from shirube.text import synonyms
from shirube.text.synonyms import fingerprint, one_for_all, one_phrase_for_all
from shirube.text.tokenize import words

GROUPS = [
    line.split("\t") for line in (files("shirube.text") / "synonyms.tsv").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: str(group[0]))
def test_every_word_of_a_group_is_one_token_and_the_same(group: list[str]) -> None:
    assert len(group) > 1
    for word in group:
        assert words(word) == [group[0]]


def test_no_word_is_in_two_groups() -> None:
    listed = [word for group in GROUPS for word in group]
    assert len(listed) == len(set(listed))


def test_a_word_without_synonyms_stands_for_itself() -> None:
    assert one_for_all("副業") == "副業"
    assert one_for_all("") == ""


def test_width_and_spelling_do_not_hide_a_synonym() -> None:
    assert words("ＰＣ") == words("パソコン") == words("ﾊﾟｿｺﾝ")
    assert words("〆切") == words("締切り") == words("期限")


@pytest.mark.parametrize(
    "word", ["100バイト", "サインイン", "注意を払う", "本件発明のクレーム", "マニュアル車"]
)
def test_what_means_something_else_too_stands_for_nothing_else(word: str) -> None:
    assert not {"アルバイト", "署名", "支払い", "苦情", "手引き"} & {*words(word)}


def test_another_table_has_another_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint()
    monkeypatch.setattr(synonyms, "_written", lambda: "規程\t規定\n")
    assert fingerprint() != before


def test_phrases_that_mean_the_same_become_one_and_others_stay() -> None:
    assert one_phrase_for_all("リモートワークと在宅勤務とテレワーク") == "テレワークとテレワークとテレワーク"
    assert one_phrase_for_all("勤務と在宅") == "勤務と在宅"


def test_no_phrase_is_in_two_groups_or_within_what_stands_for_another() -> None:
    lines = (files("shirube.text") / "phrases.tsv").read_text("utf-8").splitlines()
    phrases = [phrase for line in lines for phrase in line.split("\t")]
    assert len(set(phrases)) == len(phrases)
    assert [one_phrase_for_all(line.split("\t")[0]) for line in lines] == [
        line.split("\t")[0] for line in lines
    ]
