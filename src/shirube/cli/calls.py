"""How a verb calls an operation: what is not given is left out, an error is raised."""

import asyncio
from collections.abc import Mapping
from typing import Any

from shirube.caller import Caller
from shirube.operations import Answer
from shirube.toolsets.registry import Application


class Told(Exception):
    """What an operation sends where it fails: the cause of the error that a verb ends with."""

    def __init__(self, body: Any) -> None:
        super().__init__()
        self.body = body


def call(application: Application, caller: Caller, name: str, arguments: Mapping[str, Any]) -> Any:
    """What the operation sends."""
    given = {key: value for key, value in arguments.items() if value is not None}
    return checked(asyncio.run(application.registry.call(name, caller, given))).sent


def checked(answer: Answer) -> Answer:
    """The answer, where it is no error."""
    if answer.error:
        raise answer.error from Told(answer.sent)
    return answer
