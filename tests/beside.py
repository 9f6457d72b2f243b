"""Real data beside the project: much of it may not ship, so a test of it is skipped where it is not."""

from pathlib import Path

import pytest

from benchmarks.datasets import DataNotFound, data_folder


def beside(*parts: str) -> Path:
    """A file or folder of the data folder; the test is skipped, with the reason, where there is none."""
    try:
        path = data_folder().joinpath(*parts)
    except DataNotFound as missing:
        pytest.skip(str(missing))
    if not path.exists():
        pytest.skip(f"no {'/'.join(parts)} in the data folder beside the project")
    return path
