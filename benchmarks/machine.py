"""What a report names: the machine, the versions, and the memory of processes."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

LIBRARIES = ("tantivy", "usearch", "numkong", "sudachipy", "sudachidict-core", "sqlalchemy", "mcp", "numpy")


def machine_lines(data: str) -> list[str]:
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return [
        f"Written by `make bench` on {datetime.now(UTC):%Y-%m-%d}. Every figure below was measured in this one run.",
        "",
        f"- Machine: {os.cpu_count()} cores ({_processor()}), {_memory():.0f} GiB, {platform.system()}.",
        f"- Python {platform.python_version()}; {libraries}.",
        f"- Data: {data}.",
    ]


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def _memory() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3


def resident() -> int:
    """Bytes of this process's memory in use."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def tree_resident(root: int) -> int:
    """Bytes in use by a process and all below it; shared pages are counted once, by proportional share."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parent = int(stat.rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    waiting, total = [root], 0
    while waiting:
        process = waiting.pop()
        waiting += children.get(process, [])
        total += _proportional(process)
    return total


def _proportional(process: int) -> int:
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
