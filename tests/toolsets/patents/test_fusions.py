"""Fusing lanes, tuning a fusion, what stands behind it, and who may use it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from shirube.caller import LOCAL, Caller
from shirube.store.clock import now
from shirube.store.tables import runs as stored_runs
from shirube.toolsets.patents.fusion import DEFAULT_PI
from tests.toolsets.patents.conftest import MASK, ROWS, Patents

PROFILE = {"fi": {"G06V10/82": 1.0, "G06V40/16": 0.9}, "ft": {}}
EXAMPLE: dict[str, Any] = {
    "target_profile": PROFILE,
    "weights": {"code": 0.3, "code_secondary": 0.0},
    "lane_weights": {"recall": 1.0, "precision": 1.0, "semantic": 0.8},
    "pi_weights": {"code": 0.4, "facet": 0.3, "lane": 0.3},
    "rrf_k": 60,
    "beta_fuse": 1.2,
}


@pytest.fixture(scope="module")
def runs(dense: Patents) -> list[dict[str, Any]]:
    """The runs of the documented fusion: recall, precision and semantic, weighing 1.0, 0.8 and 1.2."""
    handles = dense.call(
        "run_multilane_search",
        lanes=[
            {"lane_name": "fulltext_recall", "query": "顔 OR 遮蔽 OR 指紋"},
            {"lane_name": "fulltext_precision", "query": "顔認証 AND 遮蔽"},
            {"lane_name": "semantic", "text": MASK},
        ],
    )
    weights = (1.0, 0.8, 1.2)
    return [
        {"lane": each["lane"], "run_id_lane": each["run_id_lane"], "weight": weight}
        for each, weight in zip(handles, weights, strict=True)
    ]


def scores(result: dict[str, Any]) -> dict[str, float]:
    return {each["pub_id"]: each["score"] for each in result["ranked_docs"]}


def test_the_documented_fusion_returns_its_result(dense: Patents, runs: list[dict[str, Any]]) -> None:
    result = dense.call("rrf_blend_frontier", runs=runs, **EXAMPLE)
    assert result["run_id"].startswith("fusion-")
    assert result["ranked_docs"][0]["pub_id"] == "JP2023-123456A"
    assert [each["rank"] for each in result["ranked_docs"]] == list(range(1, len(result["ranked_docs"]) + 1))
    assert list(scores(result).values()) == sorted(scores(result).values(), reverse=True)
    assert list(result["metrics"]) == ["LAS", "CCW", "S_shape", "F_struct", "Fproxy"]
    assert result["params"]["weights"] == EXAMPLE["weights"]
    assert (result["params"]["rrf_k"], result["params"]["beta_fuse"]) == (60, 1.2)
    assert [point["k"] for point in result["frontier"]] == [10, 20, 30, 40, 50, 80, 100]
    assert result["total_docs"] == len(result["ranked_docs"])


def test_defaults_are_those_of_the_specification(dense: Patents, runs: list[dict[str, Any]]) -> None:
    result = dense.call("rrf_blend_frontier", runs=[{**runs[0]}])
    assert (result["params"]["rrf_k"], result["params"]["beta_fuse"]) == (60, 1.2)
    assert result["params"]["pi_weights"] == DEFAULT_PI
    unweighted = {name: value for name, value in runs[0].items() if name != "weight"}
    assert scores(dense.call("rrf_blend_frontier", runs=[unweighted])) == scores(result)


@pytest.mark.parametrize(
    "changed",
    [
        {"target_profile": {"fi": {"G06V40/12": 1.0}, "ft": {}}},
        {"target_profile": {"fi": {}, "ft": {"5B089CA13": 1.0}}},
        {"weights": {"code": 3.0}},
        {"weights": {"code_secondary": 3.0}},
        {"weights": {"semantic": 5.0}},
        {"lane_weights": {"precision": 9.0}},
        {"pi_weights": {"lane": 0.0}},
        {"facet_terms": {"A": ["扉"], "B": ["暗証番号"]}},
        {"rrf_k": 1},
        {"beta_fuse": 0},
    ],
)
def test_each_parameter_changes_the_scores(
    dense: Patents, runs: list[dict[str, Any]], changed: dict[str, Any]
) -> None:
    base: dict[str, Any] = {"target_profile": PROFILE}
    before = dense.call("rrf_blend_frontier", runs=runs, **base)
    after = dense.call("rrf_blend_frontier", runs=runs, **{**base, **changed})
    assert scores(before) != scores(after)


def test_the_weight_of_a_run_scales_what_it_brings(dense: Patents, runs: list[dict[str, Any]]) -> None:
    once, twice = (
        scores(dense.call("rrf_blend_frontier", runs=[{**runs[1], "weight": weight}]))
        for weight in (1.0, 2.0)
    )
    assert {doc: score * 2 for doc, score in once.items()} == pytest.approx(twice)


def test_facets_weigh_what_is_said_of_them(dense: Patents, runs: list[dict[str, Any]]) -> None:
    facets = {"A": ["扉"], "B": ["指紋"], "C": []}
    doors, prints = (
        dense.call("rrf_blend_frontier", runs=runs[:1], facet_terms=facets, facet_weights=weights)
        for weights in ({"A": 1.0, "B": 0.0}, {"A": 0.0, "B": 1.0})
    )
    pi = [{each["pub_id"]: each["pi"] for each in result["ranked_docs"]} for result in (doors, prints)]
    assert pi[0]["JP2021-100002A"] > pi[1]["JP2021-100002A"]
    assert pi[0]["JP2020-100003A"] < pi[1]["JP2020-100003A"]


def test_a_full_symbol_matches_exactly_for_the_second_boost(
    dense: Patents, runs: list[dict[str, Any]]
) -> None:
    asked: dict[str, Any] = {"runs": runs[:1], "target_profile": {"fi": {"G06V40/16@A": 1.0}}}
    plain = scores(dense.call("rrf_blend_frontier", **asked))
    boosted = scores(dense.call("rrf_blend_frontier", **asked, weights={"code_secondary": 1.0}))
    assert {doc for doc in plain if boosted[doc] > plain[doc]} == {"JP2023-123456A"}


def test_a_term_of_which_nothing_is_left_finds_nothing(dense: Patents, runs: list[dict[str, Any]]) -> None:
    plain = dense.call("rrf_blend_frontier", runs=runs)
    unseen = dense.call("rrf_blend_frontier", runs=runs, facet_terms={"A": ["\u200b", ""]})
    assert scores(plain) == scores(unseen)


def test_white_space_around_a_term_is_no_part_of_it(dense: Patents, runs: list[dict[str, Any]]) -> None:
    def fused(*terms: str) -> dict[str, float]:
        return scores(
            dense.call(
                "rrf_blend_frontier", runs=runs, target_profile={"fi": {}}, facet_terms={"A": list(terms)}
            )
        )

    assert fused(" 遮蔽　") == fused("遮蔽") != fused("　")
    assert fused("　") == fused()


def test_a_lane_weighs_by_the_name_it_was_given_too(dense: Patents, runs: list[dict[str, Any]]) -> None:
    logical, whole = (
        dense.call("rrf_blend_frontier", runs=runs, target_profile=PROFILE, lane_weights={name: 0.1})
        for name in ("recall", "fulltext_recall")
    )
    assert scores(logical) == scores(whole)


UNKNOWN: list[tuple[dict[str, Any], str, str]] = [
    ({"weights": {"code": 1.0, "recall": 1.0}}, "weights.recall", "code_secondary"),
    ({"weights": {"Semantic": 1.0}}, "weights.Semantic", "original_dense"),
    ({"pi_weights": {"codes": 0.4}}, "pi_weights.codes", "representative"),
    ({"lane_weights": {"precison": 1.0}}, "lane_weights.precison", "precision"),
    ({"lane_weights": {"recall#1": 1.0}}, "lane_weights.recall#1", "recall"),
]


@pytest.mark.parametrize(("given", "parameter", "allowed"), UNKNOWN)
def test_a_weight_of_nothing_is_refused(
    dense: Patents, runs: list[dict[str, Any]], given: dict[str, Any], parameter: str, allowed: str
) -> None:
    base = dense.call("rrf_blend_frontier", runs=runs)["run_id"]
    for said in (
        dense.error("rrf_blend_frontier", runs=runs, **given),
        dense.error("rrf_mutate_run", base_run_id=base, mutate_delta=given),
    ):
        assert (said["code"], said["details"]["parameter"]) == ("INVALID_PARAMETER", parameter)
        assert allowed in said["message"]
        assert allowed in said["details"]["message_ja"]


@pytest.mark.parametrize("terms", [{}, {"facet_terms": {"A": ["扉"]}}])
def test_a_weight_of_no_facet_is_refused(
    dense: Patents, runs: list[dict[str, Any]], terms: dict[str, Any]
) -> None:
    said = dense.error("rrf_blend_frontier", runs=runs, facet_weights={"B": 1.0}, **terms)
    assert (said["code"], said["details"]["parameter"]) == ("INVALID_PARAMETER", "facet_weights.B")


def test_lanes_weigh_by_their_own_names_and_by_the_specification_s(dense: Patents) -> None:
    lanes = [{"lane_name": "fulltext_独自", "query": "顔"}, {"lane_name": "背景", "text": MASK}]
    handles = dense.call("run_multilane_search", lanes=lanes)
    runs = [{"lane": each["lane"], "run_id_lane": each["run_id_lane"]} for each in handles]
    plain = dense.call("rrf_blend_frontier", runs=runs)
    usual = dense.call("rrf_blend_frontier", runs=runs, lane_weights=EXAMPLE["lane_weights"])
    assert scores(usual) == scores(plain), "there may be no such lane"
    for name in ("独自", "fulltext_独自", "背景"):
        weighed = dense.call("rrf_blend_frontier", runs=runs, lane_weights={name: 0.1})
        tuned = dense.call(
            "rrf_mutate_run", base_run_id=plain["run_id"], mutate_delta={"lane_weights": {name: 0.1}}
        )
        assert scores(weighed) == scores(tuned) != scores(plain)


def test_a_run_is_of_the_type_that_it_is(dense: Patents, runs: list[dict[str, Any]]) -> None:
    wrong = [{**runs[0], "lane": "semantic"}]
    error = dense.error("rrf_blend_frontier", runs=wrong, target_profile=PROFILE)
    assert (error["code"], error["details"]["parameter"]) == ("INVALID_PARAMETER", "runs.0.lane")


def test_several_writings_of_one_code_count_together(dense: Patents, runs: list[dict[str, Any]]) -> None:
    once, twice = (
        dense.call("rrf_blend_frontier", runs=runs, target_profile={"fi": {**codes, "G06V40/12": 1.0}})
        for codes in ({"G06V10/82": 3.0}, {"G06V10/82": 1.0, "ｇ０６ｖ１０／８２@A": 2.0})
    )
    assert scores(once) == pytest.approx(scores(twice))


@pytest.mark.parametrize(
    "run",
    [
        {"lane": "magic", "run_id_lane": "x"},
        {"lane": "fulltext"},
        {"lane": "fulltext", "run_id_lane": "x", "weight": -1},
        {"lane": "fulltext", "run_id_lane": "x", "weight": "1"},
    ],
)
def test_a_wrong_run_is_refused(dense: Patents, run: dict[str, Any]) -> None:
    assert dense.error("rrf_blend_frontier", runs=[run])["code"] == "INVALID_PARAMETER"


@pytest.fixture(scope="module")
def base(dense: Patents, runs: list[dict[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = dense.call("rrf_blend_frontier", runs=runs, **EXAMPLE)
    return result


class TestMutate:
    def test_the_documented_call_returns_a_fusion(self, dense: Patents, base: dict[str, Any]) -> None:
        delta = {"weights": {"semantic": 0.5}, "beta_fuse": 0.9}
        made = dense.call("rrf_mutate_run", base_run_id=base["run_id"], mutate_delta=delta)
        assert made["run_id"] != base["run_id"]
        assert made["params"]["weights"] == {"code": 0.3, "code_secondary": 0.0, "semantic": 0.5}
        assert made["params"]["beta_fuse"] == 0.9
        assert made["params"]["rrf_k"] == 60

    @pytest.mark.parametrize(
        "delta",
        [
            {"weights": {"code": 2.0}},
            {"lane_weights": {"recall": 0.0}},
            {"pi_weights": {"code": 1.0}},
            {"rrf_k": 5},
            {"beta_fuse": 0.0},
        ],
    )
    def test_what_is_named_replaces_and_the_rest_stays(
        self, dense: Patents, base: dict[str, Any], delta: dict[str, Any]
    ) -> None:
        made = dense.call("rrf_mutate_run", base_run_id=base["run_id"], mutate_delta=delta)
        again = dense.call("rrf_mutate_run", base_run_id=made["run_id"], mutate_delta=delta)
        assert scores(made) != scores(base)
        assert again["params"] == made["params"], "absolute, not added"
        assert scores(again) == scores(made)

    def test_changed_back_it_is_what_it_was(self, dense: Patents, base: dict[str, Any]) -> None:
        there = dense.call(
            "rrf_mutate_run", base_run_id=base["run_id"], mutate_delta={"rrf_k": 1, "beta_fuse": 3}
        )
        back = dense.call(
            "rrf_mutate_run", base_run_id=there["run_id"], mutate_delta={"rrf_k": 60, "beta_fuse": 1.2}
        )
        assert back["ranked_docs"] == base["ranked_docs"]
        assert back["metrics"] == base["metrics"]

    def test_nothing_is_searched_again_and_the_base_stays(
        self, dense: Patents, base: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = dense.call("get_provenance", run_id=base["run_id"])
        for name in ("found", "nearest"):
            monkeypatch.setattr(dense.application.patents().library, name, lambda *_: pytest.fail("searched"))
        made = dense.call("rrf_mutate_run", base_run_id=base["run_id"], mutate_delta={"rrf_k": 10})
        assert dense.call("get_provenance", run_id=base["run_id"]) == before
        lineage = dense.call("get_provenance", run_id=made["run_id"])
        assert (lineage["parent"], lineage["history"]) == (base["run_id"], [base["run_id"]])

    def test_it_goes_on_from_the_store_when_nothing_is_remembered(
        self, dense: Patents, base: dict[str, Any]
    ) -> None:
        asked: dict[str, Any] = {"base_run_id": base["run_id"], "mutate_delta": {"beta_fuse": 0.4}}
        remembered = dense.call("rrf_mutate_run", **asked)
        dense.application.patents()._fusions._fusions.clear()
        assert dense.call("rrf_mutate_run", **asked)["ranked_docs"] == remembered["ranked_docs"]

    def test_only_a_fusion_can_be_tuned(self, dense: Patents, runs: list[dict[str, Any]]) -> None:
        said = dense.error("rrf_mutate_run", base_run_id=runs[0]["run_id_lane"], mutate_delta={})
        assert said["code"] == "INVALID_PARAMETER"


class TestProvenance:
    def test_a_fusion_tells_codes_shares_and_metrics(
        self, dense: Patents, runs: list[dict[str, Any]]
    ) -> None:
        fusion = dense.call("rrf_blend_frontier", runs=runs, **EXAMPLE)
        told = dense.call("get_provenance", run_id=fusion["run_id"])
        assert told["run_id"] == fusion["run_id"]
        assert told["code_freqs"]["fi"]["G06V10/82"] == 2
        assert told["code_freqs"]["ft"] == {"5B089AA01": 2, "5B089CA13": 1}
        assert set(told["lane_contributions"]) == {"recall", "precision", "semantic"}
        assert sum(told["lane_contributions"].values()) == pytest.approx(1.0)
        assert told["metrics"] == fusion["metrics"]
        assert told["recipe"]["rrf_k"] == 60

    def test_a_lane_tells_only_its_codes(self, dense: Patents, runs: list[dict[str, Any]]) -> None:
        told = dense.call("get_provenance", run_id=runs[1]["run_id_lane"])
        assert (told["lane_contributions"], told["metrics"]) == (None, None)
        assert told["code_freqs"]["fi"] == {"G06K9/00": 1, "G06V10/82": 1, "G06V40/16": 1, "G07C9/00": 1}
        assert told["recipe"]["query"] == "顔認証 AND 遮蔽"

    def test_a_tuned_fusion_tells_what_counted(self, dense: Patents, base: dict[str, Any]) -> None:
        delta = {"weights": {"semantic": 0.5}, "rrf_k": 5}
        tuned = dense.call("rrf_mutate_run", base_run_id=base["run_id"], mutate_delta=delta)
        recipe = dense.call("get_provenance", run_id=tuned["run_id"])["recipe"]
        assert {name: recipe[name] for name in tuned["params"]} == tuned["params"]
        assert recipe["weights"] == {"code": 0.3, "code_secondary": 0.0, "semantic": 0.5}
        assert recipe["mutate_delta"] == delta

    @pytest.mark.parametrize(
        "nothing", [{"lane_weights": dict.fromkeys(("recall", "precision", "semantic"), 0)}, {}]
    )
    def test_shares_add_up_where_there_is_no_score(
        self, dense: Patents, runs: list[dict[str, Any]], nothing: dict[str, Any]
    ) -> None:
        given = runs if nothing else [{**run, "weight": 0.0} for run in runs]
        fused = dense.call("rrf_blend_frontier", runs=given, **nothing)
        told = dense.call("get_provenance", run_id=fused["run_id"])
        assert told["lane_contributions"] == pytest.approx(
            dict.fromkeys(("recall", "precision", "semantic"), 1 / 3)
        )

    def test_shares_add_up_where_nothing_was_found(self, dense: Patents) -> None:
        run = dense.call("rrf_search_fulltext_raw", query="存在しない語")["run_id"]
        fused = dense.call("rrf_blend_frontier", runs=[{"lane": "fulltext", "run_id_lane": run}])
        assert dense.call("get_provenance", run_id=fused["run_id"])["lane_contributions"] == {"fulltext": 1.0}


def pi_of(result: dict[str, Any]) -> float:
    return float(next(each["pi"] for each in result["ranked_docs"] if each["pub_id"] == "JP2020-100003A"))


class TestRepresentatives:
    def test_a_representative_ranks_higher(self, empty: Patents) -> None:
        empty.take(*ROWS)
        run = empty.call("rrf_search_fulltext_raw", query="顔")["run_id_lane"]
        asked: dict[str, Any] = {"runs": [{"lane": "fulltext", "run_id_lane": run}]}
        before = empty.call("rrf_blend_frontier", **asked)
        done = empty.call("register_representatives", pub_ids=["特開2020-100003", "特開1999-1"], category="A")
        assert done == {"registered_count": 1, "category": "A", "not_found": ["特開1999-1"]}
        after = empty.call("rrf_blend_frontier", **asked)
        then, now = (
            next(each for each in result["ranked_docs"] if each["pub_id"] == "JP2020-100003A")
            for result in (before, after)
        )
        assert now["pi"] > then["pi"]
        assert now["score"] > then["score"]
        empty.call("register_representatives", pub_ids=["特開2020-100003"], category="C")
        last = empty.call("rrf_blend_frontier", **asked)
        less = next(each for each in last["ranked_docs"] if each["pub_id"] == "JP2020-100003A")
        assert then["score"] < less["score"] < now["score"], "the last category wins"

    @pytest.mark.parametrize("on", ["lane", "fusion", "tuned"])
    def test_those_of_a_run_count_in_what_comes_of_its_lanes(self, empty: Patents, on: str) -> None:
        empty.take(*ROWS)
        lane, other = (empty.call("rrf_search_fulltext_raw", query="顔")["run_id"] for _ in range(2))
        runs = [[{"lane": "fulltext", "run_id_lane": run_id}] for run_id in (lane, other)]
        fused = empty.call("rrf_blend_frontier", runs=runs[0])["run_id"]
        tuned = empty.call("rrf_mutate_run", base_run_id=fused, mutate_delta={"rrf_k": 10})["run_id"]
        run_id = {"lane": lane, "fusion": fused, "tuned": tuned}[on]
        empty.call("register_representatives", pub_ids=["2020-100003"], category="A", run_id=run_id)
        for base in (fused, tuned):
            assert pi_of(empty.call("rrf_mutate_run", base_run_id=base, mutate_delta={})) == pytest.approx(
                0.6
            )
        assert pi_of(empty.call("rrf_blend_frontier", runs=runs[0])) == pytest.approx(0.6)
        assert pi_of(empty.call("rrf_blend_frontier", runs=runs[1])) == pytest.approx(0.3), "another search"

    def test_the_last_category_wins_whatever_it_was_given_for(self, empty: Patents) -> None:
        empty.take(*ROWS)
        lane = empty.call("rrf_search_fulltext_raw", query="顔")["run_id"]
        runs = [{"lane": "fulltext", "run_id_lane": lane}]
        fused = empty.call("rrf_blend_frontier", runs=runs)["run_id"]
        for category, run_id, pi in (
            ("A", fused, 0.6),
            ("B", None, 0.45),
            ("C", lane, 0.36),
            ("A", None, 0.6),
        ):
            given = {"run_id": run_id} if run_id else {}
            empty.call("register_representatives", pub_ids=["特開2020-100003"], category=category, **given)
            empty.application.patents()._fusions._fusions.clear()
            tuned = empty.call("rrf_mutate_run", base_run_id=fused, mutate_delta={})
            assert pi_of(tuned) == pytest.approx(pi)
            assert pi_of(empty.call("rrf_blend_frontier", runs=runs)) == pytest.approx(pi)

    @pytest.mark.parametrize(
        "arguments",
        [
            {"pub_ids": ["特開2020-100003"], "category": "D"},
            {"pub_ids": [], "category": "A"},
            {"pub_ids": ["x"] * 31, "category": "A"},
            {"pub_ids": "特開2020-100003", "category": "A"},
        ],
    )
    def test_a_wrong_registration_is_refused(self, dense: Patents, arguments: dict[str, Any]) -> None:
        assert dense.error("register_representatives", **arguments)["code"] == "INVALID_PARAMETER"

    def test_they_are_their_owner_s(self, empty: Patents) -> None:
        empty.take(*ROWS)
        other = Caller(tenant=LOCAL.tenant, subject="hanako")
        empty.call("register_representatives", other, pub_ids=["特開2020-100003"], category="A")
        run = empty.call("rrf_search_fulltext_raw", query="指紋")["run_id_lane"]
        fused = empty.call("rrf_blend_frontier", runs=[{"lane": "fulltext", "run_id_lane": run}])
        assert fused["ranked_docs"][0]["pi"] == pytest.approx(0.3)


class TestRuns:
    def test_unknown_and_foreign_runs_are_the_same(self, dense: Patents, runs: list[dict[str, Any]]) -> None:
        other = Caller(tenant=LOCAL.tenant, subject="hanako")
        unknown = dense.error("get_provenance", run_id="fusion-000000000000")
        foreign = dense.answer("get_provenance", other, run_id=runs[0]["run_id_lane"])
        assert unknown == foreign.body["error"]
        assert unknown["code"] == "RUN_NOT_FOUND"
        for name, arguments in (
            ("peek_snippets", {"run_id": "x"}),
            ("rrf_mutate_run", {"base_run_id": "x", "mutate_delta": {}}),
            ("rrf_blend_frontier", {"runs": [{"lane": "fulltext", "run_id_lane": "x"}]}),
        ):
            assert dense.error(name, **arguments)["code"] == "RUN_NOT_FOUND"

    def test_an_expired_run_is_the_same_too(self, empty: Patents) -> None:
        empty.take(*ROWS)
        run = empty.call("rrf_search_fulltext_raw", query="顔")["run_id"]
        with empty.application.workspace().database.write() as connection:
            connection.execute(update(stored_runs).values(expires_at=datetime(2000, 1, 1, tzinfo=UTC)))
        assert empty.error("peek_snippets", run_id=run) == empty.error("peek_snippets", run_id="x")

    def test_what_a_fusion_is_made_of_lives_as_long_as_it(self, empty: Patents) -> None:
        empty.take(*ROWS)
        lane = empty.call("rrf_search_fulltext_raw", query="顔")["run_id"]
        soon = now() + timedelta(minutes=1)
        with empty.application.workspace().database.write() as connection:
            connection.execute(update(stored_runs).values(expires_at=soon))
        first = empty.call("rrf_blend_frontier", runs=[{"lane": "fulltext", "run_id_lane": lane}])["run_id"]
        with empty.application.workspace().database.write() as connection:
            connection.execute(update(stored_runs).values(expires_at=soon))
        tuned = empty.call("rrf_mutate_run", base_run_id=first, mutate_delta={"rrf_k": 5})["run_id"]
        with empty.application.workspace().database.read() as connection:
            ends = dict(connection.execute(select(stored_runs.c.id, stored_runs.c.expires_at)).all())
        assert min(ends[lane], ends[first]) >= ends[tuned]

    def test_a_run_survives_a_restart(self, dense: Patents, runs: list[dict[str, Any]]) -> None:
        again = Patents(dense.folder, "use")
        assert again.titles(runs[1]["run_id_lane"]) == dense.titles(runs[1]["run_id_lane"])
        assert again.call("rrf_blend_frontier", runs=runs, **EXAMPLE)["ranked_docs"]
