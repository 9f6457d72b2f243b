"""The one way from the network to an operation: scope, rate, room, and then the registry."""

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from shirube.caller import Caller
from shirube.errors import ShirubeError
from shirube.operations import Answer, Cost, Operation, Registry
from shirube.serve.identity import Identity
from shirube.serve.limits import COSTS, Buckets, Capacity
from shirube.serve.metrics import Metrics
from shirube.serve.settings import ServeSettings
from shirube.toolsets.knowledge.original import CALL_TOOL, LIST_TOOLS

# A search holds the interpreter or both cores most of its time: more at once make each slower and none sooner. Where
# models run elsewhere, most of that time is waiting.
_AT_WORK, _WAITING = 1, 8
# Answers that wait for somebody else's service do not take the room of searches.
_ANSWERING = 32
THREADS = 64
Denied = Callable[[Caller, str, str], None]


class Gate:
    """`denied` writes what was refused to the audit log; the registry writes the rest."""

    def __init__(
        self,
        registry: Registry,
        settings: ServeSettings,
        metrics: Metrics,
        denied: Denied,
        *,
        waits_for_models: bool = False,
        waits_for_answers: bool = False,
    ) -> None:
        self.registry = registry
        self._buckets = Buckets(settings.rate)
        usual = _WAITING if waits_for_models else _AT_WORK
        # One for each toolset: a slow call of one is waited for by the others of it alone.
        self._rooms = defaultdict[str, Capacity](
            lambda: Capacity(settings.concurrency or usual, settings.queue)
        )
        elsewhere = waits_for_models or waits_for_answers
        self._answering = Capacity(_ANSWERING, settings.queue) if elsewhere else None
        self._metrics = metrics
        self._denied = denied

    def admit(self, identity: Identity, name: str, toolset: str, cost: Cost) -> None:
        """Whether the caller may do this now; a refusal is written down, and raised."""
        try:
            if identity.is_limited:
                caller = identity.caller
                self._buckets.take((caller.tenant, caller.subject), COSTS[cost])
            identity.check(toolset)
        except ShirubeError as error:
            self.refused(identity, name, error)
            raise

    def refused(self, identity: Identity, name: str, error: ShirubeError) -> None:
        self._denied(identity.caller, name, error.code)
        self._metrics.called(name, error.code, 0.0)

    def room(self, toolset: str, cost: Cost) -> Capacity:
        return self._answering if self._answering and cost == "heavy" else self._rooms[toolset]

    async def call(self, identity: Identity, name: str, arguments: Any) -> Answer:
        """An operation's answer. What the gate itself refuses has the shape of the operation's errors."""
        operation: Operation[Any] | None = self.registry.get(name)
        assert operation is not None
        meant = self._meant(operation, arguments)
        started = time.perf_counter()
        try:
            self.admit(identity, name, meant.toolset, meant.cost)
        except ShirubeError as error:
            return Answer(operation.render_error(error), error)
        try:
            async with self.room(meant.toolset, meant.cost):
                answer = await self.registry.call(name, identity.caller, arguments)
        except ShirubeError as error:
            self.refused(identity, name, error)
            return Answer(operation.render_error(error), error)
        self._metrics.called(name, answer.error.code if answer.error else "ok", time.perf_counter() - started)
        return _opened(identity, self.registry, answer) if name == LIST_TOOLS and answer.ok else answer

    def _meant(self, operation: Operation[Any], arguments: Any) -> Operation[Any]:
        """The operation that is called in the end: one of the original's forms calls another by its name."""
        if operation.name != CALL_TOOL or not isinstance(arguments, dict):
            return operation
        return self.registry.tool(str(arguments.get("name"))) or operation


def _opened(identity: Identity, registry: Registry, answer: Answer) -> Answer:
    """A list of tools without those that the token does not open."""
    toolsets = {each.name: each.toolset for each in registry}
    tools = [each for each in answer.body["tools"] if identity.opens(toolsets[each["name"]])]
    return Answer({**answer.body, "tools": tools})
