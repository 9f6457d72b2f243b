"""How the command line speaks: results on stdout, everything else on stderr."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from shirube.errors import ShirubeError
from shirube.index.contract import Progress as Report

# Names and texts are shown as they are: a knowledge base may well be called [案].
out = Console(highlight=False, soft_wrap=True, markup=False)
err = Console(stderr=True, highlight=False, soft_wrap=True, markup=False)


def show_json(body: Any) -> None:
    """JSON with Japanese as it is: compact for programs, indented for a person at a terminal.

    Half of a character, as a name that is no text has it, cannot be written and becomes a question mark.
    """
    if sys.stdout.isatty():
        text = json.dumps(body, ensure_ascii=False, indent=2)
    else:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    sys.stdout.write(text.encode("utf-8", "replace").decode() + "\n")


def show_error(error: ShirubeError) -> None:
    err.print(f"エラー: {error.ja}", style="red")
    err.print(f"Error: {error.message}", style="dim")
    if error.hint:
        err.print(error.hint)


@contextmanager
def progress_bar(title: str) -> Iterator[Report]:
    """A bar with rate and time left, on stderr; nothing is shown before there is something to do."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task: Any = None

        def report(done: int, total: int) -> None:
            nonlocal task
            if task is None:
                task = bar.add_task(title, total=total, rate="")
            elapsed = bar.tasks[0].elapsed or 0
            rate = f"{done / elapsed:,.0f}/s" if elapsed > 0.5 else ""
            bar.update(task, completed=done, total=total, rate=rate)

        yield report
