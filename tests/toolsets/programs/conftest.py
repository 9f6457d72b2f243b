"""A small set of programmes and rules, with the examples of the specification among them."""

import asyncio
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from shirube.caller import LOCAL, Caller
from shirube.operations import Answer
from shirube.settings import load_settings
from shirube.toolsets.programs.imports import Report, import_files
from shirube.toolsets.registry import Application

TODAY = date(2026, 11, 16)
KEIEI = {
    "unified_id": "keiei-kaishi-shikin",
    "primary_name": "経営開始資金",
    "aliases": ["農業次世代人材投資資金"],
    "tier": "S",
    "authority_level": "national",
    "authority_name": "農林水産省",
    "program_kind": "subsidy",
    "amount_max_man_yen": 150,
    "funding_purpose": ["生活費"],
    "target_types": ["認定新規就農者"],
    "official_url": "https://www.maff.go.jp/j/new_farmer/",
    "enriched": {"A_basics": {"年数": 3}, "B_target": {"年齢": "49歳以下"}, "J_statistics": None},
    "source_mentions": [{"url": "https://www.maff.go.jp/j/", "fetched_at": "2026-04-15T00:00:00+00:00"}],
    "source_url": "https://www.maff.go.jp/j/new_farmer/n_syunou/",
    "source_fetched_at": "2026-04-22T13:20:57.045412+00:00",
}
ROWS: list[dict[str, Any]] = [
    KEIEI,
    {
        "unified_id": "koyo-shuno-shikin",
        "primary_name": "雇用就農資金",
        "tier": "A",
        "authority_level": "国",
        "amount_max_man_yen": 240,
        "target_types": ["農業法人"],
        "source_url": "https://www.maff.go.jp/j/koyo/",
        "source_fetched_at": "2026-04-20",
    },
    {
        "unified_id": "aomori-setsubi",
        "primary_name": "青森県設備導入支援事業費補助金",
        "tier": "A",
        "prefecture": "青森",
        "authority_level": "prefecture",
        "authority_name": "青森県",
        "program_kind": "subsidy",
        "amount_max_man_yen": 500,
        "funding_purpose": ["設備投資"],
        "target_types": ["中小企業"],
        "official_url": "https://www.pref.aomori.lg.jp/setsubi",
        "application_window": {"start_date": "2026-10-01", "end_date": "2026-11-30", "cycle": "年1回"},
    },
    {
        "unified_id": "hirosaki-rishi",
        "primary_name": "弘前市中小企業利子補給",
        "tier": "B",
        "prefecture": "青森県",
        "municipality": "弘前市",
        "authority_level": "municipality",
        "authority_name": "青森県弘前市",
        "program_kind": "loan",
        "amount_max_man_yen": 50,
        "funding_purpose": ["運転資金"],
        "target_types": ["中小企業", "個人事業主"],
    },
    {
        "unified_id": "it-donyu",
        "primary_name": "IT導入補助金",
        "aliases": ["サービス等生産性向上IT導入支援事業"],
        "tier": "A",
        "authority_level": "national",
        "authority_name": "中小企業庁",
        "program_kind": "subsidy",
        "amount_max_man_yen": 450,
        "subsidy_rate": 0.5,
        "funding_purpose": ["設備投資"],
        "target_types": ["中小企業"],
        "application_window": {"start_date": "2026-04-01", "end_date": None, "cycle": None},
    },
    {"unified_id": "digital", "primary_name": "Digital化応援", "tier": "B", "program_kind": "support"},
    {
        "unified_id": "koko-unten",
        "primary_name": "一般貸付",
        "tier": "B",
        "authority_level": "公庫",
        "authority_name": "日本政策金融公庫",
        "program_kind": "loan",
        "amount_max_man_yen": 4800,
        "funding_purpose": ["運転資金", "設備投資"],
    },
    {"unified_id": "zeigaku", "primary_name": "外国税額控除", "tier": "C", "program_kind": "tax_credit"},
    {"unified_id": "kyosai", "primary_name": "小規模企業共済", "tier": "C", "program_kind": "mutual_aid"},
    {"unified_id": "furui", "primary_name": "終了した補助金", "tier": "X", "program_kind": "subsidy"},
    {
        "unified_id": "nozoku",
        "primary_name": "除かれた補助金",
        "tier": "B",
        "excluded": True,
        "exclusion_reason": "受付終了",
    },
    {
        "unified_id": "kinki",
        "primary_name": "近畿広域連携補助金",
        "prefecture": "京都府 / 大阪府",
        "program_kind": "subsidy",
        "application_window": {"start_date": None, "end_date": "2026-11-20", "cycle": None},
    },
    {"unified_id": "koyo-chosei", "primary_name": "雇用調整助成金", "tier": "A", "program_kind": "grant"},
    {"unified_id": "mono", "primary_name": "ものづくり補助金", "tier": "S", "program_kind": "subsidy"},
    {
        "unified_id": "tokyo-dx",
        "primary_name": "東京都DX推進助成金",
        "prefecture": 13,
        "program_kind": "grant",
    },
]
AGRI = {
    "rule_id": "agri-001",
    "kind": "mutex",
    "severity": "absolute",
    "program_a": "keiei-kaishi-shikin",
    "program_b": "koyo-shuno-shikin",
    "program_b_group": [],
    "description": "同時受給不可",
    "source_notes": "MAFF 要綱第3条",
    "source_urls": ["https://www.maff.go.jp/j/new_farmer/"],
    "extra": {},
}
# As many rules as the specification counts: 22 on farming, 13 on other fields.
RULES = [
    AGRI,
    *(
        {
            **AGRI,
            "rule_id": f"{field}-{number:03}",
            "program_a": f"{field}-a{number}",
            "program_b": f"{field}-b{number}",
        }
        for field, first, last in (("agri", 2, 22), ("other", 1, 13))
        for number in range(first, last + 1)
    ),
]


def write_rows(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


Call = Callable[..., Any]


class Programs:
    """An application with programmes in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = 0
        environ = {"SHIRUBE_HOME": str(folder / "home"), "SHIRUBE_EMBEDDER": "none"}
        self.application = Application(load_settings(environ))
        self.application.programs()._today = lambda: TODAY

    def take(self, *rows: Any, strict: bool = False, caller: Caller = LOCAL) -> Report:
        self._files += 1
        path = write_rows(self._folder / f"rows{self._files}.jsonl", list(rows))
        return self.take_files(path, strict=strict, caller=caller)

    def take_files(self, *paths: Path, strict: bool = False, caller: Caller = LOCAL) -> Report:
        return import_files(self.application.workspace().database, caller, paths, strict=strict)

    def answer(self, name: str, caller: Caller = LOCAL, **arguments: Any) -> Answer:
        operation = self.application.registry.get(name)
        assert operation is not None
        return asyncio.run(self.application.registry.call(name, caller, arguments))

    def call(self, name: str, caller: Caller = LOCAL, **arguments: Any) -> Any:
        answer = self.answer(name, caller, **arguments)
        assert answer.error is None, answer.body
        return json.loads(answer.json())

    def error(self, name: str, **arguments: Any) -> str:
        answer = self.answer(name, **arguments)
        assert answer.error is not None
        return str(answer.body["error"])

    def search(self, **arguments: Any) -> list[str]:
        """The ids that are found, all of them."""
        found = self.call("search_programs", **{"limit": 100, **arguments})
        ids = [row["unified_id"] for row in found["results"]]
        assert found["total"] == len(ids)
        return ids


@pytest.fixture
def empty(tmp_path: Path) -> Programs:
    return Programs(tmp_path)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    made = Programs(tmp_path_factory.mktemp("programs"))
    assert made.take(*ROWS, *RULES, strict=True).refused == []
    return made
