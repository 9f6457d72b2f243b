"""list_exclusion_rules and check_exclusions: what fires, what must not, and who is meant by a name."""

from typing import Any

import pytest

from shirube.toolsets.programs.rules import KINDS
from tests.toolsets.programs.conftest import AGRI, RULES, Programs

PAIR = ["keiei-kaishi-shikin", "koyo-shuno-shikin"]
TOGETHER = [kind for kind in KINDS if kind not in ("prerequisite", "combine_ok")]


def rule(rule_id: str = "r", **given: Any) -> dict[str, Any]:
    return {"rule_id": rule_id, "kind": "mutex", "severity": "critical", "description": "説明", **given}


def hits(programs: Programs, *ids: str) -> list[str]:
    return [hit["rule_id"] for hit in programs.call("check_exclusions", program_ids=list(ids))["hits"]]


class TestList:
    def test_every_rule_is_listed(self, programs: Programs) -> None:
        listed = programs.call("list_exclusion_rules")
        assert isinstance(listed, list)
        assert [each["rule_id"] for each in listed] == [each["rule_id"] for each in RULES]
        assert sum(each["rule_id"].startswith("agri") for each in listed) == 22
        assert len(listed) == 35

    def test_the_documented_rule_has_the_documented_values(self, programs: Programs) -> None:
        assert programs.call("list_exclusion_rules")[0] == AGRI

    def test_anything_else_a_source_gives_is_kept(self, empty: Programs) -> None:
        empty.take(rule(program_a="a", program_b="b", conditional_reduction_to_man_yen=500, extra={"x": 1}))
        [listed] = empty.call("list_exclusion_rules")
        assert listed["extra"] == {"x": 1, "conditional_reduction_to_man_yen": 500}
        assert (listed["program_b_group"], listed["source_urls"], listed["source_notes"]) == ([], [], None)

    def test_rules_of_a_programme_or_a_kind(self, programs: Programs) -> None:
        assert programs.call("list_exclusion_rules", program_id="経営開始資金") == [AGRI]
        assert programs.call("list_exclusion_rules", program_id="農業次世代人材投資資金") == [AGRI]
        assert programs.call("list_exclusion_rules", program_id="it-donyu") == []
        assert len(programs.call("list_exclusion_rules", kind="mutex")) == 35
        assert programs.call("list_exclusion_rules", kind="absolute") == []
        assert "unknown" in programs.error("list_exclusion_rules", kind="絶対")


class TestCheck:
    def test_the_documented_pair_is_the_documented_hit(self, programs: Programs) -> None:
        found = programs.call("check_exclusions", program_ids=PAIR)
        assert found["program_ids"] == PAIR
        [hit] = found["hits"]
        documented = {
            name: AGRI[name] for name in ("rule_id", "kind", "severity", "description", "source_urls")
        }
        assert hit.items() >= documented.items()
        assert hit["programs_involved"] == PAIR
        assert found["checked_rules"] == 35

    def test_programmes_that_no_rule_joins_hit_nothing(self, programs: Programs) -> None:
        found = programs.call("check_exclusions", program_ids=["keiei-kaishi-shikin", "it-donyu"])
        assert (found["hits"], found["compatible"], found["unknown_programs"]) == ([], [], [])
        assert "証拠" in found["note"] or "限りません" in found["note"]

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("経営開始資金", "雇用就農資金"),
            ("keiei-kaishi-shikin", "雇用就農資金"),
            ("農業次世代人材投資資金", "koyo-shuno-shikin"),
            ("ＫＥＩＥＩ－ＫＡＩＳＨＩ－ＳＨＩＫＩＮ", " 雇用就農資金 "),
            ("新規就農者育成総合対策（経営開始資金）", "Koyo-Shuno-Shikin"),
        ],
    )
    def test_any_name_of_a_programme_fires_the_same_rule(
        self, programs: Programs, first: str, second: str
    ) -> None:
        found = programs.call("check_exclusions", program_ids=[first, second])
        assert [hit["rule_id"] for hit in found["hits"]] == ["agri-001"]
        assert found["hits"][0]["programs_involved"] == [first, second]
        assert found["unknown_programs"] == []

    def test_a_rule_may_name_what_no_programme_here_is(self, empty: Programs) -> None:
        """Slugs of the rules stand for programmes by their names, whatever their ids are."""
        empty.take({"unified_id": "UNI-1", "primary_name": "経営開始資金"}, AGRI)
        assert hits(empty, "UNI-1", "koyo-shuno-shikin") == ["agri-001"]
        assert hits(empty, "UNI-1", "雇用就農資金") == ["agri-001"]

    def test_white_space_in_a_name_does_not_count(self, empty: Programs) -> None:
        empty.take({"unified_id": "UNI-1", "primary_name": "農業経営基盤強化資金 (スーパーL資金)"})
        empty.take(rule(program_a="super-L-shikin", program_b="nogyo-kindaika-shikin"))
        assert hits(empty, "UNI-1", "農業近代化資金") == ["r"]

    def test_a_stray_alias_silences_no_rule(self, empty: Programs) -> None:
        both = ["経営開始資金", "雇用就農資金"]
        empty.take({"unified_id": "u1", "primary_name": "新規就農者育成総合対策", "aliases": both}, AGRI)
        assert hits(empty, *PAIR) == ["agri-001"]
        assert hits(empty, *both) == ["agri-001"]
        assert hits(empty, "u1") == []

    def test_an_id_means_its_programme_alone(self, empty: Programs) -> None:
        empty.take({"unified_id": "z1", "primary_name": "一", "aliases": ["z2"]})
        empty.take({"unified_id": "z2", "primary_name": "二"}, rule(program_a="z1", program_b="z2"))
        empty.take(rule("p", kind="prerequisite", program_a="z1", program_b="z2"))
        assert hits(empty, "z1", "z2") == ["r"]
        assert hits(empty, "z1") == ["p"]

    def test_one_programme_by_two_names_is_one(self, programs: Programs) -> None:
        assert hits(programs, "経営開始資金", "keiei-kaishi-shikin") == []

    def test_what_is_not_known_is_listed(self, programs: Programs) -> None:
        found = programs.call("check_exclusions", program_ids=["なぞの制度", *PAIR, "agri-a2"])
        assert found["unknown_programs"] == ["なぞの制度"]
        assert len(found["hits"]) == 1

    def test_there_is_at_least_one_id_and_at_most_fifty(self, programs: Programs) -> None:
        assert programs.error("check_exclusions", program_ids=[]) == "program_ids required"
        assert programs.error("check_exclusions", program_ids=["x"] * 51) == "program_ids cap is 50, got 51"
        assert "program_ids" in programs.error("check_exclusions")

    def test_hits_come_by_severity(self, empty: Programs) -> None:
        grades = ["info", "warning", "critical", "absolute", "謎"]
        empty.take(*(rule(f"r-{grade}", severity=grade, program_a="a", program_b="b") for grade in grades))
        assert hits(empty, "a", "b") == ["r-absolute", "r-critical", "r-warning", "r-info", "r-謎"]


class TestKinds:
    """Every kind with a rule that fires and one that must not."""

    @pytest.mark.parametrize("kind", TOGETHER)
    def test_two_sides_fire_together_and_never_alone(self, empty: Programs, kind: str) -> None:
        empty.take(
            rule(kind=kind, program_a="a", program_b="b", program_b_group=["c"], program_a_group=["d"])
        )
        for pair in (("a", "b"), ("a", "c"), ("d", "b"), ("c", "d")):
            found = empty.call("check_exclusions", program_ids=list(pair))
            assert [hit["kind"] for hit in found["hits"]] == [kind]
            assert found["hits"][0]["programs_involved"] == list(pair)
        for others in (("a",), ("b",), ("a", "d"), ("b", "c"), ("a", "x")):
            assert hits(empty, *others) == []

    @pytest.mark.parametrize("kind", TOGETHER)
    def test_of_a_group_alone_two_members_fire(self, empty: Programs, kind: str) -> None:
        empty.take(rule(kind=kind, program_b_group=["a", "b", "c"]))
        assert hits(empty, "a", "c") == ["r"]
        assert hits(empty, "a", "b", "c") == ["r"]
        assert hits(empty, "a") == []
        assert hits(empty, "a", "x") == []

    def test_two_programmes_of_one_name_are_no_two_members(self, empty: Programs) -> None:
        same = [{"unified_id": key, "primary_name": "同じ名前"} for key in ("p", "q")]
        empty.take(*same, rule(program_b_group=["同じ名前", "他"]))
        assert hits(empty, "p", "q") == []
        assert hits(empty, "p", "他") == ["r"]

    def test_a_reduction_passes_its_severity_and_amount_on(self, empty: Programs) -> None:
        reduced: dict[str, Any] = {"conditional_reduction_to_man_yen": 500}
        empty.take(
            rule(kind="conditional_reduction", program_a="a", program_b="b", severity="warning", **reduced)
        )
        [hit] = empty.call("check_exclusions", program_ids=["a", "b"])["hits"]
        assert (hit["severity"], hit["extra"]) == ("warning", reduced)

    def test_a_prerequisite_fires_only_where_it_is_missing(self, empty: Programs) -> None:
        empty.take(rule(kind="prerequisite", program_a="a", program_b="b", program_b_group=["c"]))
        [hit] = empty.call("check_exclusions", program_ids=["a", "x"])["hits"]
        assert (hit["programs_involved"], hit["missing"]) == (["a"], ["b", "c"])
        assert hits(empty, "a", "b") == []
        assert hits(empty, "a", "c") == []
        assert hits(empty, "b") == []
        assert hits(empty, "x") == []

    def test_what_may_be_combined_is_no_hit(self, empty: Programs) -> None:
        empty.take(rule(kind="combine_ok", program_a="a", program_b="b"))
        found = empty.call("check_exclusions", program_ids=["a", "b"])
        assert found["hits"] == []
        assert [each["rule_id"] for each in found["compatible"]] == ["r"]
        assert empty.call("check_exclusions", program_ids=["a", "x"])["compatible"] == []


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"kind": "未知", "program_a": "a", "program_b": "b"}, "unknown kind"),
        ({"program_a": "a"}, "fewer than two"),
        ({"kind": "prerequisite", "program_b_group": ["a", "b"]}, "fewer than two"),
        ({"program_a": 1, "program_b": "b"}, "program_a must be text"),
        ({"program_a": "a", "program_b_group": [1]}, "program_b_group"),
        ({"program_a": "a", "program_b": "b", "extra": 5}, "extra"),
        ({"rule_id": " ", "program_a": "a", "program_b": "b"}, "rule_id is missing"),
        ({"rule_id": "r" * 201, "program_a": "a", "program_b": "b"}, "longer than 200"),
        ({"program_a": "a", "program_b": "b", "source_urls": ["javascript:1"]}, "source_urls must begin"),
    ],
)
def test_a_rule_that_cannot_be_judged_is_refused(empty: Programs, given: dict[str, Any], reason: str) -> None:
    report = empty.take(rule(**{"rule_id": "r", **given}), {"unified_id": "a", "primary_name": "制度"})
    assert [reason in each.reason for each in report.refused] == [True], report.refused
    assert empty.call("list_exclusion_rules") == []


def test_the_sample_rules_find_their_programmes(empty: Programs) -> None:
    """By the ids of real programmes, which the rules know by their slugs."""
    from importlib.resources import as_file, files

    with as_file(files("shirube") / "samples" / "programs") as folder:
        assert empty.take_files(*sorted(folder.iterdir()), strict=True).rules.added == 22
    named = {
        row["primary_name"]: row["unified_id"] for row in empty.call("search_programs", limit=100)["results"]
    }
    assert hits(empty, named["青年等就農資金"]) == ["excl-seinen-requires-cert-new-farmer"]
    assert hits(empty, named["青年等就農資金"], "認定新規就農者") == []
