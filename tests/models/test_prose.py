"""Reading what a language model says: one object or none, whatever stands around it, and quickly."""

import json
import time
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.models.prose import json_object, quoted, shown_name, speech

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
PROSE = st.text().map(lambda text: text.replace("{", ""))


@dataclass(frozen=True)
class Parrot:
    """Says always the same."""

    words: str
    name: str = "ollama:parrot@http://127.0.0.1:1"

    def generate(self, prompt: str) -> str:
        return self.words


@given(PROSE, st.dictionaries(st.text(), VALUES), PROSE)
def test_an_object_is_found_whatever_prose_surrounds_it(
    before: str, value: dict[str, object], after: str
) -> None:
    assert json_object(before + json.dumps(value) + after) == value


@given(st.text(st.sampled_from('{}[]":,a1 \n\\')))
def test_anything_is_an_object_or_nothing(answer: str) -> None:
    found = json_object(answer)
    assert found is None or isinstance(found, dict)


@pytest.mark.parametrize("answer", ["", "{}{}", '{"a": 1} {"b": 2}', "{", "[]", '"{"', "{'a': 1}", '{"a": 1'])
def test_several_or_broken_objects_are_none(answer: str) -> None:
    assert json_object(answer) is None


@pytest.mark.parametrize("piece", ["{", '{"a":', '{"a":"', "{}", "[{"])
def test_an_answer_made_to_be_slow_is_read_quickly(piece: str) -> None:
    started = time.monotonic()
    assert json_object(piece * 200_000) is None
    assert time.monotonic() - started < 2


@given(st.text())
def test_a_quoted_text_is_one_line_and_the_same_text(text: str) -> None:
    assert "\n" not in quoted(text)
    assert json.loads(quoted(text)) == text


def test_thoughts_and_half_surrogates_are_no_part_of_the_answer() -> None:
    assert speech(Parrot("<think>{}\n</think>\n答え\ud800"), "?") == "\n答え?"
    assert speech(Parrot("答え <think>"), "?") == "答え <think>"


def test_a_model_is_shown_without_its_address() -> None:
    assert shown_name(Parrot("")) == "ollama:parrot"
