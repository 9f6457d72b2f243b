"""A call ends in time, whatever it hangs on; what it returns or raises comes through."""

import threading
import time

import pytest

from shirube.models.deadline import within
from shirube.models.errors import ModelError


def test_what_is_done_in_time_comes_through() -> None:
    assert within(10, "ollama:模型", lambda: "副業") == "副業"


@pytest.mark.parametrize("error", [ValueError("副業"), TimeoutError("副業"), ModelError("模型", "副業")])
def test_what_is_raised_in_time_comes_through(error: Exception) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        within(10, "ollama:模型", fail)
    assert caught.value is error


def test_what_hangs_is_left_behind() -> None:
    ended = threading.Event()
    started = time.monotonic()
    with pytest.raises(ModelError, match=r"^ollama:模型: no answer within 0\.1 s$"):
        within(0.1, "ollama:模型", lambda: ended.wait(10))
    assert time.monotonic() - started < 3
    ended.set()
