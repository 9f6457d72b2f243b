"""How a verb calls an operation: what is not given is left out, an error is raised."""

import asyncio
from collections.abc import Mapping
from typing import Any

from shirube.caller import Caller
from shirube.toolsets.registry import Application


def call(application: Application, caller: Caller, name: str, arguments: Mapping[str, Any]) -> Any:
    """What the operation sends."""
    given = {key: value for key, value in arguments.items() if value is not None}
    answer = asyncio.run(application.registry.call(name, caller, given))
    if answer.error:
        raise answer.error
    return answer.sent
