"""The list of requirements itself: well formed, and never pointing at a test that is not there."""

import ast
import re
import sys
from collections import Counter
from pathlib import Path

from tests.requirements import REQUIREMENTS, SEEDS, coverage, coverage_lines

ROOT = Path(__file__).resolve().parent.parent
LETTERS = {"000": "K", "001": "P", "002": "G", "003": "A", "004": "D"}


def repeated(values: list[str]) -> list[str]:
    return [value for value, times in Counter(values).items() if times > 1]


def functions_named_test(body: list[ast.stmt]) -> set[str]:
    functions = [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {function.name for function in functions if function.name.startswith("test")}


def defined_tests(source: str) -> set[str]:
    """The tests a file defines, as the part of the node id after the file; read without importing it."""
    body = ast.parse(source).body
    classes = [node for node in body if isinstance(node, ast.ClassDef) and node.name.startswith("Test")]
    methods = {f"{group.name}::{name}" for group in classes for name in functions_named_test(group.body)}
    return functions_named_test(body) | methods


def missing_tests(node_ids: list[str], root: Path) -> list[str]:
    """The node ids for which `root` has no test, in the order given."""
    files: dict[str, set[str]] = {}
    missing = []
    for node_id in node_ids:
        file, _, name = node_id.partition("::")
        if file not in files:
            path = root / file
            files[file] = defined_tests(path.read_text(encoding="utf-8")) if path.is_file() else set()
        if name not in files[file]:
            missing.append(node_id)
    return missing


def test_every_id_is_unique() -> None:
    assert repeated([requirement.id for requirement in REQUIREMENTS]) == []


def test_every_statement_is_unique() -> None:
    assert repeated([requirement.statement for requirement in REQUIREMENTS]) == []


def test_every_requirement_belongs_to_a_seed() -> None:
    assert {requirement.seed for requirement in REQUIREMENTS} == set(SEEDS)


def test_every_id_starts_with_the_letter_of_its_seed() -> None:
    pattern = re.compile(r"[KPGAD](-[a-z0-9]+)+")
    wrong = [
        requirement.id
        for requirement in REQUIREMENTS
        if not pattern.fullmatch(requirement.id) or requirement.id[0] != LETTERS[requirement.seed]
    ]
    assert wrong == []


def test_no_requirement_names_a_test_twice() -> None:
    assert [r.id for r in REQUIREMENTS if repeated(list(r.tests))] == []


def test_every_named_test_exists() -> None:
    named = [node_id for requirement in REQUIREMENTS for node_id in requirement.tests]
    missing = missing_tests(named, ROOT)
    assert not missing, "no such test:\n" + "\n".join(missing)


def test_a_test_that_is_not_there_is_reported(tmp_path: Path) -> None:
    source = """
import nothing_that_can_be_imported

def test_plain(): ...
async def test_async(): ...
def helper(): ...
class TestGroup:
    def test_method(self): ...
    def helper(self): ...
class Other:
    def test_outside(self): ...
"""
    (tmp_path / "test_a.py").write_text(source, encoding="utf-8")
    there = ["test_a.py::test_plain", "test_a.py::test_async", "test_a.py::TestGroup::test_method"]
    not_there = [
        "test_a.py::helper",
        "test_a.py::test_method",
        "test_a.py::TestGroup::helper",
        "test_a.py::Other::test_outside",
        "test_a.py::test_plain[parameter]",
        "test_a.py",
        "test_b.py::test_plain",
    ]
    assert missing_tests(there + not_there, tmp_path) == not_there


def test_the_coverage_counts_every_requirement_once() -> None:
    sys.stdout.write("\n".join(coverage_lines()) + "\n")
    assert len(coverage_lines()) == len(SEEDS)
    assert sum(entry.total for entry in coverage()) == len(REQUIREMENTS)
    assert sum(entry.shown for entry in coverage()) == sum(bool(r.tests) for r in REQUIREMENTS)
