"""An import that is killed at any moment loses nothing it acknowledged and leaves no half document."""

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _kill(folder: Path, kills: int, seconds: int) -> dict[str, object]:
    seed = secrets.randbelow(1_000_000)
    done = subprocess.run(
        [sys.executable, "-m", "tests.reliability.killing", str(folder / "kill"), str(kills), str(seed)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    report: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return report


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_an_import_killed_at_50_random_moments_loses_nothing_and_index_and_store_agree(
    tmp_path: Path,
) -> None:
    report = _kill(tmp_path, kills=50, seconds=300)
    assert (report["wrong"], report["kills"]) == ([], 50)


@pytest.mark.soak
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_an_import_killed_at_1000_random_moments_loses_nothing_and_index_and_store_agree(
    tmp_path: Path,
) -> None:
    report = _kill(tmp_path, kills=1000, seconds=3600)
    assert (report["wrong"], report["kills"]) == ([], 1000)
