"""Connections that say nothing, or take for ever to say it, are closed: they take the places of others."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS, HEAD_BYTES = 10.0, 64 * 1024


class Connection(HttpToolsProtocol):
    """uvicorn's own, but the head of a request, the first or the next, has to come soon and be of a bearable size."""

    _patience: asyncio.TimerHandle | None = None
    _head = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        if self._patience is None and self.cycle is not None and self.cycle.response_complete:
            self._wait()
        super().data_received(data)
        if self._patience is not None:  # the head is not over
            self._head += len(data)
            if self._head > HEAD_BYTES:
                self._close()

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value.strip(b" \t"))  # RFC 9110, 5.5; the parser leaves what follows a value

    def on_headers_complete(self) -> None:
        self._be_patient()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._be_patient()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._head = 0
        self._patience = self.loop.call_later(HEAD_SECONDS, self._close)

    def _be_patient(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _close(self) -> None:
        self._patience = None
        if not self.transport.is_closing():
            self.transport.close()
