"""Exclusion rules: which programmes may not be received together, which need another first, which may be combined.

Programmes are named in many ways: by unified_id, canonical slug, name or alias. Two that were named are one where they
may be the same programme.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from itertools import permutations, product
from typing import Any

from shirube.ingest.refused import Refused
from shirube.text.normalize import fold
from shirube.toolsets.programs.record import (
    LONGEST_ID,
    check_size,
    read_object,
    read_text,
    read_texts,
    read_url,
)
from shirube.toolsets.programs.terms import name_key

TOGETHER = frozenset(
    {
        *("mutex", "exclude", "absolute", "same_asset_exclusive", "cross_tier_same_asset"),
        *("cross_tier_loan_interest", "mutex_certification", "area_allocation", "entity_scope_restriction"),
        "conditional_reduction",
    }
)
PREREQUISITE, COMBINE_OK = "prerequisite", "combine_ok"
KINDS = (*sorted(TOGETHER), PREREQUISITE, COMBINE_OK)
# From what must not be to what is worth knowing; a severity that is not here comes before info.
_SEVERITIES = ("absolute", "critical", "error", "high", "warning", "medium", "low", "info")
_FIELDS = (
    *("rule_id", "kind", "severity", "program_a", "program_b", "program_b_group", "description"),
    *("source_notes", "source_urls", "extra"),
)
_GROUP_A = "program_a_group"
_LONGEST = 10_000


def read_rule(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A rule as it is kept: the specified fields, and anything else a source gives under `extra`."""
    rest = {key: value for key, value in raw.items() if key not in _FIELDS}
    rule = {
        "rule_id": read_text(raw.get("rule_id"), "rule_id", LONGEST_ID),
        **{name: read_text(raw.get(name), name) for name in ("kind", "severity", "program_a", "program_b")},
        "program_b_group": read_texts(raw.get("program_b_group"), "program_b_group") or [],
        "description": read_text(raw.get("description"), "description", _LONGEST) or "",
        "source_notes": read_text(raw.get("source_notes"), "source_notes", _LONGEST),
        "source_urls": [
            each
            for written in read_texts(raw.get("source_urls"), "source_urls") or []
            if (each := read_url(written, "source_urls"))
        ],
        "extra": {**(read_object(raw.get("extra"), "extra") or {}), **(read_object(rest, "extra") or {})},
    }
    if not rule["rule_id"]:
        raise Refused("rule_id is missing", "rule_id がありません。")
    if rule["kind"] not in KINDS:
        raise Refused(
            f"unknown kind {rule['kind']!r}; known are {', '.join(KINDS)}",
            f"kind が {rule['kind']} のルールは判定できません。使えるもの: {', '.join(KINDS)}",
        )
    check_size(rule)
    left, right = sides(rule)
    if len(left) + len(right) < 2 or (rule["kind"] == PREREQUISITE and not (left and right)):
        raise Refused("the rule names fewer than two programmes", "ルールに制度が 2 つ以上示されていません。")
    return rule


def sides(rule: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Those that a rule sets against each other; the first is empty where it names only a group."""
    group = rule["extra"].get(_GROUP_A)
    left = [rule["program_a"], *(read_texts(group, _GROUP_A) or [])]
    right = [rule["program_b"], *rule["program_b_group"]]
    a, b = ([each for each in side if each] for side in (left, right))
    return (a, b) if b else (b, a)


@dataclass(frozen=True)
class Named:
    """A programme as somebody or a rule names it, and the programmes that may be meant; itself where it is none."""

    name: str
    meant: frozenset[str]

    def may_be(self, other: "Named") -> bool:
        return not self.meant.isdisjoint(other.meant)

    def may_be_any(self, others: Iterable["Named"]) -> bool:
        return any(map(self.may_be, others))


# Says what a name means.
Naming = Callable[[str], Named]


@dataclass(frozen=True)
class Finding:
    rule: Mapping[str, Any]
    involved: tuple[str, ...]
    missing: tuple[str, ...] = ()


@dataclass
class Checked:
    hits: list[Finding] = field(default_factory=list)
    compatible: list[Finding] = field(default_factory=list)


@cache
def _slugs() -> dict[str, frozenset[str]]:
    """For each name in slugs.tsv all names of the same programme: the canonical slug and its Japanese names."""
    lines = (files("shirube.toolsets.programs") / "slugs.tsv").read_text("utf-8").splitlines()
    groups = (frozenset(map(name_key, line.split("\t"))) for line in lines)
    return {name: group for group in groups for name in group}


def is_slug(name: str) -> bool:
    return name.isascii() and name_key(name) in _slugs()


@lru_cache(10_000)
def names_of(name: str) -> frozenset[str]:
    """Under which names a programme of this name is known."""
    return _slugs().get(name_key(name), frozenset({name_key(name)}))


def named(name: str, programmes: Iterable[str]) -> Named:
    """`programmes` are the ids of those that may be meant; none where nothing here is called so."""
    return Named(name, frozenset(programmes) or frozenset({f"\0{min(names_of(name))}"}))


def check(rules: Iterable[Mapping[str, Any]], given: Sequence[Named], naming: Naming) -> Checked:
    """What each rule says of these programmes together; hits by severity, then by the rule's id."""
    found = Checked()
    for rule in rules:
        left, right = ([naming(each) for each in side] for side in sides(rule))
        if rule["kind"] == PREREQUISITE:
            found.hits += _lacking(rule, left, right, given)
        elif involved := _together(left, right, given):
            finding = Finding(rule, tuple(each.name for each in given if each in involved))
            (found.compatible if rule["kind"] == COMBINE_OK else found.hits).append(finding)
    for findings in (found.hits, found.compatible):
        findings.sort(key=lambda each: (severity_rank(each.rule), each.rule["rule_id"]))
    return found


def severity_rank(rule: Mapping[str, Any]) -> int:
    severity = fold(rule["severity"] or "")
    return _SEVERITIES.index(severity) if severity in _SEVERITIES else len(_SEVERITIES) - 1


def _together(left: Sequence[Named], right: Sequence[Named], given: Sequence[Named]) -> list[Named]:
    """Those that are one of each side, or of a group alone two of its members."""
    if left:
        pairs = list(product(left, right))
    else:
        pairs = [pair for pair in permutations(right, 2) if names_of(pair[0].name) != names_of(pair[1].name)]
    involved = []
    for member, other in pairs:
        for one, another in product(given, given):
            if one.may_be(member) and another.may_be(other) and _are_two(one, member, another, other):
                involved += [one, another]
    return involved


def _are_two(one: Named, member: Named, another: Named, other: Named) -> bool:
    """Whether two that were given cannot be the same, or are called what the table of slugs keeps apart."""
    if not one.may_be(another):
        return True
    lines = names_of(one.name), names_of(another.name)
    tabled = all(line in _slugs().values() for line in lines)
    return tabled and lines[0] != lines[1] and lines == (names_of(member.name), names_of(other.name))


def _lacking(
    rule: Mapping[str, Any], left: Sequence[Named], right: Sequence[Named], given: Sequence[Named]
) -> list[Finding]:
    needing = [each for each in given if each.may_be_any(left)]
    if not needing or any(each.may_be_any(right) for each in given):
        return []
    return [Finding(rule, tuple(each.name for each in needing), tuple(each.name for each in right))]
