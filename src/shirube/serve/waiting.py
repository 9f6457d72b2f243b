"""Work that ends when whoever asked for it hangs up."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from starlette.requests import Request

T = TypeVar("T")


class Gone(Exception):
    """Nobody is there to be answered."""


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What comes of `work`; it is cancelled, and Gone raised, when the connection ends before it."""
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Gone
        return working.result()
    finally:
        leaving.cancel()
        if not working.done():
            working.cancel()
            with suppress(asyncio.CancelledError):
                await working


async def _left(request: Request) -> None:
    """Until the client hangs up. What it sent has been read; more of it means nothing."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
