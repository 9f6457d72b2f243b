"""The real command line, in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SHIRUBE = Path(sys.executable).with_name("shirube")


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def shirube(home: Path) -> Run:
    """Run `shirube` with these words and give back exit code and output."""

    def run(*words: str, **environ: str) -> Ran:
        done = subprocess.run(
            [str(SHIRUBE), *words],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, **environ},
            timeout=120,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run
