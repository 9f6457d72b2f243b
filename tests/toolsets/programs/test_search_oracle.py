"""Searching programmes finds what looking at every row finds, in the same order."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from shirube.caller import LOCAL
from shirube.settings import load_settings
from shirube.text.places import PREFECTURES
from shirube.toolsets.programs.imports import import_files
from shirube.toolsets.programs.schema import SearchInput
from shirube.toolsets.programs.service import ProgramsService
from shirube.toolsets.registry import Application
from tests.beside import beside
from tests.toolsets.programs.oracle import LEVELS, NOTATIONS, TIERS, Asked, Catalogue, Row, prefecture_of

TODAY = date(2026, 5, 10)
PROGRAMMES, QUESTIONS, QUESTIONS_TO_THE_TOOL = 400, 2100, 60
REAL_QUESTIONS, REAL_WORDS = 200, 30

# Words that names share, in writings that are the same and in some that only look so.
PLACES = "東京都|京都府|京都市|東京|青森県|大阪|東京都府中市|北海道|三重県|東京都京都館".split("|")
THEMES = (
    "農業|新規就農|設備投資|設備|創業|雇用調整|持続化|事業再構築|経営改善|林業|観光|のうぎょう|がん|み|ー|桜|櫻|国産|國産|"
    "ものづくり|モノヅクリ|ロボット|ﾛﾎﾞｯﾄ|ろぼっと|サーバー|サーバ|スーパーL|ｶﾞｲﾄﾞ|ヴァイオリン|一千万円|1,000万円|"
    "省エネ|省エネルギー|再生可能エネルギー|再エネ|脱炭素|カーボンニュートラル|設\u200b備|設備 設備|"
    "引越し|引っ越し|取り組み|取組み|取組|附属施設|付属施設|2026年度|第2期|第12期|"
    "IT|IT導入|ＩＴ|ITX|EDIT|サイトIT化|DX|DX2|MDX|dx|AI|AIR|IoT|5G|15G|Ｈ2|CO2|R&D|R|Web|web サイト|JFC|M&A"
).split("|")
ENDINGS = (
    "補助金|助成金|融資|資金|共済|税制|支援事業|交付金|給付金|奨励金|促進事業||ほじょきん|補助金（第2次）|【補助金】|"
    "・補助金|補助 金|支援"
).split("|")
WELL_KNOWN = (
    "雇用調整助成金|IT導入補助金|ものづくり・商業・サービス生産性向上促進補助金|事業承継・引継ぎ補助金|マル経融資|"
    "小規模事業者経営改善資金|農業経営基盤強化資金|中小企業退職金共済|科学研究費助成事業|日本政策金融公庫|経済産業省|"
    "全国|東京|京都|IT|DX|設備投資補助金|東京設備投資補助金|の設備投資補助金|設備投資補助金導入"
).split("|")
KINDS = "subsidy|grant|loan|tax_credit|mutual_aid|training|equity|補助金|regulation|DX|".split("|")
PURPOSES = "設備投資|運転資金|ＤＸ|DX|人材育成|ロボット|販路 開拓|IT導入|研究開発|さくら".split("|")
TARGETS = "認定新規就農者|中小企業|個人事業主|ＮＰＯ法人|NPO法人|農業法人|小規模事業者|IT企業".split("|")
BODIES = {
    "national": "農林水産省|経済産業省|中小企業庁|厚労省".split("|"),
    "financial": "日本政策金融公庫|日本公庫|商工中金".split("|"),
}
TOWNS = {
    "北海道": "札幌市",
    "青森県": "弘前市",
    "東京都": "府中市",
    "三重県": "津市",
    "京都府": "京都市",
    "大阪府": "堺市",
}
AMOUNTS = (None, None, 0, 0.0, 0.5, 1, 50, 100, 100.5, 500, 1000, 3000, 100_000)

SHORTENED = (
    "雇調金|IT補助金|もの補助|マル経|スーパーL|科研費|公庫|日本公庫|経産省|農水省|厚労省|中退共|再構築補助金|承継補助金|"
    "ほじょきん|ゆうし|のうぎょう|せつびとうし|省エネ|脱炭素|再エネ"
).split("|")
ASKED_FOR = (
    "設備投資補助金 投資補助金 設備投資|設備 設備投 設備投資 備投資補助金 補助金|備投資 投資補 補助金|"
    "青森県で使える設備投資補助金を教えて|IT 導入補助金の一覧|中小企業向けの補助金|農業の融資|"
    "東京の補助金一覧|を教えて|一覧|設備投資補助金|DX補助金|農業融資|創業助成金|観光支援金|"
    "ロボット補助金|IT企業補助金|京都補助金|存在しない|zzz||　|Tokyo|tokyo|ＫＹＯＴＯ|Kyoto|とうきょう|"
    "きょうと|東京|京都|京都府|東京都|都府|都|府|13|mie|みえ|京都館|京都市|府中|京都府中|it|ＩＴ|iｔ|dx|"
    "ＤＸ|x|r|R&D|co2|5g|15g|g|h2|2|12|1|第2期|web|サイト|の|み|ー|・|（|補助|金|市|区|館|補助金 補助金|"
    "ﾛﾎﾞｯﾄ|ろぼっと|ロボ|ｻｰﾊﾞ|サーバー|ものづくり|引越|引越し|引っ越し|取組み|取り組み|付属|附属|國産|"
    "櫻|さくら|ガン|ぼ|1000万円|一千万円|販路開拓|認定"
).split("|")


def made_name(random: Random) -> str:
    if random.random() < 0.12:
        return random.choice(WELL_KNOWN)
    area = random.choice(PLACES) if random.random() < 0.35 else ""
    themes = random.choices(THEMES, k=random.choice((1, 1, 1, 2)))
    between = random.choice(("", "", "・", " ", "　", "と", "の"))
    return area + between.join([*themes, random.choice(ENDINGS)]) + random.choice(("", "", "（第2期）"))


def made_areas(random: Random) -> dict[str, Any]:
    named = random.sample(sorted(NOTATIONS), random.choice((0, 1, 1, 1, 2, 3)))
    if not named:
        every = [each.name for each in PREFECTURES]
        nowhere: list[dict[str, Any]] = [{"prefecture": area} for area in (None, "", "全国")]
        return random.choice([{}, *nowhere, {"prefectures": every}])
    if len(named) == 1:
        return {"prefecture": random.choice(NOTATIONS[named[0]])}
    return random.choice(({"prefecture": " / ".join(named)}, {"prefectures": named}))


def made_body(random: Random, areas: Row) -> dict[str, Any]:
    """Who gives it. A body whose name tells a place is there only where the row names that place too."""
    area = prefecture_of(areas.get("prefecture"))
    level = random.choice([*(LEVELS if area else ("国", "公庫")), None])
    if level is None:
        return {}
    said = {"authority_level": random.choice((level, LEVELS[level]))}
    if area and level == "市区町村":
        said["municipality"] = TOWNS[area]
    if random.random() < 0.8:
        local = f"{area}{said.get('municipality', '')}"
        said["authority_name"] = random.choice(BODIES.get(LEVELS[level], [local]))
    return said


def made_window(random: Random) -> dict[str, Any] | None:
    start, end = sorted((TODAY + timedelta(random.randint(-60, 60))).isoformat() for _ in range(2))
    windows = (
        None,
        {"cycle": "annual"},
        {"start_date": start, "end_date": None, "cycle": None},
        {"start_date": None, "end_date": end},
        {"start_date": start, "end_date": end},
        {"start_date": TODAY.isoformat(), "end_date": TODAY.isoformat(), "cycle": "rolling"},
    )
    return random.choice(windows)


def made_rows(random: Random) -> list[Row]:
    rows: list[Row] = []
    for number in range(PROGRAMMES):
        areas = made_areas(random)
        is_namesake = rows and random.random() < 0.08
        rows.append(
            {
                "unified_id": f"P-{random.randrange(10**6):06d}-{number}",
                "primary_name": random.choice(rows)["primary_name"] if is_namesake else made_name(random),
                "aliases": [made_name(random) for _ in range(random.choice((0, 0, 1, 2)))],
                "tier": random.choice(("S", "A", "A", "B", "B", "C", None, "", "X")),
                **areas,
                **made_body(random, areas),
                "program_kind": random.choice(KINDS),
                "amount_max_man_yen": random.choice(AMOUNTS),
                "funding_purpose": random.sample(PURPOSES, random.randint(0, 3)),
                "target_types": random.sample(TARGETS, random.randint(0, 2)),
                "application_window": made_window(random),
                "excluded": random.random() < 0.06,
            }
        )
    return rows


def made_word(random: Random, rows: Sequence[Row]) -> str:
    """A word that is asked for: a known one, a piece of a name, or something else that a row says."""
    row = random.choice(rows)
    name = str(row["primary_name"])
    names: list[str] = [name, *row.get("aliases", ())]
    said: list[str] = [*row.get("funding_purpose", ()), *row.get("target_types", ())]
    pools = (THEMES, ENDINGS, SHORTENED, ASKED_FOR, ASKED_FOR, PLACES, said or names)
    # What is written over the border of two texts stands in neither.
    borders = [one[-3:] + other[:3] for one, other in pairwise(names)] + list(map("".join, pairwise(said)))
    chosen = (piece(random, name), random.choice(random.choice(pools)))
    return random.choice(borders if borders and random.random() < 0.1 else chosen)


def piece(random: Random, name: str) -> str:
    size = random.choice((1, 2, 2, 3, 4, len(name)))
    start = random.randint(0, max(len(name) - size, 0))
    return name[start : start + size]


def made_conditions(random: Random) -> list[dict[str, Any]]:
    areas = random.choice([*NOTATIONS.values(), ("東亰", "Atlantis", "48")])
    low, high = sorted(random.choices((0, 0.5, 1, 60, 100, 100.4, 500, 1000, 5000, 100_000), k=2))
    return [
        {"tier": random.sample(("S", "A", "B", "C", "X", "ｓ", "a"), random.randint(1, 4))},
        {"prefecture": random.choice(areas)},
        {"prefecture": random.choice(areas), "include_national": True},
        {"include_national": True},
        {"authority_level": random.choice([*LEVELS, *LEVELS.values()])},
        {"funding_purpose": random.sample((*PURPOSES, "dx", "ﾛﾎﾞｯﾄ", "設備"), random.randint(1, 4))},
        {"target_type": random.sample((*TARGETS, "npo法人", "企業"), random.randint(1, 3))},
        {"amount_min_man_yen": low},
        {"amount_max_man_yen": high},
        {"amount_min_man_yen": low, "amount_max_man_yen": high},
        {"open_on": (TODAY + timedelta(random.randint(-70, 70))).isoformat()},
        {"deadline_within_days": random.choice((0, 1, 7, 30, 60))},
        {"include_excluded": True},
        {"include_excluded": True},
    ]


def made_question(
    random: Random, word: Callable[[], str], conditions: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Few conditions more often than many, or nothing would be found."""
    count = random.choice((0, 1, 1, 1, 2, 2, 3))
    between = random.choice((" ", " ", "　", "  "))
    asked: dict[str, Any] = {"q": between.join(word() for _ in range(count))} if count else {}
    for condition in random.sample(conditions, random.choice((0, 0, 0, 1, 1, 2, 3))):
        asked |= condition
    if random.random() < 0.6:
        asked |= {"limit": random.choice((1, 5, 20, 50)), "offset": random.choice((0, 0, 1, 3, 20, 1000))}
    return asked


@dataclass(frozen=True)
class Opened:
    """The product and the oracle over the same rows."""

    application: Application
    service: ProgramsService
    rows: Sequence[Row]
    oracle: Catalogue

    def answers(self, asked: Asked) -> tuple[int, list[str]]:
        answer = self.service.search(LOCAL, SearchInput.model_validate(asked))
        return answer.total, [result.unified_id for result in answer.results]

    def expected(self, asked: Asked) -> tuple[int, list[str]]:
        found = self.oracle.search(asked)
        start = asked.get("offset", 0)
        return len(found), found[start : start + asked.get("limit", 20)]


def compared(opened: Opened, questions: Sequence[Asked]) -> list[int]:
    """How many programmes each question finds, where both agree on all of them."""
    expected = [opened.expected(asked) for asked in questions]
    answers = [opened.answers(asked) for asked in questions]
    together = zip(questions, answers, expected, strict=True)
    assert [(asked, got, wanted) for asked, got, wanted in together if got != wanted] == []
    return [total for total, _ in expected]


def opened(folder: Path, file: Path) -> Opened:
    home = {"SHIRUBE_HOME": str(folder / "home"), "SHIRUBE_EMBEDDER": "none"}
    application = Application(load_settings(home))
    report = import_files(application.workspace().database, LOCAL, [file])
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert (report.refused, report.programs.added) == ([], len(rows))
    service = ProgramsService(application.workspace(), today=lambda: TODAY)
    return Opened(application, service, rows, Catalogue(rows, TODAY))


def opened_rows(folder: Path, rows: Sequence[Row]) -> Opened:
    file = folder / "programs.jsonl"
    file.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    return opened(folder, file)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    return opened_rows(tmp_path_factory.mktemp("made"), made_rows(Random(12)))


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    return opened(tmp_path_factory.mktemp("real"), beside("programs", "programs.jsonl"))


def made_questions(random: Random, rows: Sequence[Row], count: int) -> list[dict[str, Any]]:
    """Some of them name the same thing in pieces that overlap."""
    questions = []
    for _ in range(count):
        name = random.choice(rows)["primary_name"]
        words = [lambda: made_word(random, rows)] * 8 + [lambda name=name: piece(random, name)]
        questions.append(made_question(random, random.choice(words), made_conditions(random)))
    return questions


def test_search_agrees_with_looking_at_every_row(made: Opened) -> None:
    """Ids, order and total, whatever is asked; most questions find something, and many find several."""
    found = compared(made, made_questions(Random(34), made.rows, QUESTIONS))
    assert sum(count > 0 for count in found) > 0.6 * QUESTIONS
    assert sum(count > 1 for count in found) > 1000
    assert sum(count == 0 for count in found) > 200


def test_the_made_questions_ask_for_everything(made: Opened) -> None:
    """Each argument decides in many of them, and every tier and weight is among what is found."""
    questions = made_questions(Random(34), made.rows, 500)
    decides: Counter[str] = Counter()
    for asked in questions:
        found = made.oracle.search(asked)
        for name in asked.keys() - {"limit", "offset"}:
            without = {key: value for key, value in asked.items() if key != name}
            decides[name] += made.oracle.search(without) != found
    assert decides.keys() == SearchInput.model_fields.keys() - {"limit", "offset", "fields"}
    assert min(decides.values()) >= 8
    assert {programme.tier for programme in made.oracle.programmes} == {*TIERS}
    assert {*made.oracle.weights()} == {0, 1, 2, 3, 4}


def test_the_tool_answers_what_looking_at_every_row_finds(made: Opened) -> None:
    """As it is called from outside. What is due within some days depends on the day and is left out."""
    questions = made_questions(Random(56), made.rows, QUESTIONS_TO_THE_TOOL)

    async def answers() -> None:
        for asked in questions:
            asked.pop("deadline_within_days", None)
            answer = await made.application.registry.call("search_programs", LOCAL, asked)
            assert not answer.error
            ids = [result["unified_id"] for result in answer.body["results"]]
            assert (answer.body["total"], ids) == made.expected(asked)

    asyncio.run(answers())


def test_pages_of_a_search_make_up_the_whole(made: Opened) -> None:
    for q in ("補助金", "設備", "it", ""):
        whole = made.oracle.search({"q": q})
        pages = [
            result.unified_id
            for offset in range(0, len(whole) + 7, 7)
            for result in made.service.search(LOCAL, SearchInput(q=q, limit=7, offset=offset)).results
        ]
        assert pages == whole


def test_search_in_real_programmes_agrees_with_looking_at_every_row(real: Opened) -> None:
    """A few words and the conditions that real rows can fulfil, in thousands of programmes."""
    random = Random(78)
    pool = [made_word(random, real.rows) for _ in range(REAL_WORDS)]
    fulfilled = {"prefecture", "include_national", "amount_min_man_yen", "amount_max_man_yen"}

    def question() -> dict[str, Any]:
        conditions = [each for each in made_conditions(random) if each.keys() <= fulfilled]
        return made_question(random, lambda: random.choice(pool), conditions)

    found = compared(real, [question() for _ in range(REAL_QUESTIONS)])
    assert sum(count > 1 for count in found) > 0.4 * REAL_QUESTIONS


def found_names(folder: Path, q: str, *names: str) -> list[str]:
    """Of programmes with these names those that a query finds."""
    rows = [{"unified_id": f"P-{at}", "primary_name": name} for at, name in enumerate(names)]
    service = opened_rows(folder, rows).service
    return [result.primary_name for result in service.search(LOCAL, SearchInput(q=q)).results]


def test_a_short_word_is_not_found_within_a_word_with_accents(tmp_path: Path) -> None:
    assert found_names(tmp_path, "caf", "Café支援", "CAF支援") == ["CAF支援"]


def test_an_abbreviation_of_three_letters_finds_what_it_stands_for(tmp_path: Path) -> None:
    assert found_names(tmp_path, "JFC", "日本政策金融公庫の融資", "信用金庫の融資") == [
        "日本政策金融公庫の融資"
    ]


def test_an_abbreviation_of_three_letters_is_not_found_within_another_word(tmp_path: Path) -> None:
    assert found_names(tmp_path, "日本公庫", "XJFC融資", "JFC融資") == ["JFC融資"]
