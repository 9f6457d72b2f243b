"""A call that is cancelled: whatever works for it ends at its next step."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from shirube.caller import LOCAL
from shirube.cancelling import GivenUp, cancellable, go_on
from shirube.errors import ShirubeError
from shirube.models.deadline import within
from shirube.operations import Operation, Registry, Words
from shirube.retrieval.pipeline import Found, rank


class Nothing(BaseModel):
    pass


def registry_of(work: Callable[[], Any]) -> Registry:
    async def handler(_caller: Any, _asked: Nothing) -> Nothing:
        await asyncio.to_thread(work)
        return Nothing()

    def rendered(error: ShirubeError) -> dict[str, Any]:
        return {"code": error.code}

    words = Words("仕事", "Work")
    return Registry(
        [Operation("work", "test", words, words, Nothing, Nothing, handler, rendered, ("POST", "/"))]
    )


def cancelled_while(work: Callable[[], Any], started: threading.Event) -> BaseException | None:
    """How `work` ends when its call is cancelled after it has started; None where it runs to its end."""
    ended: list[BaseException | None] = []
    done = threading.Event()

    def watched() -> None:
        try:
            work()
            ended.append(None)
        except BaseException as error:
            ended.append(error)
            raise
        finally:
            done.set()

    async def call() -> None:
        task = asyncio.create_task(registry_of(watched).call("work", LOCAL, {}))
        await asyncio.to_thread(started.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(done.wait, 10)

    asyncio.run(call())
    [how] = ended
    return how


def test_work_ends_at_its_next_step() -> None:
    started, steps = threading.Event(), []

    def work() -> None:
        for step in range(500):
            go_on()
            steps.append(step)
            started.set()
            time.sleep(0.02)

    assert isinstance(cancelled_while(work, started), GivenUp)
    assert len(steps) < 100


def test_work_that_somebody_waits_for_goes_on() -> None:
    steps = []

    def work() -> None:
        for step in range(5):
            go_on()
            steps.append(step)

    assert asyncio.run(registry_of(work).call("work", LOCAL, {})).ok
    assert steps == [0, 1, 2, 3, 4]
    go_on()  # outside of any call too


def test_one_call_that_is_cancelled_stops_no_other() -> None:
    async def call() -> None:
        go, seen = threading.Event(), []

        def work() -> None:
            go.wait(10)
            go_on()
            seen.append("done")

        registry = registry_of(work)
        first, second = (asyncio.create_task(registry.call("work", LOCAL, {})) for _ in range(2))
        await asyncio.sleep(0.05)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        go.set()
        assert (await second).ok
        assert seen == ["done"]

    asyncio.run(call())


def test_a_model_is_waited_for_no_longer() -> None:
    started, answered = threading.Event(), threading.Event()

    def slow() -> None:
        started.set()
        answered.wait(20)

    begun = time.monotonic()
    assert isinstance(cancelled_while(lambda: within(20, "model", slow), started), GivenUp)
    assert time.monotonic() - begun < 5
    answered.set()


def test_a_model_that_answers_is_not_kept_waiting() -> None:
    with cancellable():
        assert within(5, "model", lambda: "はい") == "はい"
        with pytest.raises(TimeoutError, match="its own"):
            within(5, "model", lambda: (_ for _ in ()).throw(TimeoutError("its own")))


def test_a_search_does_not_come_to_its_later_stages(tmp_path: Path) -> None:
    from shirube.evaluate.datasets import Passage
    from shirube.evaluate.searcher import Searcher
    from shirube.toolsets.knowledge.service import RECIPE, access_filters

    searcher = Searcher(tmp_path, [Passage("1", "", "副業は許可制とする。")], vectors=False)
    started = threading.Event()

    class Slow:
        name = setting = "slow"
        dimensions = 3

        def embed_query(self, _text: str) -> Any:
            started.set()
            time.sleep(0.5)
            return np.ones(3, np.float32)

    class Judge:
        name = setting = "judge"
        asked = 0

        def scores(self, _question: Any, _candidates: Any) -> Any:
            self.asked += 1
            return np.ones(1)

    judge = Judge()

    def work() -> None:
        rank(
            searcher.space,
            "副業",
            access_filters(LOCAL),
            RECIPE,
            embedder=Slow(),  # type: ignore[arg-type]
            reranker=judge,
            fetch=lambda keys: {key: Found("副業は許可制とする。", "", ("1", 0)) for key in keys},
        )

    assert isinstance(cancelled_while(work, started), GivenUp)
    assert judge.asked == 0
    work()
    assert judge.asked == 1
    searcher.close()
