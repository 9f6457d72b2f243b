"""Every test with a reading child of its own, and programs that stand for Tesseract."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from shirube.ingest.readers import apart
from shirube.ingest.readers.tesseract import languages

Program = Callable[[str], None]


@pytest.fixture(autouse=True)
def child() -> Iterator[None]:
    languages.cache_clear()
    with apart.kept():
        yield
    languages.cache_clear()


@pytest.fixture
def tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Put a program in Tesseract's place that does what these lines of shell say."""

    def put(lines: str) -> None:
        folder = tmp_path / "bin"
        folder.mkdir()
        program = folder / "tesseract"
        program.write_text(f'#!/bin/sh\n[ "$1" = --list-langs ] && echo jpn && exit\n{lines}\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    return put


@pytest.fixture
def no_tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
