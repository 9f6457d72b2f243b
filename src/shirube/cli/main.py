"""The `shirube` command. An agent starts `shirube serve` and waits for it, so that one goes its way past the parser."""

import gc
import sys


def main() -> None:
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        from shirube.cli.app import main as run

        run()


def serve() -> None:
    # The protocol has hundreds of models. Each is completed when it is first used, not when it is imported, and no
    # garbage is collected meanwhile: together a quarter of the time to the first answer.
    gc.disable()
    from pydantic import BaseModel

    BaseModel.model_config["defer_build"] = True
    from shirube.serve.mcp import serve_stdio
    from shirube.settings import load_settings
    from shirube.toolsets.registry import Application

    gc.enable()
    gc.freeze()
    serve_stdio(Application(load_settings()))


if __name__ == "__main__":
    main()
