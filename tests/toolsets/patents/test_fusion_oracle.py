"""Fusion, frontier and metrics are the formulas of the specification, written down again here."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from fractions import Fraction
from itertools import combinations, pairwise
from math import log
from random import Random
from typing import Any

import pytest

from shirube.toolsets.patents.fusion import Evidence, Fused, Lane, Params, frontier, fuse
from shirube.toolsets.patents.metrics import structural_metrics

CASES, TIED_CASES, METRIC_CASES, FRONTIER_CASES = 10_000, 1000, 1000, 1000
CLOSE = 1e-12
TYPES = ("fulltext", "semantic", "original_dense")
NAMES = ("recall", "precision", "semantic", "background")
DOCS = [f"JP20{number:02d}{number * 7919 % 1000:06d}" for number in range(25)]
PI = {"code": 0.4, "facet": 0.3, "lane": 0.3, "representative": 0.3}
SIZES = (10, 20, 30, 40, 50, 80, 100)
NOTHING_KNOWN = Evidence()


def reference(
    lanes: Sequence[Lane], given: Mapping[str, Any], evidence: Mapping[str, Evidence]
) -> dict[str, tuple[float, float, float]]:
    """RRF(d), π(d) and score(d) of every publication, from what a caller gives."""
    weights, names = given.get("weights", {}), given.get("lane_weights", {})
    pi = {**PI, **given.get("pi_weights", {})}
    k, beta = given.get("rrf_k", 60), given.get("beta_fuse", 1.2)
    found = {}
    for doc in {doc for lane in lanes for doc in lane.docs}:
        known, holding = evidence.get(doc, NOTHING_KNOWN), [lane for lane in lanes if doc in lane.docs]
        rrf = sum(
            lane.weight * weights.get(lane.type, 1) * names.get(lane.name, 1) / (k + lane.docs.index(doc) + 1)
            for lane in holding
        )
        fitting = pi["code"] * known.code + pi["facet"] * known.facet + pi["lane"] * len(holding) / len(lanes)
        fitting = min(1.0, max(0.0, fitting + pi["representative"] * known.representative))
        codes = weights.get("code", 0) * known.code + weights.get("code_secondary", 0) * known.code_secondary
        found[doc] = rrf, fitting, rrf * (1 + beta * fitting + codes)
    return found


def some(random: Random, names: Sequence[str], low: float, high: float) -> dict[str, float]:
    return {
        name: random.choice((0.0, 1.0, random.uniform(low, high)))
        for name in random.sample(names, random.randint(0, len(names)))
    }


def made_lanes(random: Random) -> list[Lane]:
    return [
        Lane(
            random.choice(TYPES),
            random.choice(NAMES),
            random.choice((1.0, 1.0, 0.0, random.uniform(0, 3))),
            tuple(random.sample(DOCS, random.choice((0, 1, 3, 8, 12)))),
        )
        for _ in range(random.choice((1, 2, 2, 3, 3, 5)))
    ]


def made_evidence(random: Random) -> dict[str, Evidence]:
    def share() -> float:
        return random.choice((0.0, 0.0, 0.5, 1.0, random.random()))

    return {
        doc: Evidence(share(), share(), share(), random.choice((0.0, 0.0, 0.2, 0.5, 1.0)))
        for doc in random.sample(DOCS, random.choice((0, 5, 20, 25)))
    }


def made_params(random: Random) -> dict[str, Any]:
    given = {
        "weights": some(random, (*TYPES, "code", "code_secondary"), 0, 2),
        "lane_weights": some(random, NAMES, 0, 2),
        "pi_weights": some(random, tuple(PI), -0.5, 1.5),
        "rrf_k": random.choice((0.0, 1.0, 10.0, 60.0, random.uniform(0, 200))),
        "beta_fuse": random.choice((0.0, 1.2, random.uniform(0, 5))),
    }
    return {name: given[name] for name in random.sample(sorted(given), random.randint(0, len(given)))}


def fused_with(lanes: Sequence[Lane], evidence: Mapping[str, Evidence], **given: Any) -> list[Fused]:
    return fuse(lanes, Params().with_delta(given), evidence)


def test_fusion_is_the_formula_of_the_specification() -> None:
    """Order, RRF, π and score of thousands of fusions; documents closer than 1e-12 count as one score here."""
    random = Random(1)
    clipped = boosted = 0
    for _ in range(CASES):
        lanes, given, evidence = made_lanes(random), made_params(random), made_evidence(random)
        expected = reference(lanes, given, evidence)
        fused = fused_with(lanes, evidence, **given)
        assert len(fused) == len(expected)
        for each in fused:
            rrf, pi, score = expected[each.doc_id]
            assert abs(each.rrf - rrf) <= CLOSE, (each, rrf)
            assert abs(each.pi - pi) <= CLOSE, (each, pi)
            assert abs(each.score - score) <= CLOSE * max(1, abs(score)), (each, score)
            holding = [(at, lane.docs) for at, lane in enumerate(lanes) if each.doc_id in lane.docs]
            assert each.ranks == {at: docs.index(each.doc_id) + 1 for at, docs in holding}
            clipped += pi in (0.0, 1.0)
            boosted += score > rrf > 0
        ranked = sorted(expected, key=lambda doc: (-expected[doc][2], doc))
        for each, doc in zip(fused, ranked, strict=True):
            same = each.doc_id == doc or abs(expected[each.doc_id][2] - expected[doc][2]) <= CLOSE
            assert same, (each, doc)
    assert clipped > CASES
    assert boosted > CASES


def test_the_order_is_that_of_the_scores_and_of_equals_that_of_the_ids() -> None:
    random = Random(2)
    for _ in range(TIED_CASES):
        lanes = made_lanes(random)
        fused = fused_with(lanes, made_evidence(random), **made_params(random))
        for one, other in pairwise(fused):
            assert (-one.score, one.doc_id) < (-other.score, other.doc_id)


def test_documents_with_the_same_ranks_in_other_lanes_are_equal() -> None:
    """1/61 + 1/62 + 1/63 is one number in whichever order the lanes stand; ids decide among such documents."""
    random = Random(3)
    tied = 0
    for _ in range(TIED_CASES):
        docs = random.sample(DOCS, random.choice((3, 6, 10)))
        count = random.choice((3, 4, 5))
        lanes = [Lane("fulltext", "recall", 1.0, tuple(random.sample(docs, len(docs)))) for _ in range(count)]
        exact = {doc: sum(Fraction(1, 61 + lane.docs.index(doc)) for lane in lanes) for doc in docs}
        tied += len(docs) - len(set(exact.values()))
        fused = [each.doc_id for each in fused_with(lanes, {})]
        assert fused == sorted(docs, key=lambda doc: (-exact[doc], doc)), lanes
    assert tied > TIED_CASES / 20


def test_two_runs_of_one_lane_type_both_count() -> None:
    """A second run of the same type and name adds to the first."""
    first = Lane("fulltext", "recall", 1.0, ("A", "B"))
    second = replace(first, docs=("C", "A"))
    fused = {each.doc_id: each for each in fused_with([first, second], {}, beta_fuse=0.0)}
    assert fused["A"].rrf == pytest.approx(1 / 61 + 1 / 62, abs=CLOSE)
    assert fused["A"].ranks == {0: 1, 1: 2}
    assert (fused["B"].score, fused["C"].score) == pytest.approx((1 / 62, 1 / 61), abs=CLOSE)


LANES = [
    Lane("fulltext", "recall", 1.0, ("A", "B", "C")),
    Lane("semantic", "semantic", 1.0, ("B", "D", "A")),
    Lane("original_dense", "background", 1.0, ("D", "C", "E")),
]
KNOWN = {
    "A": Evidence(0.2, 0.0, 0.0, 0.0),
    "B": Evidence(0.0, 0.0, 0.5, 0.0),
    "C": Evidence(0.0, 1.0, 0.0, 0.0),
    "D": Evidence(0.0, 0.0, 0.0, 0.2),
}


def changed_by(lanes: Sequence[Lane] = LANES, **given: Any) -> set[str]:
    """The publications whose score is another one with these parameters than with none."""
    before = {each.doc_id: each.score for each in fused_with(LANES, KNOWN)}
    after = {each.doc_id: each.score for each in fused_with(lanes, KNOWN, **given)}
    expected = reference(lanes, given, KNOWN)
    assert after == pytest.approx({doc: score for doc, (_, _, score) in expected.items()}, abs=CLOSE)
    return {doc for doc in before if abs(before[doc] - after[doc]) > CLOSE}


@pytest.mark.parametrize(
    ("lane_type", "docs"), [("fulltext", "ABC"), ("semantic", "BDA"), ("original_dense", "DCE")]
)
def test_the_weight_of_a_type_counts_for_the_lanes_of_that_type(lane_type: str, docs: str) -> None:
    assert changed_by(weights={lane_type: 2.0}) == set(docs)


@pytest.mark.parametrize(("name", "docs"), [("recall", "ABC"), ("semantic", "BDA"), ("background", "DCE")])
def test_the_weight_of_a_name_counts_for_the_lanes_of_that_name(name: str, docs: str) -> None:
    assert changed_by(lane_weights={name: 0.5}) == set(docs)


def test_a_name_that_is_also_a_type_is_weighted_by_each_table_once() -> None:
    """`semantic` is a type and a name: both weights multiply for the lane that has both."""
    fused = fused_with(
        LANES[1:2], {}, weights={"semantic": 2.0}, lane_weights={"semantic": 3.0}, beta_fuse=0.0
    )
    assert fused[0].score == pytest.approx(6 / 61, abs=CLOSE)


def test_the_weight_of_a_name_of_no_lane_changes_nothing() -> None:
    assert changed_by(lane_weights={"precision": 9.0, "fulltext": 9.0}, weights={"recall": 9.0}) == set()


@pytest.mark.parametrize(
    ("part", "docs"), [("code", "A"), ("facet", "B"), ("representative", "D"), ("lane", "ABCDE")]
)
def test_each_weight_of_pi_counts_for_whom_it_concerns(part: str, docs: str) -> None:
    assert changed_by(pi_weights={part: 0.1}) == set(docs)


def test_without_its_own_weights_pi_has_the_default_ones() -> None:
    """0.4·P + 0.3·F + 0.3·L + 0.3·R, at most 1."""
    lane = Lane("fulltext", "recall", 1.0, ("A", "B"))
    fused = fused_with([lane], {"A": Evidence(0.5, 1.0, 0.5, 0.5), "B": Evidence(1, 1, 1, 1)})
    assert {each.doc_id: each.pi for each in fused} == pytest.approx({"A": 0.8, "B": 1.0}, abs=CLOSE)


def test_rrf_k_counts_for_everyone() -> None:
    assert changed_by(rrf_k=10.0) == set("ABCDE")


def test_beta_fuse_counts_for_everyone_with_a_pi() -> None:
    assert changed_by(beta_fuse=0.3) == set("ABCDE")
    assert changed_by(beta_fuse=0.0) == set("ABCDE")


def test_with_beta_fuse_zero_pi_decides_nothing() -> None:
    scores = [
        {each.doc_id: each.score for each in fused_with(LANES, known, beta_fuse=0.0)} for known in (KNOWN, {})
    ]
    assert scores[0] == scores[1]


def test_the_weight_of_a_run_counts_for_its_publications() -> None:
    heavier = [replace(LANES[0], weight=2.5), *LANES[1:]]
    assert changed_by(heavier) == set("ABC")


def test_a_run_of_weight_zero_still_holds_its_publications() -> None:
    """They stay in the result, and the lane counts for π."""
    fused = {each.doc_id: each for each in fused_with([replace(LANES[0], weight=0.0), *LANES[1:]], {})}
    assert set(fused) == set("ABCDE")
    assert fused["A"].pi == pytest.approx(0.3 * 2 / 3, abs=CLOSE)


def test_the_weight_of_codes_counts_for_whom_the_codes_are_found() -> None:
    assert changed_by(weights={"code": 0.3}) == set("A")


def test_the_weight_of_exact_codes_counts_for_whom_they_are_found() -> None:
    assert changed_by(weights={"code_secondary": 0.3}) == set("C")


@pytest.mark.parametrize(
    ("given", "first"),
    [
        ({}, "B"),
        ({"weights": {"original_dense": 30.0}}, "D"),
        ({"lane_weights": {"background": 30.0}}, "D"),
        ({"lane_weights": {"semantic": 0.0}}, "C"),
        ({"pi_weights": {"representative": 1.0, "facet": 0.0}}, "D"),
        ({"pi_weights": {"code": 1.0, "facet": 0.0}}, "A"),
        ({"weights": {"code": 3.0}}, "A"),
        ({"weights": {"code_secondary": 3.0}}, "C"),
    ],
)
def test_a_weight_can_put_another_publication_first(given: Mapping[str, Any], first: str) -> None:
    assert fused_with(LANES, KNOWN, **given)[0].doc_id == first


def test_a_large_rrf_k_prefers_what_several_lanes_hold() -> None:
    lanes = [Lane("fulltext", "recall", 1.0, docs) for docs in (("A", "B"), ("C", "B"))]
    assert fused_with(lanes, {}, rrf_k=60.0)[0].doc_id == "B"
    assert fused_with(lanes, {}, rrf_k=0.0, beta_fuse=0.0)[0].doc_id == "A"


def test_a_large_beta_fuse_prefers_what_is_known_to_fit() -> None:
    known = {"B": Evidence(code=1.0)}
    assert fused_with(LANES[:1], known)[0].doc_id == "B"
    assert fused_with(LANES[:1], known, beta_fuse=0.0)[0].doc_id == "A"


# The frontier


def test_the_frontier_is_mean_pi_share_of_pi_and_their_f1() -> None:
    random = Random(4)
    for _ in range(FRONTIER_CASES):
        count = random.choice((0, 1, 9, 10, 11, 45, 100, 130))
        pi = [random.choice((0.0, 1.0, random.random())) for _ in range(count)]
        points = frontier(pi)
        assert [point.k for point in points] == list(SIZES)
        for point in points:
            first = pi[: point.k]
            precision = sum(first) / len(first) if first else 0.0
            recall = sum(first) / sum(pi) if sum(pi) else 0.0
            f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
            found = (point.precision, point.recall, point.f1)
            assert found == pytest.approx((precision, recall, f1), abs=CLOSE), (pi, point)


def test_the_frontier_of_twenty_by_hand() -> None:
    """Ten of 0.8 and then ten of 0.2: half of twenty, and four fifths of it in the first ten."""
    points = {point.k: point for point in frontier([0.8] * 10 + [0.2] * 10)}
    assert (points[10].precision, points[10].recall, points[10].f1) == pytest.approx((0.8, 0.8, 0.8))
    assert (points[20].precision, points[20].recall, points[20].f1) == pytest.approx((0.5, 1.0, 2 / 3))


# The metrics


def test_metrics_of_two_lanes_by_hand() -> None:
    """Two of four publications shared, codes 2:1:1, nine tenths of the score in the first three."""
    lanes, codes = [["a", "b", "c"], ["b", "c", "d"]], [["X", "Y"], ["X"], ["Z"]]
    metrics = structural_metrics(lanes, codes, [4.0, 3.0, 2.0, 1.0])
    entropy = 0.5 * log(2) + 2 * 0.25 * log(4)
    ccw = 1 - entropy / log(3)
    f_struct = 2 * 0.5 * ccw / (0.5 + ccw)
    proxy = f_struct * (1 - (0.9 - 0.35) / 0.65)
    assert astuple(metrics) == pytest.approx((0.5, ccw, 0.9, f_struct, proxy), abs=CLOSE)


def test_one_lane_agrees_with_nobody() -> None:
    metrics = structural_metrics([["a", "b"]], [["X"]], [1.0, 1.0, 1.0])
    assert (metrics.LAS, metrics.F_struct, metrics.Fproxy) == (0.0, 0.0, 0.0)


def test_one_code_is_all_concentration_and_none_is_no_concentration() -> None:
    lanes = [["a", "b"], ["a", "b"]]
    assert structural_metrics(lanes, [["X"], ["X"], []], [1.0]).CCW == 1.0
    assert structural_metrics(lanes, [[], []], [1.0]).CCW == 0.0
    assert abs(structural_metrics(lanes, [["X"], ["Y"]], [1.0]).CCW) <= CLOSE


def test_concentration_is_never_below_nothing() -> None:
    """Equal shares of many codes: rounding must not make it negative."""
    for count in range(2, 200):
        assert structural_metrics([["a"]], [[f"c{at}" for at in range(count)]], [1.0]).CCW >= 0.0


def test_fewer_than_three_documents_have_no_shape() -> None:
    assert structural_metrics([["a"], ["a"]], [["X"]], [3.0, 1.0]).S_shape == 0.0
    assert structural_metrics([["a"], ["a"]], [["X"]], [3.0, 1.0, 1.0]).S_shape == 1.0


def test_a_shape_below_the_limit_takes_nothing_away() -> None:
    """Thirty equal scores: a tenth in the first three, less than 0.35."""
    metrics = structural_metrics([["a", "b"], ["a", "b"]], [["X"]], [1.0] * 30)
    assert metrics.S_shape == pytest.approx(0.1, abs=CLOSE)
    assert metrics.Fproxy == metrics.F_struct == pytest.approx(1.0, abs=CLOSE)


def test_only_the_first_fifty_count() -> None:
    """Lanes that agree in fifty and in nothing after, and a score that goes on."""
    same = [f"s{number}" for number in range(50)]
    lanes = [[*same, *(f"{lane}{number}" for number in range(50))] for lane in "xy"]
    metrics = structural_metrics(lanes, [["X"]], [1.0] * 200)
    assert (metrics.LAS, metrics.S_shape) == pytest.approx((1.0, 3 / 50), abs=CLOSE)


def test_metrics_are_the_formulas_of_the_specification() -> None:
    random = Random(5)
    for _ in range(METRIC_CASES):
        ids = [f"d{number}" for number in range(random.choice((5, 40, 90)))]
        lanes = [random.sample(ids, random.randint(1, len(ids))) for _ in range(random.choice((1, 2, 3, 5)))]
        count = random.choice((0, 1, 5, 50))
        codes = [random.choices("ABCDEFG", k=random.choice((0, 1, 2))) for _ in range(count)]
        count = random.choice((0, 2, 3, 20, 50, 90))
        scores = sorted((random.random() ** 3 + 1e-6 for _ in range(count)), reverse=True)
        tops = [set(lane[:50]) for lane in lanes]
        pairs = [len(one & other) / len(one | other) for one, other in combinations(tops, 2)]
        las = sum(pairs) / len(pairs) if pairs else 0.0
        every = [code for of_doc in codes for code in of_doc]
        shares = [every.count(code) / len(every) for code in set(every)]
        entropy = -sum(share * log(share) for share in shares)
        ccw = 0.0 if not shares else 1.0 if len(shares) == 1 else 1 - entropy / log(len(shares))
        shape = sum(scores[:3]) / sum(scores[:50]) if len(scores) >= 3 else 0.0
        f_struct = 2 * las * ccw / (las + ccw) if las + ccw else 0.0
        proxy = f_struct * (1 - max(0, (shape - 0.35) / 0.65))
        found = astuple(structural_metrics(lanes, codes, scores))
        assert found == pytest.approx((las, ccw, shape, f_struct, proxy), abs=CLOSE), (lanes, codes, scores)
