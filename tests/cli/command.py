"""`shirube` in a process of its own, forked from one that has loaded it: most of a short command's time is imports.

That the installed command starts by itself is shown where servers are started.
"""

import atexit
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

SHIRUBE = str(Path(sys.executable).with_name("shirube"))
_LOADED = ("shirube.cli.app", "shirube.toolsets.knowledge.service", "alembic.command", "rich.table", __name__)
_SECONDS = 120

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(list(_LOADED))


def run(words: Sequence[str], environ: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """Exit code and output of `shirube` with these words."""
    with TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        child = _context.Process(target=_child, args=(list(words), dict(environ), Path.cwd(), out, err))
        child.start()
        child.join(_SECONDS)
        if child.exitcode is None:
            child.kill()
            raise TimeoutError(f"shirube {' '.join(words)} takes longer than {_SECONDS} s")
        return subprocess.CompletedProcess(
            words, child.exitcode, out.read_text("utf-8"), err.read_text("utf-8")
        )


def _child(words: list[str], environ: dict[str, str], folder: Path, out: Path, err: Path) -> None:
    for path, stream in ((out, 1), (err, 2)):
        with path.open("wb") as file:
            os.dup2(file.fileno(), stream)
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(folder)
    sys.argv = [SHIRUBE, *words]
    from shirube.cli.main import main

    try:
        main()
    finally:
        atexit._run_exitfuncs()
