"""What kind of thing a question asks for, and whether a text names one."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.text.asked import asked


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("創立はいつですか", "date"),
        ("東京オリンピックは何年に開かれたか", "date"),
        ("何時に始まりますか", "date"),
        ("When does it start?", "date"),
        ("給料はいつもらえますか", "date"),
        ("ゴミは何曜日に出しますか", "date"),
        ("社長は誰ですか", "person"),
        ("Who approves it?", "person"),
        ("手当はいくらですか", "amount"),
        ("社員は何人いますか", "amount"),
        ("高さは何メートルなの?", "amount"),
        ("休暇は何日間ですか", "amount"),
        ("How many days do I get?", "amount"),
        ("本社はどこにありますか", "place"),
        ("何県にありますか", "place"),
        ("Where is the office?", "place"),
    ],
)
def test_a_question_asks_for_a_kind_of_thing(question: str, kind: str) -> None:
    found = asked(question)
    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize(
    "question",
    [
        "副業の条件",
        "いつも使えますか",
        "なぜ必要ですか",
        "いつでも使えますか",
        "誰でも使えますか",
        "どの会社ですか",
        "",
    ],
)
def test_other_questions_ask_for_anything(question: str) -> None:
    assert asked(question) is None


@pytest.mark.parametrize(
    ("question", "naming", "other"),
    [
        ("創立はいつですか", "創立は昭和62年である。", "創立の理念は誠実である。"),
        ("社員は何人いますか", "社員は１２０名である。", "社員は3つの部にいる。"),
        ("高さは何メートルですか", "高さは15mである。", "高さは日本で3番目である。"),
        ("2020年の社員は何人ですか", "2020年の社員は50人だった。", "2020年に社員を調べた。"),
        ("手当はいくらですか", "手当は月額5,000円とする。", "手当は別に定める。"),
        ("社長は誰ですか", "社長は山田太郎である。", "これは重い。"),
        ("田中を推薦したのは誰ですか", "田中を鈴木が推薦した。", "田中が推薦された。"),
        ("本社はどこにありますか", "本社は札幌にある。", "これは重い。"),
        ("大阪から移ったのはどこですか", "大阪から京都へ移った。", "大阪から移った。"),
    ],
)
def test_a_text_names_such_a_thing_or_not(question: str, naming: str, other: str) -> None:
    found = asked(question)
    assert found is not None
    assert found.named_in(naming)
    assert not found.named_in(other)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("備品の購入は誰が承認しますか", "備品の購入は部長が承認する。"),
        ("誰に届け出ますか", "課長に届け出る。"),
        ("グリーン車に乗れるのは誰ですか", "グリーン車は役員に限る。"),
        ("誰が負担しますか", "会社が負担する。"),
        ("誰が診断しますか", "産業医が診断する。"),
        ("誰が診断しますか", "医師が診断する。"),
        ("誰に相談しますか", "マネージャーに相談する。"),
        ("内示はいつですか", "内示は1か月前に行う。"),
        ("回答はいつですか", "10営業日のうちに回答する。"),
        ("ゴミはいつ出しますか", "火曜日に出す。"),
        ("ゴミは何曜日に出しますか", "火曜日と金曜日に出す。"),
        ("審査に何日かかりますか", "審査は10営業日で終える。"),
        ("何日前までに申請しますか", "2週間前までに申請する。"),
        ("何時からですか", "受付は10:00からである。"),
        ("何時までですか", "正午までである。"),
        ("当社は何年に設立されましたか", "平成元年に設立された。"),
        ("検診はいくらですか", "検診は無料である。"),
        ("補助はいくらですか", "全額を補助する。"),
        ("交通費はいくらですか", "実費を支給する。"),
        ("奨励金は何割ですか", "奨励金は10%である。"),
        ("ヘルプデスクは何番ですか", "ヘルプデスクは内線2525です。"),
        ("何か月前までですか", "30日前までとする。"),
        ("何か月使えますか", "半年使える。"),
        ("経理部の内線は何番ですか", "経理部 / 内線: 1003"),
        ("経理部の内線は何番ですか", "経理部の内線番号は1003です。"),
        ("賞与は年何回ですか", "賞与は毎年6月10日及び12月10日に支給する。"),
        ("健康診断は年に何回ありますか", "健康診断は毎年9月から11月に実施する。"),
        ("会議は月に何回ですか", "会議は毎週開く。"),
        ("昇給は何回ですか", "昇給は4月と10月に行う。"),
        ("Who approves overtime?", "overtime is approved in advance by your supervisor."),
        ("Who checks expenses?", "expenses are checked by the accounting department."),
        ("Who keeps the key?", "the key is kept by HR."),
    ],
)
def test_a_thing_is_named_in_many_ways(question: str, text: str) -> None:
    found = asked(question)
    assert found is not None
    assert found.named_in(text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("社長は誰ですか", "社長は必要に応じて出席する。"),
        ("社長は誰ですか", "代表取締役社長の報酬は月額210万円とする。"),
        ("社長は誰ですか", "社長が3社以上の見積りを見る。"),
        ("費用はいくらですか", "1. 費用は別に定める。"),
        ("費用はいくらですか", "(2) 費用は別に定める。"),
        ("費用はいくらですか", "費用は第一項及び第39条の2による。"),
        ("費用はいくらですか", "費用は2020年4月1日に改めた。"),
        ("費用はいくらですか", "費用の一部を十分に検討する。"),
        ("残業は何時間までですか", "残業は3日までとする。"),
        ("賞与は年何回ですか", "賞与は業績に応じて支給する。"),
        ("Who is the manager?", "a manager is needed for it."),
    ],
)
def test_what_only_looks_like_it_is_not_named(question: str, text: str) -> None:
    found = asked(question)
    assert found is not None
    assert not found.named_in(text)


@pytest.mark.parametrize(
    ("question", "column", "cell"),
    [
        ("会議室の定員は何人ですか", "定員", "12"),
        ("参加は何人ですか", "人数", "１２"),
        ("富士は何階にありますか", "階", "3"),
        ("机の単価は何円ですか", "単価（税込み）", "12,000"),
        ("契約の更新は何月ですか", "更新月", "4"),
        ("田中の入社は何年ですか", "入社日", "2019-04-01"),
    ],
)
def test_a_number_needs_no_unit_below_the_name_of_its_column(question: str, column: str, cell: str) -> None:
    found = asked(question)
    assert found is not None
    assert found.numbered_in(column, cell)
    assert not found.named_in(cell)
    assert not found.numbered_in("備考", cell)
    assert not found.numbered_in(column, f"{cell}号室")


def test_a_number_that_the_question_gives_is_no_answer_to_it() -> None:
    found = asked("定員12の会議室は何階ですか")
    assert found is not None
    assert not found.numbered_in("定員", "12")
    assert found.numbered_in("階", "3")


def test_somebody_is_no_number() -> None:
    found = asked("会議室の担当は誰ですか")
    assert found is not None
    assert not found.numbered_in("担当", "12")


@pytest.mark.parametrize("digits", ["1" * 200_000, "1," * 100_000, "一" * 200_000, "1 " * 100_000])
@pytest.mark.parametrize("question", ["何人ですか", "いくらですか", "いつですか"])
def test_long_runs_of_digits_are_read_in_one_pass(question: str, digits: str) -> None:
    found = asked(question)
    assert found is not None
    begun = time.process_time()
    found.named_in(digits)
    assert time.process_time() - begun < 5


@given(st.text(max_size=60), st.text(max_size=200))
def test_any_question_and_any_text_are_read(question: str, text: str) -> None:
    found = asked(question)
    assert found is None or found.named_in(text) in (True, False)


@pytest.mark.parametrize(
    "text", ["出産育児一時金", "一時的に中止する", "一日も早く提出する", "日曜大工の道具"]
)
def test_words_that_only_look_like_a_time_say_nothing_of_when(text: str) -> None:
    found = asked("健康診断はいつですか")
    assert found is not None
    assert not found.named_in(text)


@pytest.mark.parametrize("text", ["午後一時に始める", "一日に行う", "日曜日に休む", "一時一分"])
def test_times_in_kanji_say_when(text: str) -> None:
    found = asked("健康診断はいつですか")
    assert found is not None
    assert found.named_in(text)


@pytest.mark.parametrize("question", ["出張手当の金額は？", "参加の料金は", "補助の額"])
def test_who_asks_for_a_sum_asks_how_much(question: str) -> None:
    found = asked(question)
    assert found is not None
    assert found.kind == "amount"
