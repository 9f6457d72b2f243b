"""What every test may use: a data folder of its own, and the coverage of the specification at the end of a run."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from shirube.settings import Settings, load_settings
from tests.requirements import coverage_lines
from tests.stores import is_postgres, use_postgres

# Timings differ between machines, and a slow example is no failure.
# On CI the same examples come every time, so that a change is judged by what it changed; at the desk they are new.
settings.register_profile(
    "shirube",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("shirube")


LONG = (
    *("test_kill.py", "test_isolation", "_oracle.py", "test_fuzz.py", "test_office.py", "test_parity.py"),
    *("test_openapi.py", "test_concurrency.py", "test_mixed_folder.py", "test_scans.py", "test_nodes.py"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--store", choices=("sqlite", "postgres"), default="sqlite", help="where tests keep their data"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--store") == "postgres":
        use_postgres()
        # Applications of tests are left to the garbage collector; SQLite says nothing to that.
        config.addinivalue_line("filterwarnings", "ignore:connection .* was deleted while still open")
        config.addinivalue_line(
            "filterwarnings", "ignore:Exception ignored in. .function BaseConnection.__del__"
        )


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder that commands and the application use."""
    folder = tmp_path / "home"
    monkeypatch.setenv("SHIRUBE_HOME", str(folder))
    return folder


@pytest.fixture
def home_settings(home: Path) -> Settings:
    return load_settings(os.environ)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The long versions run only when they are asked for, tests of SQLite's own files only with SQLite."""
    if is_postgres():
        for item in items:
            if "sqlite" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="a test of SQLite's files"))
    if "soak" in (config.getoption("-m") or ""):
        return
    kept = [item for item in items if "soak" not in item.keywords]
    dropped = [item for item in items if "soak" in item.keywords]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept
    # A file is one worker's: those that take long come first, or everybody would wait for the last of them.
    items.sort(key=lambda item: not any(name in item.nodeid for name in LONG))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.section("statements of the specification shown by tests")
    for line in coverage_lines():
        terminalreporter.write_line(line)
