"""No broken and no mixed vector, score or answer passes the guard, whatever a model gives."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.models.breaker import FAILURES
from shirube.models.contract import Candidates, Question
from shirube.models.errors import ModelError
from shirube.models.guarded import GuardedEmbedder, GuardedGenerator, GuardedReranker

TEXTS = ["副業には会社の許可が必要です。", "有給休暇は年に20日あります。"]


@dataclass
class Said:
    """A model that says what it is told to, and keeps what it was asked."""

    answer: Any
    name: str = "model-1"
    setting: str = "onnx:模型"
    asked: list[Any] = field(default_factory=list)

    def _say(self, *asked: Any) -> Any:
        self.asked.append(asked)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def embed(self, texts: Sequence[str]) -> Any:
        return self._say(list(texts))

    def embed_query(self, text: str) -> Any:
        return self._say(text)

    def scores(self, question: str, texts: Sequence[str]) -> Any:
        return self._say(question, list(texts))

    def generate(self, prompt: str) -> Any:
        return self._say(prompt)


def test_vectors_come_out_with_length_one() -> None:
    vectors = GuardedEmbedder(Said([[3, 4], [0, 1e-3]])).embed(TEXTS)
    assert vectors == pytest.approx(np.array([[0.6, 0.8], [0, 1]]))
    assert vectors.dtype == np.float32
    assert GuardedEmbedder(Said([3, 4])).embed_query("休暇") == pytest.approx(np.array([0.6, 0.8]))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([[1, 2]], "1 vectors for 2 texts"),
        ([[1, 2], [3, 4], [5, 6]], "3 vectors for 2 texts"),
        ([[1, 2], [3, 4, 5]], "rows of different lengths, or not of numbers"),
        ([[1, 2], "副業"], "rows of different lengths, or not of numbers"),
        ([["副", "業"], ["休", "暇"]], "rows of different lengths, or not of numbers"),
        ([[1, 2], [3, {"a": 1}]], "rows of different lengths, or not of numbers"),
        ([[1, 2], [3, 10**400]], "rows of different lengths, or not of numbers"),
        ([1, 2], "not one vector for each text"),
        ([[[1], [2]], [[3], [4]]], "not one vector for each text"),
        (None, "not one vector for each text"),
        ([[1, 2], [3, float("nan")]], "not finite"),
        ([[1, 2], [3, float("inf")]], "not finite"),
        ([[1, 2], [3, None]], "not finite"),
        ([[1, 2], [0, 0]], "without a direction"),
        ([[], []], "without a direction"),
        ([[1, 2], [1e200, 1e200]], "without a direction"),
    ],
)
def test_what_is_not_a_vector_for_each_text_is_an_error(answer: Any, said: str) -> None:
    embedder = GuardedEmbedder(Said(answer))
    with pytest.raises(ModelError, match=said) as caught:
        embedder.embed(TEXTS)
    assert str(caught.value).startswith("onnx:模型: ")
    assert "副" not in caught.value.reason


def test_the_dimension_of_the_first_good_answer_stays() -> None:
    model = Said([[1, np.nan, 1]])
    embedder = GuardedEmbedder(model)
    with pytest.raises(ModelError):
        embedder.embed(["休暇"])
    model.answer = [[1, 2]]
    assert embedder.embed(["休暇"]).shape == (1, 2)
    model.answer = [1, 2, 3]
    with pytest.raises(ModelError, match="vectors of 3 dimensions, 2 before"):
        embedder.embed_query("休暇")
    model.answer = [[3, 4]]
    assert embedder.embed(["休暇"]).shape == (1, 2)
    assert embedder.embed([]).shape == (0, 2)


def test_nothing_to_embed_or_rank_asks_nobody() -> None:
    model = Said(OSError())
    assert GuardedEmbedder(model).embed([]).shape == (0, 0)
    nobody = cast(Candidates, SimpleNamespace(texts=[]))
    assert GuardedReranker(model).scores(cast(Question, SimpleNamespace(text="休暇")), nobody).shape == (0,)
    assert model.asked == []


ANY = st.one_of(st.characters(), st.sampled_from(["\ud800", "\udfff", " ", "\u3000"]))


@given(st.lists(st.text(ANY, max_size=5), min_size=1, max_size=5))
def test_every_text_is_sent_in_a_form_that_can_be_sent(texts: list[str]) -> None:
    model = Said([[1.0]] * len(texts))
    GuardedEmbedder(model).embed(texts)
    [(sent,)] = model.asked
    assert len(sent) == len(texts)
    for text, other in zip(texts, sent, strict=True):
        assert other.strip()
        assert other.encode("utf-8")
        assert other == text or not text.strip() or any("\ud800" <= each <= "\udfff" for each in text)


def test_whatever_a_model_raises_is_a_model_error_without_its_words() -> None:
    embedder = GuardedEmbedder(Said(RuntimeError(f"cannot read {TEXTS[0]} with key sk-secret")))
    with pytest.raises(ModelError) as caught:
        embedder.embed(TEXTS)
    assert str(caught.value) == "onnx:模型: failed with RuntimeError"


def test_wrong_answers_open_the_breaker_like_failures() -> None:
    model = Said([[1, 2]])
    embedder = GuardedEmbedder(model)
    for _ in range(FAILURES):
        with pytest.raises(ModelError, match="1 vectors for 2 texts"):
            embedder.embed(TEXTS)
    model.answer = [[1, 2], [3, 4]]
    with pytest.raises(ModelError, match="left out after 5 failures"):
        embedder.embed(TEXTS)
    with pytest.raises(ModelError, match="left out after 5 failures"):
        embedder.embed_query("休暇")
    assert len(model.asked) == FAILURES


def rerank(answer: Any) -> Any:
    candidates = cast(Candidates, SimpleNamespace(texts=TEXTS))
    return GuardedReranker(Said(answer)).scores(cast(Question, SimpleNamespace(text="副業")), candidates)


def test_scores_pass_as_they_are() -> None:
    assert rerank([0, 1]).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([0.5], r"scores of shape \(1,\) for 2 texts"),
        ([[0.5], [0.5]], r"scores of shape \(2, 1\) for 2 texts"),
        ([0.5, float("nan")], "not between 0 and 1"),
        ([0.5, float("inf")], "not between 0 and 1"),
        ([0.5, 1.01], "not between 0 and 1"),
        ([-0.01, 0.5], "not between 0 and 1"),
        (["副", "業"], "not of numbers"),
    ],
)
def test_what_is_not_a_score_for_each_text_is_an_error(answer: Any, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        rerank(answer)


@pytest.mark.parametrize("answer", [None, "", " \n", 7, ["副業"]])
def test_an_answer_without_text_is_an_error(answer: Any) -> None:
    with pytest.raises(ModelError, match="an answer without text"):
        GuardedGenerator(Said(answer)).generate("副業について")


def test_names_and_settings_are_those_of_the_model() -> None:
    for guarded in (GuardedEmbedder(Said(1)), GuardedReranker(Said(1)), GuardedGenerator(Said(1))):
        assert (guarded.name, guarded.setting) == ("model-1", "onnx:模型")
