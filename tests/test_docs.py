"""Documents that are made: the guide to thresholds says what the specification's does, the reference what there is."""

import re
from pathlib import Path

import pytest

from shirube.serve.reference import reference
from shirube.settings import load_settings
from shirube.toolsets.registry import Application

DOCS = Path(__file__).parents[1] / "docs"
GUIDE = DOCS / "threshold.md"
RANGES = ("0.5〜0.6", "0.6〜0.7", "0.7〜0.8", "0.8〜1.0")


@pytest.fixture(scope="module")
def guide() -> dict[str, tuple[float, float]]:
    rows = re.findall(r"^\| (\S+〜\S+) \|.*?\| ([0-9.]+) \| ([0-9.]+) \|$", GUIDE.read_text(), re.MULTILINE)
    return {ranged: (float(precision), float(recall)) for ranged, precision, recall in rows}


def test_the_guide_has_the_ranges_of_the_specification(guide: dict[str, tuple[float, float]]) -> None:
    assert tuple(guide) == RANGES


def test_the_wide_range_has_the_highest_recall(guide: dict[str, tuple[float, float]]) -> None:
    assert guide["0.5〜0.6"][1] == max(recall for _, recall in guide.values()) > 0.5


def test_the_balanced_range_is_more_precise_and_finds_less(guide: dict[str, tuple[float, float]]) -> None:
    (wide, wide_recall), (balanced, recall) = guide["0.5〜0.6"], guide["0.6〜0.7"]
    assert balanced > wide
    assert recall < wide_recall


def test_the_precise_range_is_more_precise_still(guide: dict[str, tuple[float, float]]) -> None:
    (balanced, balanced_recall), (precise, recall) = guide["0.6〜0.7"], guide["0.7〜0.8"]
    assert precise > balanced
    assert recall < balanced_recall


def test_the_strict_range_has_the_highest_precision_and_the_lowest_recall(
    guide: dict[str, tuple[float, float]],
) -> None:
    strict = guide["0.8〜1.0"]
    assert strict[0] == max(precision for precision, _ in guide.values()) > 0.9
    assert strict[1] == min(recall for _, recall in guide.values())


def test_the_reference_is_that_of_the_operations_there_are(tmp_path: Path) -> None:
    registry = Application(load_settings({"SHIRUBE_HOME": str(tmp_path)})).registry
    made = reference(registry)
    assert {each.name: each.read_text(encoding="utf-8") for each in (DOCS / "reference").iterdir()} == made
    assert all(f"## `{operation.name}` " in made[f"{operation.toolset}.md"] for operation in registry)
