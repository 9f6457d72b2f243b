"""Long vowel marks that a scan has misread: what is restored, what stays, and that nothing else is touched."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.text.ocr import Change, long_vowels

SIGNS = "-‐‑–—―−－─━"
NOISE = st.text(
    st.sampled_from(
        [
            *SIGNS,
            *"一|｜ーｰ",
            *"アイタァッンャキャリネジコピュﾋﾟｭｺ",
            *"aZ1１あ漢、。 \n",
            "𠮷",
            "\ud800",
            "\u3099",
        ]
    )
)


@pytest.mark.parametrize("sign", SIGNS)
def test_any_dash_inside_a_word_of_the_dictionary_is_a_long_vowel(sign: str) -> None:
    assert long_vowels(f"汎用コンピュ{sign}タの利用")[0] == "汎用コンピュータの利用"
    assert long_vowels(f"この案件のマネ{sign}ジャ{sign}は")[0] == "この案件のマネージャーは"


@pytest.mark.parametrize(
    "text",
    [
        "self-service と e-mail",
        "型番 AB-123、電話 03-1234-5678、2024-01-01、10-20 ページ",
        "- サーバー\n- モニター",
        "──────",
        "セブン-イレブン",
        "ヘキサン－エーテルの混合物",
        "４－アミノ－１－ヒドロキシブチリデン",
        "アルファ－酸化鉄",
        "データ一覧とカメラ一体型とページ一枚",
        "ビラ一枚、テーブル一つ",
        "コンピューター・システム",
        "表 | サーバー | モニター |",
        "|メニュ|価格|",
        "品名の表\n　｜デコ｜ダ｜回路｜",
        "ローマ―ナポリ間",
    ],
)
def test_what_is_a_sign_stays(text: str) -> None:
    assert long_vowels(text) == (text, [])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("シュレッダ－補助器", "シュレッダー補助器"),
        ("デイリ一商品とデータ一覧", "デイリー商品とデータ一覧"),
        ("デコ|ダ回路", "デコーダ回路"),
        ("サーバ-は止まり、サーバ-1は動く", "サーバーは止まり、サーバ-1は動く"),
        ("サーバーの隣のサーバ-1", "サーバーの隣のサーバ-1"),
        ("データーとデータ一覧", "データーとデータ一覧"),
        ("エネルギ－量とアルファ－線", "エネルギー量とアルファ－線"),
        ("ｺﾝﾋﾟｭ-ﾀ", "ｺﾝﾋﾟｭｰﾀ"),
        ("ホゲ-ンとホゲ-ラ", "ホゲーンとホゲ-ラ"),
    ],
)
def test_the_same_sign_is_judged_by_what_stands_around_it(text: str, wanted: str) -> None:
    assert long_vowels(text)[0] == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("サ-ビス一覧", "サービス一覧"),
        ("メニュ-一覧", "メニュー一覧"),
        ("ユ-ザ-一覧", "ユーザー一覧"),
        ("ペ-ジ一覧", "ページ一覧"),
        ("メンバ-一同", "メンバー一同"),
        ("カ-ド一枚", "カード一枚"),
        ("センサ-一つ", "センサー一つ"),
        ("サ一ビス一覧", "サービス一覧"),
        ("メニュ一一覧", "メニュー一覧"),
        ("ｻ-ﾋﾞｽ一覧", "ｻｰﾋﾞｽ一覧"),
    ],
)
def test_a_number_one_behind_a_misread_word_stays(text: str, wanted: str) -> None:
    assert long_vowels(text)[0] == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("ユ-ザ-名", "ユーザー名"),
        ("ユ-ザ-ID", "ユーザーID"),
        ("サ-バ-室", "サーバー室"),
        ("メ-カ-保証", "メーカー保証"),
        ("マネ-ジャ-会議", "マネージャー会議"),
        ("オ-ナ-様", "オーナー様"),
        ("ﾕ-ｻﾞ-名", "ﾕｰｻﾞｰ名"),
        ("ユ-ザ-インタ-フェ-ス", "ユーザーインターフェース"),
        ("サ-バ-ル-ム", "サーバールーム"),
        ("コ-ポレ-トガバナンスレポ-トフォ-マット", "コーポレートガバナンスレポートフォーマット"),
        ("サ-バ-1とサ-バ-A", "サーバ-1とサーバ-A"),
    ],
)
def test_the_last_of_several_misread_marks_is_judged_by_the_word_with_the_others(
    text: str, wanted: str
) -> None:
    assert long_vowels(text)[0] == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("デジタル-マ-ケティング", "デジタル-マーケティング"),
        ("ワンタイム-パスワ-ド", "ワンタイム-パスワード"),
        ("テレビ-ゲ-ム", "テレビ-ゲーム"),
        ("パ-ト-アルバイト", "パート-アルバイト"),
        ("スタ-ト-ゴ-ル", "スタート-ゴール"),
        ("ドル-ユ-ロ", "ドル-ユーロ"),
        ("カ-ル-マルクス", "カール-マルクス"),
        ("ユニバ-サル-デザイン", "ユニバーサル-デザイン"),
        ("サル-デザイン", "サル-デザイン"),
        ("パスワ-ド-リセット", "パスワード-リセット"),
    ],
)
def test_a_border_stays_beside_misread_marks(text: str, wanted: str) -> None:
    assert long_vowels(text)[0] == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("エラ-発生", "エラー発生"),
        ("コピ-機", "コピー機"),
        ("スキ-場", "スキー場"),
        ("カバ-率", "カバー率"),
        ("フォロ-体制", "フォロー体制"),
        ("クッキ-設定", "クッキー設定"),
        ("エラ-コ-ド", "エラーコード"),
        ("カスタマ-サポ-ト", "カスタマーサポート"),
        ("パワ-ハラスメント", "パワーハラスメント"),
        ("フリ-ダイヤル", "フリーダイヤル"),
        ("カレ-ライス", "カレーライス"),
        ("ケアマネ-ジャ-", "ケアマネージャー"),
    ],
)
def test_a_mark_is_restored_though_what_precedes_it_is_a_word_too(text: str, wanted: str) -> None:
    assert long_vowels(text)[0] == wanted


@pytest.mark.parametrize(
    "text",
    [
        "スキー-ジャンプ",
        "コピー-ペースト",
        "サーバ-クライアント",
        "マスタ-スレーブ",
        "ローマ-ミラノ",
        "インド-パキスタン",
        "ベータ-カロテン",
        "ドル-円",
        "キャッシュ-フロー",
        "レオナルド-ダ-ヴィンチ",
        "ロレンツォ-デ-メディチ",
        "ラ-マンチャ",
        "オン-オフ",
        "ガス-電気",
        "イ-甲",
        "ニュース-一覧",
        "ベンジルオキシ-2",
        "ア-イ-ウ",
    ],
)
def test_a_border_between_words_is_not_joined(text: str) -> None:
    assert long_vowels(text) == (text, [])


def test_the_same_text_is_the_first_witness() -> None:
    restored, [change] = long_vowels("マイナビキャリ-では、キャリアを考えます。")
    assert restored == "マイナビキャリアでは、キャリアを考えます。"
    assert change == Change(7, "-", "ア", "same_text")
    assert long_vowels("グミョ-ルガはグミョールガと書く")[0] == "グミョールガはグミョールガと書く"
    assert long_vowels("キャリ-バッグ")[0] == "キャリーバッグ"


@given(NOISE)
def test_nothing_but_signs_is_changed(text: str) -> None:
    restored, changes = long_vowels(text)
    rebuilt = list(text)
    for change in changes:
        assert rebuilt[change.offset] == change.before
        assert change.before in SIGNS + "一|｜ｰ"
        assert change.after in "ーｰアイウエオ"
        rebuilt[change.offset] = change.after
    assert "".join(rebuilt) == restored
    assert len(restored) == len(text)


@pytest.mark.parametrize("piece", ["マネ-ジャ-", "アー", "ア-", "-", "キャリ-では", "アイ|", "ﾋﾟ-"])
def test_the_time_grows_with_the_text_alone(piece: str) -> None:
    started = time.process_time()
    long_vowels((piece * 10_000)[:10_000])
    assert time.process_time() - started < 2


def test_the_time_grows_with_the_text_alone_where_no_word_comes_twice() -> None:
    letters = [chr(code) for code in range(ord("ア"), ord("ワ"))]
    pieces = [f"{first}{second}-" for first in letters for second in letters]
    started = time.process_time()
    long_vowels("".join(pieces)[:10_000])
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("scanned", "meant"),
    [
        ("インタ一ネットのサ一バ一、エラ一メッセ一ジ", "インターネットのサーバー、エラーメッセージ"),
        ("インタ|ネット", "インターネット"),
        ("マネ一ジャ一の承認", "マネージャーの承認"),
        ("サ一バ一台", "サーバ一台"),
        ("サーバ一台とデータ一覧", "サーバ一台とデータ一覧"),
        ("クラス一モテる", "クラス一モテる"),
        ("データ|グラフ", "データ|グラフ"),
    ],
)
def test_a_one_or_a_bar_within_a_word_is_its_long_vowel_and_elsewhere_itself(
    scanned: str, meant: str
) -> None:
    assert long_vowels(scanned)[0] == meant
