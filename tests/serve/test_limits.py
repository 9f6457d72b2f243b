"""How many are let in at a time, and how often one may ask."""

from contextlib import AsyncExitStack

import anyio
import pytest

from shirube.errors import Overloaded, TooManyRequests
from shirube.serve.limits import Buckets, Capacity
from shirube.serve.settings import Rate


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def entered(room: Capacity, most: int) -> int:
    """How many of so many are let in, at work or waiting, before one is sent away. All have left afterwards."""
    sent_away = 0
    leave = anyio.Event()

    async def stay() -> None:
        nonlocal sent_away
        try:
            async with room:
                await leave.wait()
        except Overloaded:
            sent_away += 1

    async with anyio.create_task_group() as group:
        for _ in range(most):
            group.start_soon(stay)
        await anyio.wait_all_tasks_blocked()
        inside = room.inside
        leave.set()
    assert inside + sent_away == most
    assert room.inside == 0
    return inside


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
class TestCapacity:
    async def test_a_burst_may_wait(self) -> None:
        room = Capacity(2, 8, Clock())
        assert await entered(room, 10) == 10
        assert await entered(room, 10) == 10, "nobody was sent away"

    async def test_in_a_crowd_nobody_waits(self) -> None:
        clock = Clock()
        room = Capacity(2, 8, clock)
        assert await entered(room, 11) == 10
        assert await entered(room, 11) == 2
        clock.now += 0.9
        assert await entered(room, 11) == 2, "somebody was sent away less than a second ago"
        clock.now += 0.9
        assert await entered(room, 2) == 2, "still a crowd, but nobody had to be sent away"
        clock.now += 0.2
        assert await entered(room, 11) == 10

    async def test_without_a_queue_nobody_waits(self) -> None:
        assert await entered(Capacity(3, 0, Clock()), 10) == 3

    async def test_one_who_gives_up_waiting_leaves_their_place(self) -> None:
        room = Capacity(1, 1, Clock())
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(room)
            with anyio.move_on_after(0.01):
                async with room:
                    raise AssertionError("there was no place")
            assert room.inside == 1
        assert room.inside == 0


class TestBuckets:
    def test_a_caller_takes_from_their_own_bucket_alone(self) -> None:
        clock = Clock()
        buckets = Buckets(Rate(2, 3), clock)
        for _ in range(3):
            buckets.take("A社")
        with pytest.raises(TooManyRequests):
            buckets.take("A社")
        buckets.take("B社")
        clock.now += 0.5
        buckets.take("A社")
        with pytest.raises(TooManyRequests):
            buckets.take("A社")

    def test_what_costs_more_than_a_full_bucket_takes_all_of_it(self) -> None:
        clock = Clock()
        buckets = Buckets(Rate(1, 2), clock)
        buckets.take("A社", 5)
        with pytest.raises(TooManyRequests) as refused:
            buckets.take("A社", 5)
        assert refused.value.details == {"retry_after": 2}
