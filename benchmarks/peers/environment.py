"""The peers' virtual environment, and running one peer in it from the project's own."""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.datasets import Dataset, write_passages, write_queries
from benchmarks.peers.contract import PEERS, NotRun, PeerResult, Probe

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[1]
CACHE = _HERE.parent / ".cache"
_INSTALL_SECONDS = 1800
_RUN_SECONDS = 3600
_NO_DISTRIBUTION = re.compile(r"No matching distribution found for (\S+)")


def run_peer(
    name: str,
    dataset: Dataset,
    *,
    limit: int = 100,
    queries_max: int | None = None,
    cache: Path = CACHE,
    seconds: float = _RUN_SECONDS,
) -> PeerResult | NotRun:
    """One peer on one set, or why it could not be run; `seconds` bounds the run, not the installation."""
    if name not in PEERS:
        raise ValueError(f"no peer named {name}; there are {', '.join(PEERS)}")
    python = peers_python(name, cache)
    if isinstance(python, NotRun):
        return python
    with TemporaryDirectory() as place:
        folder = Path(place)
        write_passages(folder / "corpus.jsonl", dataset.corpus)
        write_queries(folder / "queries.jsonl", dataset.queries)
        options = {
            "--peer": name,
            "--corpus": folder / "corpus.jsonl",
            "--queries": folder / "queries.jsonl",
            "--out": folder / "result.json",
            "--limit": limit,
            "--queries-max": queries_max or len(dataset.queries),
            "--cache": cache / "peers-vectors",
        }
        command = [str(python), "-m", "benchmarks.peers.run"]
        command += [str(part) for option in options.items() for part in option]
        failed = _call(command, seconds, cache / f"peer-{name}.log", {"PYTHONPATH": str(_ROOT / "src")})
        if failed:
            return NotRun(name, failed)
        return _result(folder / "result.json")


def peers_python(name: str, cache: Path = CACHE) -> Path | NotRun:
    """The Python that has what the peer needs, installed on first use and again when the list changes.

    Lists are complete and pip adds nothing to them: an engine may ask for gigabytes that the benchmark has no use for.
    """
    own = _HERE / f"requirements-{name}.txt"
    requirements = own if own.exists() else _HERE / "requirements.txt"
    place = cache / (f"peers-venv-{name}" if own.exists() else "peers-venv")
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = place / "installed.sha256"
    wanted = hashlib.sha256(sys.version.encode() + requirements.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    cache.mkdir(parents=True, exist_ok=True)
    log = cache / f"{place.name}.log"
    make = [sys.executable, "-m", "venv", "--clear", str(place)]
    install = [str(python), "-m", "pip", "install", "--quiet", "--no-deps", "-r", str(requirements)]
    failed = _call(make, _INSTALL_SECONDS, log) or _call(install, _INSTALL_SECONDS, log)
    if failed:
        return NotRun(name, f"its environment could not be made: {failed}")
    stamp.write_text(wanted)
    return python


def _call(
    command: Sequence[str], seconds: float, log: Path, variables: Mapping[str, str] | None = None
) -> str | None:
    """None when the command succeeded, else the reason; all it printed goes to the log.

    The reason may be published, so it quotes nothing that could name this machine or its package source.
    """
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with log.open("w", encoding="utf-8") as out:
        try:
            done = subprocess.run(
                command,
                cwd=_ROOT,
                env={**inherited, **(variables or {})},
                stdout=out,
                stderr=subprocess.STDOUT,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"not finished after {seconds:.0f} s"
        except OSError as error:
            return f"could not be started ({error.strerror})"
    if done.returncode == 0:
        return None
    printed = log.read_text(encoding="utf-8", errors="replace")
    missing = _NO_DISTRIBUTION.search(printed)
    if missing:
        return f"pip found no {missing[1]} for this Python"
    return f"ended with code {done.returncode}{_error_name(printed)}; see {log.name} in benchmarks/.cache"


def _error_name(printed: str) -> str:
    """The exception at the end of a traceback, by its type."""
    last = printed.strip().rsplit("\n", 1)[-1]
    named = re.match(r"([\w.]*(?:Error|Exception))\b", last)
    return f" ({named[1]})" if named else ""


def _result(file: Path) -> PeerResult:
    written = json.loads(file.read_text(encoding="utf-8"))
    return PeerResult(**{**written, "probe": Probe(**written["probe"])})
