"""Programmes: imports of the real data and searches in it, in process; writes benchmarks/programs.md."""

import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.datasets import data_folder
from benchmarks.machine import machine_lines
from benchmarks.measures import percentile
from shirube.caller import LOCAL
from shirube.settings import load_settings
from shirube.text.places import PREFECTURES
from shirube.toolsets.programs import schema
from shirube.toolsets.programs.imports import import_files
from shirube.toolsets.programs.service import ProgramsService
from shirube.workspace import Workspace

REPORT = Path(__file__).with_name("programs.md")
FILES = (
    *(
        "programs.jsonl",
        "program_details_industry.jsonl",
        "exclusion_rules_agri.json",
        "jgrants-sample.jsonl",
    ),
)
ROUNDS = 3
ASKED = 300
WORDS = (
    *(
        "農業",
        "融資",
        "IT",
        "DX",
        "税",
        "補助金",
        "青森",
        "雇調金",
        "ﾓﾉづくり",
        "Tokyo",
        "税額控除",
        "設備投資補助金",
    ),
    *(
        "中小企業向けの補助金",
        "創業",
        "省エネ",
        "就農",
        "介護",
        "観光",
        "研究開発",
        "スマート農業",
        "事業承継",
    ),
)


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        workspace = Workspace(load_settings({"SHIRUBE_HOME": home}))
        rows = [*_imports(workspace, data_folder() / "programs"), *_calls(workspace)]
        workspace.database.close()
    lines = [
        "# Benchmark: programmes",
        "",
        *machine_lines("programmes and rules of AutonoMath (MIT), jGrants"),
        "",
        f"All in process. Times of a tool are p50 / p95 of {ASKED} calls, the fastest of {ROUNDS} rounds. Queries have "
        "one to three words, with and without other conditions; for the first search of a word nothing was remembered.",
        "",
        "| what | figure |",
        "| --- | --- |",
        *(f"| {what} | {figure} |" for what, figure in rows),
    ]
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"written: {REPORT.name}")


def _imports(workspace: Workspace, folder: Path) -> list[tuple[str, str]]:
    rows = []
    for title in ("import", "import again, nothing changed"):
        for name in FILES:
            started = time.perf_counter()
            report = import_files(workspace.database, LOCAL, [folder / name], strict=True)
            count = sum(vars(report.programs).values()) + sum(vars(report.rules).values())
            rows.append((f"{title}: {name}, {count:,} rows", f"{time.perf_counter() - started:.2f} s"))
    return rows


def _calls(workspace: Workspace) -> list[tuple[str, str]]:
    service = ProgramsService(workspace)
    started = time.perf_counter()
    catalogue = service.catalogue(LOCAL)
    opened = time.perf_counter() - started
    chance = random.Random(1)
    ids = [catalogue.ids[chance.randrange(len(catalogue))] for _ in range(50)]
    searches = [_search(service, chance) for _ in range(ASKED)]

    def afresh() -> None:
        catalogue.forget()

    return [
        ("first use of a process", f"{opened:.2f} s"),
        ("search_programs", _times(searches)),
        ("search_programs, the first search of a word", _times(searches, afresh)),
        ("get_program", _times([lambda: service.get(LOCAL, schema.GetInput(unified_id=ids[0]))] * ASKED)),
        (
            "batch_get_programs, 50",
            _times([lambda: service.batch(LOCAL, schema.BatchInput(unified_ids=ids))] * ASKED),
        ),
        (
            "check_exclusions, 50",
            _times([lambda: service.check(LOCAL, schema.CheckInput(program_ids=ids))] * ASKED),
        ),
        ("get_meta", _times([lambda: service.meta(LOCAL)] * ASKED)),
    ]


def _search(service: ProgramsService, chance: random.Random) -> Callable[[], Any]:
    asked: dict[str, Any] = {"q": " ".join(chance.sample(WORDS, chance.choice((1, 1, 2, 3))))}
    if chance.random() < 0.3:
        asked["prefecture"] = chance.choice(PREFECTURES).name
        asked["include_national"] = chance.random() < 0.5
    if chance.random() < 0.2:
        asked["amount_min_man_yen"] = chance.choice((10, 100, 1000))
    if chance.random() < 0.2:
        asked["tier"] = chance.sample(["S", "A", "B"], 2)
    checked = schema.SearchInput.model_validate(asked)
    return lambda: service.search(LOCAL, checked)


def _times(calls: Sequence[Callable[[], Any]], before: Callable[[], None] = lambda: None) -> str:
    rounds = []
    for _ in range(ROUNDS):
        times = []
        for call in calls:
            before()
            started = time.perf_counter()
            call()
            times.append((time.perf_counter() - started) * 1000)
        rounds.append(times)
    best = min(rounds, key=lambda times: percentile(times, 50))
    return f"{percentile(best, 50):.2f} / {percentile(best, 95):.2f} ms"


if __name__ == "__main__":
    main()
