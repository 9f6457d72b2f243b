"""Filters keep the publications that looking at every row keeps."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unicodedata import normalize

import pytest

from shirube.caller import LOCAL
from shirube.query.filters import parse_filters
from shirube.query.parser import parse
from shirube.settings import load_settings
from shirube.toolsets.patents import schema
from shirube.toolsets.patents.errors import InvalidFilter
from shirube.toolsets.patents.feed import FILTERS
from shirube.toolsets.patents.importing import import_files
from shirube.toolsets.patents.service import PatentsService
from shirube.toolsets.registry import Application

PUBLICATIONS, COMBINATIONS, SAVED = 80, 5000, 50
EVERYTHING = 2000
BOOSTS: Mapping[schema.FieldName, float] = {"title": 80, "abst": 10, "claim": 5, "desc": 1}

# Symbols as sources write them: facets, expansion numbers, editions, widths and cases, and neighbours of groups.
FI = (
    "B25J13/08@A|B25J13/08|b25j13/08@z|B25J13/085|B60W30/12|B60W30/12,624|B60W30/12,620@C|B60W30/16|"
    "G06V10/82|G06V10/82A|ｇ０６ｖ１０／８２|G06V10/80|G06V10/823|G06V1/00|G06V100/00|G06V20/56@Z|G06T7/00,350@B|"
    "F16H59:44|F16H59/02@B|F16H590/00|G06T7/00P|G06F3/048|Ｇ０６Ｆ３／０４８８@Ａ|A61B5/00"
).split("|")
IPC = "G06V10/82|G06V10/80|G06V1/00|G06V100/00|G06T7/00|B25J13/08|B60W30/12|g06v20/56|A61B5/00".split("|")
CPC = (
    "G06V10/82|G06V10/823|G06V1/00|G06V100/00|B60W30/12|G06V2201/03|Y02T10/70|Y02T10/7072|Y10T16/10|Y10T1/12|"
    "A61B5/00"
).split("|")
FT = "5B057AA01|5B057AA02|5B057BA11|3C707KS31|3C707KT01|３Ｄ２４１ＢＡ０１|3D241BA02|5L096".split("|")
COUNTRIES = ("JP", "US", "EP", "WO", "cn")
NAMES = (
    "トヨタ自動車株式会社|トヨタ紡織株式会社|ﾄﾖﾀ車体株式会社|株式会社デンソー|ＡＢＣ株式会社|ABC株式会社|"
    "ABC Robotics Inc.|山田 太郎|山田　花子|山田太郎|鈴木一郎|Smith, John"
).split("|")
DAYS = [
    f"{year}-{day}" for year in range(2019, 2025) for day in "01-01 01-31 04-01 04-30 12-15 12-31".split()
]

# What is asked for beside what the rows say: shorter symbols, beginnings, and what is nowhere.
SHORTER = ("F16H59|G06V10|G06V1|G06V|G06|G|B25J13|B60W30|g06v10|Ｇ０６Ｖ１０|A61B|H04N|G06V100|G06V2").split(
    "|"
)
BEGINNINGS = (
    "G06V1*|F16H59*|F16H59:*|G06V10*|G06V10/*|G06V10/8*|G06V*|g06v*|Ｇ０６Ｖ＊|G06*|B60W30/1*|H04*|B25J13/08*"
).split("|")
OTHER: Mapping[str, Sequence[str]] = {
    "fi": [*SHORTER, *BEGINNINGS, "G06V10/82B", "B60W30/12,999@X", "h04n5/00"],
    "ipc": [*SHORTER, *BEGINNINGS, "Ｇ０６Ｖ１０／８２", "h04n5/00"],
    "cpc": [*SHORTER, *BEGINNINGS, "Y02T10", "Y02T", "Y02T*", "Y02T10/7*"],
    "ft": ["5B057*", "5B057AA*", "5b057aa01", "５Ｂ０５７ＡＡ０２", "3C707*", "5B057", "9Z999ZZ99"],
    "country": ["jp", "ＪＰ", "CN", "KR", "E*"],
    "applicant": ["トヨタ*", "ﾄﾖﾀ*", "トヨタ車体株式会社", "ABC*", "山田*", "株式会社*", "いない"],
    "inventor": ["山田*", "山田 花子", "Smith*", "鈴木*", "ＡＢＣ*", "いない"],
}
POOLS: Mapping[str, Sequence[str]] = {
    "fi": FI, "ipc": IPC, "cpc": CPC, "ft": FT, "country": COUNTRIES, "applicant": NAMES, "inventor": NAMES,
}  # fmt: skip
STORED = {"date": "publication_date", "filing_date": "filing_date"}
SYMBOLS = ("fi", "ipc", "cpc")
KEYWORD_OPS = ("in", "=", "!=", "prefix", "eq", "neq")
NUMBER_OPS = ("in", "=", "!=", ">=", "<=", "range", "eq", "neq")
DATE_OPS = (*NUMBER_OPS, "prefix")
ALIASES = {"eq": "=", "neq": "!="}
OPS = {**dict.fromkeys(POOLS, KEYWORD_OPS), **dict.fromkeys(STORED, DATE_OPS), "pubyear": NUMBER_OPS}

Row = Mapping[str, Any]
Entry = Mapping[str, Any]


def made_rows(random: Random) -> list[Row]:
    def some(pool: Sequence[str]) -> list[str]:
        return random.sample(pool, random.choice((0, 1, 1, 2, 3)))

    return [
        {
            "pub_id": f"JP2020-{100_000 + number}A",
            "title": "共通" + random.choice(("", "の装置", "の方法")),
            **{name: some(POOLS[name]) for name in POOLS if name != "country"},
            "country": random.choice(COUNTRIES),
            "filing_date": random.choice([None, *DAYS]),
            "publication_date": random.choice([None, None, *DAYS]),
        }
        for number in range(PUBLICATIONS)
    ]


# What filters mean


@cache
def plain(text: str) -> str:
    return normalize("NFKC", text).strip()


@cache
def person(name: str) -> str:
    """White space in a name says nothing."""
    return re.sub(r"\s", "", normalize("NFKC", name))


@cache
def symbol(written: str) -> str:
    """The class symbol alone, without edition letter, facet and expansion number."""
    text = plain(written).upper()
    found = re.match(r"[A-Z][0-9]{2}[A-Z][0-9]+[/:][0-9]+", text)
    return found[0] if found else text


def keyword_test(name: str, op: str, value: str) -> Callable[[str], bool]:
    """Whether one value of a row is what is asked for."""
    is_name = name in ("applicant", "inventor")
    text = person(value) if is_name else plain(value).upper()
    below = op == "prefix" or text.endswith("*")
    text = text.rstrip("*")
    if name in SYMBOLS:
        if not below and re.fullmatch("[A-Z][0-9]{2}[A-Z][0-9]+", text):
            return lambda written: symbol(written).startswith((f"{text}/", f"{text}:"))
        if below or not re.search("[/:]", text):
            return lambda written: symbol(written).startswith(symbol(text))
        return lambda written: symbol(written) == symbol(text)
    form = person if is_name else lambda written: plain(written).upper()
    return lambda written: form(written).startswith(text) if below else form(written) == text


def first_day(value: object) -> str:
    return f"{value}-01-01"[:10] if len(str(value)) < 10 else str(value)


def last_day(value: object) -> str:
    """Dates are compared as text, so a month may end on any day after its last."""
    return str(value) + {4: "-12-31", 7: "-31", 10: ""}[len(str(value))]


def ordered_test(
    op: str, value: Any, low: Callable[[Any], Any], high: Callable[[Any], Any]
) -> Callable[[Any], bool]:
    """For dates and years: `low` and `high` are the ends of a value."""
    match op:
        case ">=":
            return lambda written: bool(written >= low(value))
        case "<=":
            return lambda written: bool(written <= high(value))
        case "range":
            start, end = value
            return lambda written: (
                (start is None or written >= low(start)) and (end is None or written <= high(end))
            )
        case _:
            return lambda written: bool(low(value) <= written <= high(value))


def values_of(row: Row, name: str) -> list[Any]:
    if name == "pubyear":
        return [int(row["publication_date"][:4])] if row["publication_date"] else []
    stored = row[STORED.get(name, name)]
    return stored if isinstance(stored, list) else [stored] if stored else []


def condition(entry: Entry) -> Callable[[Row], bool]:
    """Whether an entry, for itself, holds for a row."""
    name, op, value = entry["field"], ALIASES.get(entry["op"], str(entry["op"])), entry["value"]
    wanted = value if op == "in" and isinstance(value, list) else [value]
    if name in POOLS:
        tests = [keyword_test(name, op, each) for each in wanted]
    elif name == "pubyear":
        tests = [ordered_test(op, each, int, int) for each in wanted]
    else:
        tests = [ordered_test(op, each, first_day, last_day) for each in wanted]
    return lambda row: any(test(each) for each in values_of(row, name) for test in tests) != (op == "!=")


def kept(entries: Sequence[Entry], rows: Sequence[Row]) -> list[Row]:
    by_lop: dict[str, list[Callable[[Row], bool]]] = {"and": [], "or": [], "not": []}
    for entry in entries:
        by_lop[entry["lop"]].append(condition(entry))
    return [
        row
        for row in rows
        if all(holds(row) for holds in by_lop["and"])
        and not any(holds(row) for holds in by_lop["not"])
        and (not by_lop["or"] or any(holds(row) for holds in by_lop["or"]))
    ]


# What is asked


def made_value(random: Random, name: str) -> Any:
    if name in POOLS:
        value = random.choice(OTHER[name] if random.random() < 0.5 else POOLS[name])
        return value.lower() if name in SYMBOLS and random.random() < 0.1 else value
    day = random.choice(DAYS)
    if name == "pubyear":
        return random.choice((int(day[:4]), day[:4]))
    return day[: random.choice((4, 7, 10))]


def made_entry(random: Random) -> Entry:
    name = random.choice(list(OPS))
    op = random.choice(OPS[name])
    value = made_value(random, name)
    if op == "in" and random.random() < 0.8:
        value = [value, *(made_value(random, name) for _ in range(random.randint(0, 3)))]
    if op == "range":
        ends = sorted(random.choices(DAYS, k=2))
        size = 4 if name == "pubyear" else random.choice((4, 7, 10))
        value = [each[:size] for each in ends]
        if name == "pubyear" and random.random() < 0.7:
            value = [int(each) for each in value]
        if random.random() < 0.2:
            value[random.randrange(2)] = None
    return {"lop": random.choice(("and", "and", "or", "or", "not")), "field": name, "op": op, "value": value}


@dataclass
class Library:
    """Rows, and the service that took them in."""

    service: PatentsService
    rows: Sequence[Row]

    def found(self, query: str, entries: Sequence[Entry]) -> tuple[set[str], int]:
        filters = parse_filters(list(entries), FILTERS)
        hits, count = self.service.library.found(LOCAL, parse(query), filters, BOOSTS, EVERYTHING, "score")
        return {name for name, _ in hits}, count

    def expected(self, query: str, entries: Sequence[Entry]) -> set[str]:
        return {row["pub_id"] for row in kept(entries, self.rows) if query in row["title"]}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder: Path = tmp_path_factory.mktemp("filters")
    rows = made_rows(Random(1))
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    app = Application(load_settings({"SHIRUBE_HOME": str(folder / "home"), "SHIRUBE_EMBEDDER": "none"}))
    report = import_files(app.workspace().database, LOCAL, [path])
    assert (report.added, report.refused) == (len(rows), [])
    service = app.patents()
    service.library.catch_up(LOCAL.tenant)
    return Library(service, rows)


def test_generated_filters_keep_what_looking_at_every_row_keeps(library: Library) -> None:
    """Thousands of combinations; each operation of each field parts the rows at some time."""
    random = Random(2)
    seen = Counter[str]()
    parted = Counter[tuple[str, str]]()
    for _ in range(COMBINATIONS):
        entries = [made_entry(random) for _ in range(random.choice((1, 1, 2, 3, 4)))]
        query = random.choice(("共通", "共通", "装置"))
        expected = library.expected(query, entries)
        found, count = library.found(query, entries)
        assert found == expected, (query, entries, sorted(found - expected)[:5], sorted(expected - found)[:5])
        assert count == len(expected), (query, entries)
        seen["some" if 0 < len(expected) < len(library.rows) else "all" if expected else "nothing"] += 1
        if len(entries) == 1 and query == "共通" and 0 < len(expected) < len(library.rows):
            parted[entries[0]["field"], entries[0]["op"]] += 1
    assert seen["some"] >= COMBINATIONS * 0.5, seen
    assert seen["nothing"] >= COMBINATIONS * 0.02, seen
    assert {(name, op) for name, ops in OPS.items() for op in ops} == set(parted)


@pytest.mark.parametrize("op", ["=", "!=", "in", "prefix"])
@pytest.mark.parametrize("name", list(POOLS))
def test_every_value_alone_keeps_what_looking_at_every_row_keeps(
    library: Library, name: str, op: str
) -> None:
    """No value is left to chance: each that a row says and each that is asked for beside."""
    for value in (*POOLS[name], *OTHER[name]):
        entries = [{"lop": "and", "field": name, "op": op, "value": value}]
        found, _ = library.found("共通", entries)
        expected = library.expected("共通", entries)
        assert found == expected, (entries, sorted(found - expected)[:5], sorted(expected - found)[:5])


@pytest.mark.parametrize("value", ["Y10T1", "Y10T1*", "Y10T16"])
def test_a_shorter_symbol_of_section_y_means_its_subtree_too(library: Library, value: str) -> None:
    """CPC has one section more than FI and IPC: Y10T1 is Y10T1/… and not Y10T16/…, which Y10T1* is too."""
    entries = [{"lop": "and", "field": "cpc", "op": "=", "value": value}]
    expected = library.expected("共通", entries)
    assert expected
    assert library.found("共通", entries) == (expected, len(expected))


def test_a_saved_run_of_the_tool_is_filtered_the_same_way(library: Library) -> None:
    random = Random(3)
    for _ in range(SAVED):
        entries = [dict(made_entry(random)) for _ in range(random.randint(1, 3))]
        expected = library.expected("共通", entries)
        handle = library.service.fulltext(
            LOCAL, schema.FulltextInput(query="共通", filters=entries, top_k=2000)
        )
        assert handle.hit_count == len(expected), entries
        assert set(library.service.ids(LOCAL, handle.run_id).root) == expected, entries


WRONG: Sequence[tuple[Mapping[str, Any], str]] = [
    ({"field": "fi", "op": "=", "value": "G06V"}, "lop"),
    ({"lop": "and", "op": "=", "value": "G06V"}, "field"),
    ({"lop": "and", "field": "fi", "value": "G06V"}, "op"),
    ({"lop": "and", "field": "fi", "op": "="}, "value"),
    ({"lop": "xor", "field": "fi", "op": "=", "value": "G06V"}, "lop"),
    ({"lop": "and", "field": "title", "op": "=", "value": "G06V"}, "field"),
    ({"lop": "and", "field": "fi", "op": ">", "value": "G06V"}, "op"),
    ({"lop": "and", "field": "fi", "op": ">=", "value": "G06V"}, "op"),
    ({"lop": "and", "field": "country", "op": "range", "value": ["A", "B"]}, "op"),
    ({"lop": "and", "field": "pubyear", "op": "prefix", "value": 20}, "op"),
    ({"lop": "and", "field": "fi", "op": "=", "value": ""}, "value"),
    ({"lop": "and", "field": "fi", "op": "=", "value": "*"}, "value"),
    ({"lop": "and", "field": "fi", "op": "=", "value": None}, "value"),
    ({"lop": "and", "field": "fi", "op": "=", "value": ["G06V"]}, "value"),
    ({"lop": "and", "field": "fi", "op": "in", "value": []}, "value"),
    ({"lop": "and", "field": "fi", "op": "in", "value": ["G06V", 6]}, "value"),
    ({"lop": "and", "field": "date", "op": "=", "value": "2023-13"}, "value"),
    ({"lop": "and", "field": "date", "op": "=", "value": "2023-02-30"}, "value"),
    ({"lop": "and", "field": "date", "op": ">=", "value": "last year"}, "value"),
    ({"lop": "and", "field": "filing_date", "op": "range", "value": ["2023", "2022"]}, "value"),
    ({"lop": "and", "field": "filing_date", "op": "range", "value": "2023"}, "value"),
    ({"lop": "and", "field": "filing_date", "op": "range", "value": [None, None]}, "value"),
    ({"lop": "and", "field": "pubyear", "op": "=", "value": "many"}, "value"),
]


@pytest.mark.parametrize(("entry", "key"), WRONG)
def test_a_wrong_entry_is_named_with_what_is_wrong_in_it(library: Library, entry: Entry, key: str) -> None:
    right = {"lop": "and", "field": "country", "op": "=", "value": "JP"}
    with pytest.raises(InvalidFilter) as refused:
        library.service.fulltext(LOCAL, schema.FulltextInput(query="共通", filters=[right, dict(entry)]))
    assert refused.value.code == "FILTER_ERROR"
    assert (refused.value.details["index"], refused.value.details["key"]) == (1, key)
    assert "filters[1]" in refused.value.message


def test_the_oracle_itself_reads_as_a_person_would() -> None:
    """Cases small enough to see: the evaluator that judges the product is judged here."""
    row = {
        **{name: [] for name in POOLS}, "fi": ["B60W30/12,624@C", "g06v10/82A"], "country": "JP",
        "publication_date": "2023-04-01", "filing_date": None,
    }  # fmt: skip
    for name, op, value, expected in (
        ("fi", "=", "B60W30/12", True),
        ("fi", "=", "B60W30/12@Z", True),
        ("fi", "=", "G06V10", True),
        ("fi", "=", "G06V1", False),
        ("fi", "=", "G06V1*", True),
        ("fi", "prefix", "G06V1", True),
        ("fi", "!=", "G06V", False),
        ("fi", "in", ["H04N", "Ｇ０６Ｖ＊"], True),
        ("ft", "=", "5B057*", False),
        ("ft", "!=", "5B057*", True),
        ("date", "=", "2023", True),
        ("date", "<=", "2023-04", True),
        ("date", ">=", "2023-04-02", False),
        ("date", "range", ["2022", "2023-03"], False),
        ("filing_date", ">=", "2000", False),
        ("filing_date", "!=", "2000", True),
        ("pubyear", "range", [None, 2023], True),
    ):
        assert condition({"field": name, "op": op, "value": value})(row) is expected, (name, op, value)
