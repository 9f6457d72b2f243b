"""The benchmark's sets: where they are found, how they are put together, and that the peers can read them."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.datasets import DataNotFound, Dataset, Passage, load, with_distractors
from shirube.evaluate.datasets import write_folder

ROOT = Path(__file__).resolve().parents[2]
NARA = Passage("n", "東大寺", "奈良の大仏がある。")
KOBE = Passage("k", "", "神戸は港町である。")
SMALL = Dataset("small", (NARA,), {"q1": "大仏は?", "q2": "寺は?"}, {"q1": {"n": 1}, "q2": {"n": 1}})


def test_a_set_of_the_data_folder_is_found_by_its_name(tmp_path: Path) -> None:
    write_folder(tmp_path / "qa" / "small", SMALL)
    assert load("small", tmp_path) == SMALL


def test_a_missing_set_or_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataNotFound, match="no set named absent"):
        load("absent", tmp_path)
    monkeypatch.setenv("SHIRUBE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataNotFound, match="set SHIRUBE_DATA"):
        load("small")


def test_distractors_add_passages_and_leave_the_questions() -> None:
    other = Dataset("other", (NARA, KOBE), {"q9": "港は?"}, {"q9": {"k": 1}})
    both = with_distractors(SMALL, other)
    assert both == replace(SMALL, name="small+other", corpus=(NARA, KOBE))


def test_one_id_for_two_passages_is_refused() -> None:
    with pytest.raises(ValueError, match="different passages"):
        with_distractors(SMALL, replace(SMALL, corpus=(replace(KOBE, id="n"),)))


def test_a_python_with_nothing_installed_reads_sets_as_the_peers_do(tmp_path: Path) -> None:
    write_folder(tmp_path / "small", SMALL)
    program = "import sys; from pathlib import Path; from benchmarks.datasets import load_folder; "
    program += "sys.stdout.write(load_folder(Path(sys.argv[1])).name)"
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, str(tmp_path / "small")],
        cwd=ROOT,
        env=inherited,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("small", "")
