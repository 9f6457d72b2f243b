"""Exclusion rules: which programmes may not be received together, which need another first, which may be combined.

Programmes are named in many ways: by unified_id, canonical slug, name or alias. Two that were named are one where they
may be the same programme.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from shirube.text.normalize import fold
from shirube.toolsets.programs.record import Refused
from shirube.toolsets.programs.terms import searched

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


def read_rule(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A rule as it is kept: the specified fields, and anything else a source gives under `extra`."""
    extra = raw.get("extra") or {}
    if not isinstance(extra, Mapping):
        raise Refused("extra must be an object", "extra はオブジェクトで指定してください。")
    rule = {
        "rule_id": _text(raw, "rule_id"),
        "kind": _text(raw, "kind"),
        "severity": _text(raw, "severity"),
        "program_a": _text(raw, "program_a"),
        "program_b": _text(raw, "program_b"),
        "program_b_group": _texts(raw, "program_b_group"),
        "description": _text(raw, "description") or "",
        "source_notes": _text(raw, "source_notes"),
        "source_urls": _texts(raw, "source_urls"),
        "extra": {**extra, **{key: value for key, value in raw.items() if key not in _FIELDS}},
    }
    if not rule["rule_id"]:
        raise Refused("rule_id is missing", "rule_id がありません。")
    if rule["kind"] not in KINDS:
        raise Refused(
            f"unknown kind {rule['kind']!r}; known are {', '.join(KINDS)}",
            f"kind が {rule['kind']} のルールは判定できません。使えるもの: {', '.join(KINDS)}",
        )
    left, right = sides(rule)
    if len(left) + len(right) < 2 or (rule["kind"] == PREREQUISITE and not (left and right)):
        raise Refused("the rule names fewer than two programmes", "ルールに制度が 2 つ以上示されていません。")
    return rule


def sides(rule: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Those that a rule sets against each other; the first is empty where it names only a group."""
    group = rule["extra"].get(_GROUP_A)
    left = [rule["program_a"], *(_texts(rule["extra"], _GROUP_A) if group else [])]
    right = [rule["program_b"], *rule["program_b_group"]]
    a, b = ([each for each in side if each] for side in (left, right))
    return (a, b) if b else (b, a)


@dataclass(frozen=True)
class Named:
    """A programme as somebody named it: all names that are its own, and the programmes it may be."""

    given: str
    names: frozenset[str]
    programmes: frozenset[str]

    def is_any_of(self, members: Iterable[str]) -> bool:
        return any(names_of(member) & self.names for member in members)

    def may_be(self, other: "Named") -> bool:
        return bool(self.programmes & other.programmes)


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
    groups = (frozenset(map(searched, line.split("\t"))) for line in lines)
    return {name: group for group in groups for name in group}


@cache
def names_of(name: str) -> frozenset[str]:
    """Under which names a programme of this name is known."""
    return _slugs().get(searched(name), frozenset({searched(name)}))


def named(given: str, known: Iterable[tuple[str, Iterable[str]]]) -> Named:
    """`known` are the programmes that `given` may mean: the id of each with its names."""
    names = set(names_of(given))
    ids = set()
    for unified_id, own in known:
        ids.add(unified_id)
        for name in (unified_id, *own):
            names |= names_of(name)
    return Named(given, frozenset(names), frozenset(ids or names_of(given)))


def check(rules: Iterable[Mapping[str, Any]], given: Sequence[Named]) -> Checked:
    """What each rule says of these programmes together; hits by severity, then by the rule's id."""
    found = Checked()
    for rule in rules:
        if rule["kind"] == PREREQUISITE:
            found.hits += _lacking(rule, given)
        elif finding := _together(rule, given):
            (found.compatible if rule["kind"] == COMBINE_OK else found.hits).append(finding)
    for findings in (found.hits, found.compatible):
        findings.sort(key=lambda each: (severity_rank(each.rule), each.rule["rule_id"]))
    return found


def severity_rank(rule: Mapping[str, Any]) -> int:
    severity = fold(rule["severity"] or "")
    return _SEVERITIES.index(severity) if severity in _SEVERITIES else len(_SEVERITIES) - 1


def _together(rule: Mapping[str, Any], given: Sequence[Named]) -> Finding | None:
    left, right = sides(rule)
    if not left:
        return _of_group(rule, right, given)
    on_left = [each for each in given if each.is_any_of(left)]
    on_right = [each for each in given if each.is_any_of(right)]
    pairs = [(a, b) for a in on_left for b in on_right if not a.may_be(b)]
    return _finding(rule, given, [each for pair in pairs for each in pair]) if pairs else None


def _of_group(rule: Mapping[str, Any], members: Sequence[str], given: Sequence[Named]) -> Finding | None:
    """Two different members of the group, as two different programmes."""
    groups = {names_of(member) for member in members}
    present = {group: [each for each in given if each.names & group] for group in groups}
    involved = [
        each
        for group, those in present.items()
        for each in those
        if any(
            not each.may_be(other) for rest, others in present.items() if rest != group for other in others
        )
    ]
    return _finding(rule, given, involved) if involved else None


def _lacking(rule: Mapping[str, Any], given: Sequence[Named]) -> list[Finding]:
    left, right = sides(rule)
    needing = [each for each in given if each.is_any_of(left)]
    if not needing or any(each.is_any_of(right) for each in given):
        return []
    return [Finding(rule, tuple(each.given for each in needing), tuple(right))]


def _finding(rule: Mapping[str, Any], given: Sequence[Named], involved: Sequence[Named]) -> Finding:
    """Those involved, in the order they were given."""
    return Finding(rule, tuple(each.given for each in given if each in involved))


def _text(raw: Mapping[str, Any], name: str) -> str | None:
    value = raw.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > 10_000:
        raise Refused(f"{name} must be text", f"{name} は文字列で指定してください。")
    return value.strip() or None


def _texts(raw: Mapping[str, Any], name: str) -> list[str]:
    value = raw.get(name) or []
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise Refused(f"{name} must be a list of texts", f"{name} は文字列の配列で指定してください。")
    return list(dict.fromkeys(each.strip() for each in value if each.strip()))
