"""The real command line, in a process of its own."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli import command


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
        done = command.run(words, {**os.environ, **environ})
        return Ran(done.returncode, done.stdout, done.stderr)

    return run
