"""Starting the HTTP server: one process or several over the same data folder, and an end that loses nothing."""

import logging
import os
import shutil
import sys
import tempfile

import uvicorn

from shirube.serve.guard import Guard
from shirube.serve.http import build_app
from shirube.serve.logs import configure_logs
from shirube.serve.metrics import MULTIPROCESS
from shirube.serve.settings import serve_settings
from shirube.settings import load_settings
from shirube.toolsets.registry import Application

# Sockets that send nothing are cheap, but not free; requests that are under way get time to end.
_CONNECTIONS, _KEEP_ALIVE, _LAST_SECONDS = 1000, 20, 10


def create_app() -> Guard:
    """What each worker makes, from the environment that it was started with."""
    configure_logs(os.environ.get("SHIRUBE_LOG", "pretty"))
    return build_app(Application(load_settings()), serve_settings())


def serve_http(workers: int) -> None:
    settings = serve_settings()
    together = None
    if workers > 1:
        together = tempfile.mkdtemp(prefix="shirube-metrics-")
        os.environ[MULTIPROCESS] = together
    configure_logs(os.environ.get("SHIRUBE_LOG", "pretty"))
    logging.getLogger("shirube.http").info(
        "listening", extra={"address": settings.address, "workers": workers}
    )
    try:
        uvicorn.run(
            "shirube.serve.run:create_app",
            factory=True,
            host=settings.host,
            port=settings.port,
            workers=workers,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(settings.proxies),
            forwarded_allow_ips=settings.proxies or None,
            http="shirube.serve.connections:Connection",
            limit_concurrency=_CONNECTIONS,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=_LAST_SECONDS,
        )
    finally:
        if together:
            shutil.rmtree(together, ignore_errors=True)
    sys.stderr.flush()
