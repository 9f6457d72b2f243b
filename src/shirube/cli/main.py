"""The `shirube` command. An agent starts `shirube serve` and waits for it, so that one goes its way past the parser."""

import atexit
import gc
import os
import signal
import sys
from contextlib import ExitStack
from pathlib import Path


def main() -> None:
    match sys.argv[1:]:
        case ["serve"]:
            serve()
        case ["serve", "--docs", folder] if not folder.startswith("-"):
            serve(Path(folder))
        case _:
            from shirube.cli.app import main as run

            run()


def serve(docs: Path | None = None, *, lock: bool = True) -> None:
    """Serve over stdio; with a folder of pages, as the only server of its project unless `lock` is false."""
    from shirube.errors import ShirubeError

    try:
        with ExitStack() as held:
            if docs is not None and lock:
                from shirube.toolsets.pages.folder import open_folder
                from shirube.toolsets.pages.lock import serving

                held.enter_context(serving(open_folder(docs)))

            def end(_signal: int, _frame: object) -> None:
                # Whoever waits for input cannot be interrupted: what is to be left in order is, and no more is waited.
                held.close()
                atexit._run_exitfuncs()
                os._exit(0)

            signal.signal(signal.SIGTERM, end)
            signal.signal(signal.SIGINT, end)
            _serve(docs)
    except ShirubeError as error:
        from shirube.cli.output import show_error

        show_error(error)
        sys.exit(1)


def _serve(docs: Path | None) -> None:
    # The protocol has hundreds of models. Each is completed when it is first used, not when it is imported, and no
    # garbage is collected meanwhile: together a quarter of the time to the first answer.
    gc.disable()
    from pydantic import BaseModel

    BaseModel.model_config["defer_build"] = True
    from shirube.serve.mcp import serve_stdio
    from shirube.settings import settings_with
    from shirube.toolsets.registry import Application

    gc.enable()
    gc.freeze()
    serve_stdio(Application(settings_with(docs)))


if __name__ == "__main__":
    main()
