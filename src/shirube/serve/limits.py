"""How often a caller may ask, and how much is worked on at a time."""

import time
from collections import OrderedDict
from collections.abc import Callable

import anyio

from shirube.errors import Overloaded, TooManyRequests
from shirube.operations import Cost
from shirube.serve.settings import Rate

# What a call takes from the bucket: an answer that a model may write costs as much as several searches.
COSTS: dict[Cost, float] = {"light": 1.0, "search": 1.0, "heavy": 5.0}
_CALLERS = 10_000
_CROWDED_SECONDS = 1.0


class Buckets:
    """A token bucket for each name. Those longest unused are forgotten: they are full again by then."""

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        self._levels: OrderedDict[object, tuple[float, float]] = OrderedDict()

    def take(self, name: object, cost: float = 1.0) -> None:
        """Take so much, or TooManyRequests with when there will be enough."""
        now = self._clock()
        level, at = self._levels.pop(name, (self._rate.burst, now))
        level = min(self._rate.burst, level + (now - at) * self._rate.per_second)
        enough = min(cost, self._rate.burst)
        self._levels[name] = (level - enough if level >= enough else level, now)
        while len(self._levels) > _CALLERS:
            self._levels.popitem(last=False)
        if level < enough:
            raise TooManyRequests((enough - level) / self._rate.per_second)


class Capacity:
    """Room for so many at a time, and for so many more to wait.

    A burst may wait: it is soon over. In a crowd that does not thin out, waiting would only make everybody late: after
    somebody was sent away nobody waits, until nobody had to be sent away for a second.
    """

    def __init__(self, running: int, waiting: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._places = anyio.Semaphore(running)
        self._room = running + waiting
        self._room_in_crowd = running
        self._clock = clock
        self._crowded_until = 0.0
        self._inside = 0

    @property
    def inside(self) -> int:
        return self._inside

    async def __aenter__(self) -> None:
        now = self._clock()
        if self._inside >= (self._room_in_crowd if now < self._crowded_until else self._room):
            self._crowded_until = now + _CROWDED_SECONDS
            raise Overloaded
        self._inside += 1
        try:
            await self._places.acquire()
        except BaseException:
            self._inside -= 1
            raise

    async def __aexit__(self, *_: object) -> None:
        self._inside -= 1
        self._places.release()
