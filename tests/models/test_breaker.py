"""The breaker: five failures in a row, thirty seconds of rest, then one try at a time."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from shirube.models.breaker import FAILURES, REST_SECONDS, Breaker
from shirube.models.errors import ModelError


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Model:
    """Counts how often it is reached."""

    def __init__(self, breaker: Breaker) -> None:
        self.breaker = breaker
        self.calls = 0
        self.work: Callable[[], None] = self.fail

    def fail(self) -> None:
        raise OSError("壊れた")

    def call(self) -> None:
        with self.breaker.attempt("ollama:日本語"):
            self.calls += 1
            self.work()

    def fail_times(self, times: int) -> None:
        for _ in range(times):
            with pytest.raises(OSError, match="壊れた"):
                self.call()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def model(clock: Clock) -> Model:
    return Model(Breaker(clock))


def works() -> None:
    pass


def test_the_numbers_are_those_of_the_specification() -> None:
    assert (FAILURES, REST_SECONDS) == (5, 30)


def test_after_five_failures_in_a_row_the_model_is_not_reached(model: Model) -> None:
    model.fail_times(5)
    with pytest.raises(
        ModelError, match="ollama:日本語: left out after 5 failures in a row; tried again in 30 s"
    ):
        model.call()
    assert model.calls == 5


def test_a_success_starts_the_count_anew(model: Model) -> None:
    model.fail_times(4)
    model.work = works
    model.call()
    model.work = model.fail
    model.fail_times(5)
    assert model.calls == 10
    with pytest.raises(ModelError):
        model.call()
    assert model.calls == 10


def test_a_try_that_succeeds_after_thirty_seconds_closes_it(model: Model, clock: Clock) -> None:
    model.fail_times(5)
    clock.now += 29.9
    with pytest.raises(ModelError, match="tried again in 1 s"):
        model.call()
    clock.now += 0.1
    model.work = works
    model.call()
    model.call()
    model.work = model.fail
    model.fail_times(4)
    assert model.calls == 11


def test_a_try_that_fails_makes_it_rest_again(model: Model, clock: Clock) -> None:
    model.fail_times(5)
    clock.now += 30
    model.fail_times(1)
    with pytest.raises(ModelError, match="tried again in 30 s"):
        model.call()
    clock.now += 30
    model.fail_times(1)
    assert model.calls == 7


def test_only_one_thread_tries_and_the_others_are_refused_meanwhile(model: Model, clock: Clock) -> None:
    model.fail_times(5)
    clock.now += 30
    begun, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        assert go_on.wait(10)

    model.work = wait
    with ThreadPoolExecutor(9) as pool:
        trial = pool.submit(model.call)
        assert begun.wait(10)
        others = [pool.submit(model.call) for _ in range(8)]
        refusals = [other.exception(10) for other in others]
        assert all(isinstance(each, ModelError) and "being tried just now" in str(each) for each in refusals)
        go_on.set()
        trial.result(10)
    assert model.calls == 6
    model.work = works
    model.call()


def test_of_many_threads_at_once_one_gets_the_try(model: Model, clock: Clock) -> None:
    model.fail_times(5)
    for _ in range(20):
        clock.now += 30
        before = model.calls
        gate = threading.Barrier(8)

        def enter(gate: threading.Barrier = gate) -> None:
            gate.wait(10)
            with pytest.raises((ModelError, OSError)):
                model.call()

        with ThreadPoolExecutor(8) as pool:
            for each in [pool.submit(enter) for _ in range(8)]:
                each.result(10)
        assert model.calls == before + 1


def test_failures_of_calls_that_began_before_the_rest_do_not_make_it_longer(
    model: Model, clock: Clock
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def late() -> None:
        begun.set()
        assert go_on.wait(10)
        model.fail()

    model.work = late
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(model.call)
        assert begun.wait(10)
        model.work = model.fail
        model.fail_times(5)
        clock.now += 20
        go_on.set()
        assert isinstance(slow.exception(10), OSError)
    clock.now += 10
    model.work = works
    model.call()


def test_an_interrupted_try_counts_for_nothing_and_leaves_the_way_free(model: Model, clock: Clock) -> None:
    model.fail_times(5)
    clock.now += 30

    def interrupt() -> None:
        raise KeyboardInterrupt

    model.work = interrupt
    with pytest.raises(KeyboardInterrupt):
        model.call()
    model.work = works
    model.call()
