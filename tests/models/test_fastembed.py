"""Embedders through the fastembed library, with a tiny model where its download would lie."""

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import fastembed
import numpy as np
import pytest
from fastembed.common.model_description import ModelSource, PoolingType
from fastembed.text.custom_text_embedding import CustomTextEmbedding

from shirube.models import registry
from shirube.models.contract import Embedder
from shirube.models.deadline import Timeouts
from shirube.models.errors import ModelError
from shirube.models.fastembed import FastembedEmbedder
from shirube.models.guarded import GuardedEmbedder
from tests.models import tiny

TEXTS = ["副業には会社の許可が必要です。", "有給休暇", "通勤手当を申請する。"]
TABLE = tiny.table(6)


def unit(texts: list[str]) -> Any:
    rows = np.stack([TABLE[tiny.ids(text)].mean(axis=0) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def load(name: str) -> Embedder:
    found = registry.embedder(f"fastembed:{name}")
    assert found is not None
    return found


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes the library know a model by a name."""
    tiny.write_tokenizer(tmp_path)
    tiny.write_embedder(tmp_path, TABLE)
    tiny.write_json(tmp_path / "tokenizer_config.json", {"model_max_length": 512, "pad_token": "[PAD]"})
    tiny.write_json(tmp_path / "config.json", {"pad_token_id": 0})
    monkeypatch.setattr(CustomTextEmbedding, "SUPPORTED_MODELS", [])
    monkeypatch.setattr(CustomTextEmbedding, "POSTPROCESSING_MAPPING", {})
    real = fastembed.TextEmbedding

    def register(name: str) -> None:
        source = ModelSource(hf="nobody/nothing")
        real.add_custom_model(name, PoolingType.MEAN, False, source, 6, model_file="model.onnx")

    monkeypatch.setattr(fastembed, "TextEmbedding", partial(real, specific_model_path=str(tmp_path)))
    return register


def test_texts_become_vectors_in_their_order(known: Callable[[str], None]) -> None:
    known("会社/模型")
    model = load("会社/模型")
    texts = [text * (1 + number % 9) for number, text in enumerate(TEXTS * 30)]
    assert model.embed(texts) == pytest.approx(unit(texts), abs=1e-5)
    assert model.embed_query("休暇") == pytest.approx(unit(["休暇"])[0], abs=1e-5)
    assert model.name == model.setting == "fastembed:会社/模型"


def test_models_that_want_prefixes_get_them(known: Callable[[str], None]) -> None:
    known("intfloat/multilingual-e5-tiny")
    model = load("intfloat/multilingual-e5-tiny")
    assert model.embed_query("休暇") == pytest.approx(unit(["query: 休暇"])[0], abs=1e-5)
    assert model.embed(["休暇"]) == pytest.approx(unit(["passage: 休暇"]), abs=1e-5)


def test_a_model_that_the_library_does_not_know_is_a_model_error() -> None:
    with pytest.raises(ModelError, match=r"fastembed:会社/無い: the model is not known to fastembed"):
        load("会社/無い").embed_query("休暇")


def test_a_query_does_not_wait_for_a_download(
    known: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    known("会社/模型")
    fetched, loaded = threading.Event(), threading.Event()
    prepared = fastembed.TextEmbedding

    def slow(name: str) -> Any:
        assert fetched.wait(10)
        try:
            return prepared(name)
        finally:
            loaded.set()

    monkeypatch.setattr(fastembed, "TextEmbedding", slow)
    raw = FastembedEmbedder("fastembed:会社/模型", "会社/模型", Timeouts(query=0.2))
    model = GuardedEmbedder(raw)
    with pytest.raises(ModelError, match=r"no answer within 0\.2 s"):
        model.embed_query("休暇")
    fetched.set()
    assert loaded.wait(10)
    assert model.embed(["休暇"]) == pytest.approx(unit(["休暇"]), abs=1e-5)
