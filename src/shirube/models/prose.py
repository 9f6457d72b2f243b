"""What a language model says, read with care: its words are data, and may be anything."""

import json
import re
from typing import Any

from shirube.models.contract import Generator

# So many brackets are tried as the beginning of an object: each try may read to the end.
_TRIES = 20
_DECODER = json.JSONDecoder()
# Some models think aloud first; that is no part of the answer.
_THOUGHTS = re.compile(r"\s*<think>.*?</think>", re.S)


def speech(model: Generator, prompt: str) -> str:
    """What the model says to a prompt, without its thoughts, and with half surrogates replaced."""
    answer = model.generate(prompt).encode("utf-8", "replace").decode()
    thoughts = _THOUGHTS.match(answer)
    return answer[thoughts.end() :] if thoughts else answer


def json_object(answer: str) -> dict[str, Any] | None:
    """The one JSON object in an answer, bare, in a code fence or amid prose; None where there is none or several."""
    found: list[dict[str, Any]] = []
    at = answer.find("{")
    for _ in range(_TRIES):
        if at < 0:
            break
        try:
            value, end = _DECODER.raw_decode(answer, at)
            found.append(value)
        except (ValueError, RecursionError):
            end = at + 1
        at = answer.find("{", end)
    return found[0] if len(found) == 1 and at < 0 else None


def quoted(value: Any) -> str:
    """A value as data inside a prompt: JSON on one line, which no text in it can end."""
    return json.dumps(value, ensure_ascii=False)


def shown_name(model: Generator) -> str:
    """The model's name without its address, which callers need not know."""
    return model.name.partition("@")[0]
