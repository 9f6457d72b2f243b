"""`make conformance`: the official suites against a server of our own, over HTTP and stdio.

    python -m tests.conformance             install what is needed, then run
    python -m tests.conformance --install   only install

Node 22 and the suites come from npm, into `.conformance`. Where npm cannot be had, that is said and nothing is run.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.serve.web import free_port

FOLDER = Path(__file__).parents[1] / ".conformance"
PACKAGES = {
    "@modelcontextprotocol/conformance": "0.2.0-alpha.12",
    "@modelcontextprotocol/inspector": "2.12.0",
    "node": "22.23.3",
}
# How many checks of each revision there are for a server; fewer would mean that some could not be made.
CHECKS = {"2025-11-25": 84, "2026-07-28": 152}
SHIRUBE = Path(sys.executable).with_name("shirube")
_TOTAL = re.compile(r"Total: (\d+) passed, (\d+) failed")


def main() -> int:
    if not _install():
        return 0
    if "--install" in sys.argv:
        return 0
    with tempfile.TemporaryDirectory() as home:
        environ = {**os.environ, "SHIRUBE_HOME": home, "SHIRUBE_EMBEDDER": "none"}
        environ["PATH"] = f"{FOLDER / 'node_modules' / '.bin'}{os.pathsep}{environ['PATH']}"
        with _served(environ, "--conformance") as url:
            suites = [_suite(environ, url, revision) for revision in CHECKS]
        with _served(environ) as url:
            listed = [_listed(environ, url), _listed(environ, str(SHIRUBE), "serve")]
    return 0 if all(suites) and all(listed) else 1


def _install() -> bool:
    """Whether the suites are there; they are put there where they can be."""
    wanted = {"name": "conformance", "private": True, "dependencies": PACKAGES}
    manifest = FOLDER / "package.json"
    if (
        manifest.exists()
        and json.loads(manifest.read_text()) == wanted
        and (FOLDER / "node_modules").exists()
    ):
        return True
    npm = shutil.which("npm")
    if npm is None:
        print("conformance: skipped, npm is not installed")
        return False
    FOLDER.mkdir(exist_ok=True)
    manifest.write_text(json.dumps(wanted))
    done = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--force", "--loglevel=error"], cwd=FOLDER, timeout=600
    )
    if done.returncode:
        manifest.unlink()
        print("conformance: skipped, the suites could not be installed from npm")
    return done.returncode == 0


@contextmanager
def _served(environ: dict[str, str], *flags: str) -> Iterator[str]:
    port = free_port()
    command = [str(SHIRUBE), "serve", "--http", "--insecure-local", "--port", str(port), *flags]
    server = subprocess.Popen(command, env=environ, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.terminate()
        server.wait(20)


def _suite(environ: dict[str, str], url: str, revision: str) -> bool:
    with tempfile.TemporaryDirectory() as results:
        command = [
            "conformance",
            "server",
            "--url",
            url,
            "--suite",
            "all",
            "--spec-version",
            revision,
            "-o",
            results,
        ]
        ran = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=300)
    total = _TOTAL.search(ran.stdout)
    passed, failed = (int(total[1]), int(total[2])) if total else (0, 1)
    good = not failed and passed >= CHECKS[revision]
    print(f"conformance {revision}: {passed} of {CHECKS[revision]} checks passed, {failed} failed")
    if not good:
        print(ran.stdout[-4000:], ran.stderr[-1000:])
    return good


def _listed(environ: dict[str, str], *target: str) -> bool:
    command = ["mcp-inspector", "--cli", *target, "--method", "tools/list", "--strict"]
    ran = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120)
    good = ran.returncode == 0 and not ran.stderr.strip()
    where = "http" if target[0].startswith("http") else "stdio"
    print(f"inspector tools/list --strict over {where}: {'clean' if good else 'not clean'}")
    if not good:
        print(ran.stderr[-2000:])
    return good


if __name__ == "__main__":
    sys.exit(main())
