"""Which rules apply is what comparing every name with every other one says."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from shirube.caller import LOCAL
from shirube.settings import load_settings
from shirube.toolsets.programs.imports import import_files
from shirube.toolsets.programs.schema import CheckInput, CheckOutput
from shirube.toolsets.programs.service import ProgramsService
from shirube.toolsets.programs.terms import in_hiragana, searched
from shirube.toolsets.registry import Application

Row = Mapping[str, Any]

# One rule of every kind in each set.
RULE_SETS, MANY_RULE_SETS, RULES_OF_EACH, CHECKS_OF_EACH = 8, 24, 12, 215
KINDS = (
    "mutex exclude absolute same_asset_exclusive cross_tier_same_asset cross_tier_loan_interest "
    "mutex_certification area_allocation entity_scope_restriction conditional_reduction prerequisite combine_ok"
).split()
SEVERITIES = ("absolute", "critical", "warning", "info")
# What a rule says of itself; everything else is `extra`.
SAID = ("rule_id", "kind", "severity", "description", "source_notes", "source_urls")
SIDES = ("program_a", "program_b", "program_b_group")

SLUGS = (files("shirube.toolsets.programs") / "slugs.tsv").read_text("utf-8").splitlines()
OF_ONE_PROGRAMME = [line.split("\t") for line in SLUGS]
IN_SLUGS = [name for names in OF_ONE_PROGRAMME for name in names]
INVENTED = (
    "ロボット導入補助金|ものづくり助成金|IT導入補助金|國産材利用事業|青年農業 チャレンジ|DX-7|カーボン・ゼロ交付金|"
    "がんばる商店街|農地バンク|省エネ 設備更新|Web出店支援|（仮称）地域資金|共通の名|共通の別名"
).split("|")
CLASSES = ("national_subsidy", "pref_subsidy", "municipality_subsidy", "established_corp")
UNHEARD_OF = ("どこにもない制度", "no-such-programme", "架空資金", "")


class Names:
    """What a name may mean: the programme of that id, else all called so, else a line of the table, else itself."""

    def __init__(self, programmes: Sequence[Row]) -> None:
        self._tabled = [{*map(key, names)} for names in OF_ONE_PROGRAMME]
        self._ids = [key(row["unified_id"]) for row in programmes]
        self._named = []
        for row in programmes:
            own = {*map(key, names_of(row))}
            self._named.append(own.union(*(names for names in self._tabled if names & own)))
        self._meant: dict[str, frozenset[Any]] = {}

    def meant(self, name: str) -> frozenset[Any]:
        if name not in self._meant:
            called = key(name)
            identified = {at for at, own in enumerate(self._ids) if own == called}
            programmes = {at for at, names in enumerate(self._named) if called in names}
            tabled = {min(names) for names in self._tabled if called in names}
            self._meant[name] = frozenset(identified or programmes or tabled or {called})
        return self._meant[name]

    def line(self, name: str) -> set[str] | None:
        """The line of the table that holds the name."""
        return next((names for names in self._tabled if key(name) in names), None)

    def may_be_same(self, one: str, other: str) -> bool:
        return not self.meant(one).isdisjoint(self.meant(other))

    def among(self, given: Sequence[str], members: Sequence[str]) -> list[str]:
        """The given names that may mean one of the members."""
        return [one for one in given if any(self.may_be_same(one, member) for member in members)]

    def are_two(self, one: str, x: str, other: str, y: str) -> bool:
        """Whether two names are two programmes: they cannot be the same, or the table keeps them apart."""
        lines = self.line(one), self.line(other)
        kept_apart = None not in lines and lines[0] != lines[1] and lines == (self.line(x), self.line(y))
        return kept_apart or not self.may_be_same(one, other)

    def is_in_catalogue(self, name: str) -> bool:
        return any(key(name) in names for names in self._named)


def key(name: str) -> str:
    """The form in which names are the same: white space does not count."""
    return "".join(in_hiragana(searched(name)).split())


def names_of(programme: Row) -> list[str]:
    return [programme["unified_id"], programme["primary_name"], *programme["aliases"]]


def sides(rule: Row) -> tuple[list[str], list[str]]:
    a = [rule.get("program_a"), *rule.get("program_a_group", ())]
    b = [rule.get("program_b"), *rule.get("program_b_group", ())]
    return [" ".join(name.split()) for name in a if name], [" ".join(name.split()) for name in b if name]


def involved(rule: Row, given: Sequence[str], names: Names) -> list[str]:
    """The given names that make the rule apply, in the order they were given."""
    a, b = sides(rule)
    if rule["kind"] == "prerequisite":
        return [] if names.among(given, b) else names.among(given, a)
    if a and b:
        pairs = list(product(a, b))
    else:  # two names of one line of the table are one member of a group
        pairs = [
            (x, y)
            for x, y in product(a or b, a or b)
            if (names.line(x) or key(x)) != (names.line(y) or key(y))
        ]
    taking_part = set()
    for x, y in pairs:
        for one, other in product(names.among(given, [x]), names.among(given, [y])):
            if names.are_two(one, x, other, y):
                taking_part |= {one, other}
    return [one for one in given if one in taking_part]


def expected(rules: Sequence[Row], ids: Sequence[str], names: Names) -> dict[str, Any]:
    """What a check answers, but for its note."""
    given = list(dict.fromkeys(ids))
    hits: list[dict[str, Any]] = []
    compatible: list[dict[str, Any]] = []
    for rule in sorted(rules, key=place):
        if taking_part := involved(rule, given, names):
            (compatible if rule["kind"] == "combine_ok" else hits).append(
                {
                    **{name: rule.get(name) for name in SAID},
                    "programs_involved": taking_part,
                    "missing": sides(rule)[1] if rule["kind"] == "prerequisite" else [],
                    "extra": {key: said for key, said in rule.items() if key not in (*SAID, *SIDES)},
                }
            )
    in_rules = [name for rule in rules for side in sides(rule) for name in side]
    known = {one for one in given if names.is_in_catalogue(one)} | {*names.among(given, in_rules)}
    return {
        "program_ids": list(ids),
        "hits": hits,
        "compatible": compatible,
        "unknown_programs": [one for one in given if one not in known],
        "checked_rules": len(rules),
    }


def place(rule: Row) -> tuple[int, str]:
    """By severity, a rule without one last; then by id."""
    severity = rule["severity"]
    return SEVERITIES.index(severity) if severity else len(SEVERITIES), rule["rule_id"]


def in_another_writing(random: Random, name: str) -> str:
    """The same name as somebody else might type it."""
    wide = name.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)} | {0x20: 0x3000})
    katakana = name.translate({code: code + 0x60 for code in range(ord("ぁ"), ord("ゖ") + 1)})
    hiragana = name.translate({code: code - 0x60 for code in range(ord("ァ"), ord("ヶ") + 1)})
    old = name.replace("国", "國").replace("経", "經")
    ways = (name, name, name, wide, wide.lower(), name.upper(), katakana, hiragana, old, f" {name}　")
    return random.choice(ways)


def made_programmes(random: Random) -> list[Row]:
    """Programmes that share names with each other and with the table of slugs; some have a slug for an id."""
    tabled = random.sample(OF_ONE_PROGRAMME, 6)
    pool = [*random.sample(INVENTED, 9), *(name for names in tabled for name in names)]
    ids = [names[0] for names in tabled[:2]] + [f"UNI-{random.randrange(16**6):06x}" for _ in range(9)]
    return [
        {
            "unified_id": key,
            "primary_name": random.choice(pool),
            "aliases": random.sample(pool, random.choice((0, 1, 1, 2))),
        }
        for key in ids
    ]


def made_shape(random: Random, kind: str) -> dict[str, int]:
    """How many programmes a rule names, and where."""
    two_sides: list[dict[str, int]] = [
        {"program_a": 1, "program_b": 1},
        {"program_a": 1, "program_b_group": 2},
        {"program_a": 1, "program_b": 1, "program_b_group": 2},
        {"program_a_group": 2, "program_b": 1},
        {"program_a_group": 2, "program_b_group": 2},
        {"program_a": 1, "program_a_group": 1, "program_b": 1},
    ]
    a_group: list[dict[str, int]] = [
        {"program_b_group": 2},
        {"program_b_group": 3},
        {"program_a_group": 3},
        {"program_a": 1, "program_a_group": 2},
        {"program_b": 1, "program_b_group": 1},
    ]
    return random.choice(two_sides if kind == "prerequisite" else two_sides + a_group)


def made_rules(random: Random, programmes: Sequence[Row]) -> list[Row]:
    own = [name for row in programmes for name in names_of(row)]
    severities = random.choice((SEVERITIES, (*SEVERITIES[:3], None)))
    rules: list[Row] = []
    for number in range(RULES_OF_EACH):
        drawn = [random.choice(random.choice((own, own, own, IN_SLUGS, CLASSES))) for _ in range(12)]
        different = list({key(name): in_another_writing(random, name) for name in drawn}.values())
        kind = KINDS[number % len(KINDS)]
        rule: dict[str, Any] = {
            "rule_id": f"{random.choice('abc')}-{number}",
            "kind": kind,
            "severity": random.choice(severities),
            "description": f"{kind} {number}",
            "source_notes": random.choice((None, "要綱第3条")),
            "source_urls": [f"https://example.go.jp/{number}"],
        }
        if kind == "conditional_reduction":
            rule["conditional_reduction_to_man_yen"] = 500
        for field, size in made_shape(random, kind).items():
            taken = [different.pop() for _ in range(size)]
            rule[field] = taken if field.endswith("group") else taken[0]
        rules.append(rule)
    return rules


def made_names(random: Random, programmes: Sequence[Row], rules: Sequence[Row]) -> list[str]:
    """What somebody asks about: several names of one programme among them, and some that nobody knows."""
    in_rules = [name for rule in rules for side in sides(rule) for name in side]
    of_one = names_of(random.choice(programmes))
    ids = [row["unified_id"] for row in programmes]
    pools: tuple[Sequence[str], ...] = (in_rules, in_rules, in_rules, ids, of_one, IN_SLUGS, UNHEARD_OF)
    names = [random.choice(random.choice(pools)) for _ in range(random.choice((1, 2, 2, 3, 3, 4, 6)))]
    return [in_another_writing(random, name) for name in names]


def opened(folder: Path, programmes: Sequence[Row], rules: Sequence[Row]) -> ProgramsService:
    made = {"programs.json": programmes, "rules.json": {"rules": rules}}
    for name, content in made.items():
        (folder / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    home = {"SHIRUBE_HOME": str(folder / "home"), "SHIRUBE_EMBEDDER": "none"}
    application = Application(load_settings(home))
    report = import_files(application.workspace().database, LOCAL, [folder / name for name in made])
    assert (report.refused, report.rules.added) == ([], len(rules))
    return application.programs()


def answered(output: CheckOutput) -> dict[str, Any]:
    return output.model_dump(exclude={"note"})


@pytest.mark.parametrize("rule_sets", [RULE_SETS, pytest.param(MANY_RULE_SETS, marks=pytest.mark.soak)])
def test_a_check_agrees_with_comparing_every_name(
    tmp_path_factory: pytest.TempPathFactory, rule_sets: int
) -> None:
    """Every kind of rule applies in some of the checks and does not in others, whoever is named how."""
    differences, checks = [], 0
    applied: Counter[str] = Counter()
    did_not: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for seed in range(rule_sets):
        random = Random(seed)
        programmes = made_programmes(random)
        rules = made_rules(random, programmes)
        names = Names(programmes)
        service = opened(tmp_path_factory.mktemp("rules"), programmes, rules)
        for _ in range(CHECKS_OF_EACH):
            ids = made_names(random, programmes, rules)
            wanted = expected(rules, ids, names)
            got = answered(service.check(LOCAL, CheckInput(program_ids=ids)))
            checks += 1
            if got != wanted:
                differences.append((seed, ids, got, wanted))
            found = {hit["rule_id"] for hit in (*wanted["hits"], *wanted["compatible"])}
            for rule in rules:
                (applied if rule["rule_id"] in found else did_not)[rule["kind"]] += 1
                if rule["rule_id"] not in found and rule["kind"] != "prerequisite":
                    seen["both sides by one programme"] += all(names.among(ids, side) for side in sides(rule))
            seen["several hits"] += len(wanted["hits"]) > 1
            seen["unknown"] += bool(wanted["unknown_programs"])
            seen["nothing"] += not found
    assert differences == []
    assert checks == rule_sets * CHECKS_OF_EACH
    assert min(applied[kind] for kind in KINDS) > checks / 50
    assert min(did_not[kind] for kind in KINDS) > checks / 50
    assert min(seen.values()) > checks / 50
    assert len(seen) == 4
