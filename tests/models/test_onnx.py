"""Models in ONNX files give the numbers that a computation beside them gives, as their folder asks for it."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from onnx import TensorProto

from shirube.errors import InvalidInput
from shirube.models import registry
from shirube.models.contract import Candidates, Embedder, Question, Reranker
from shirube.models.errors import ModelError
from tests.models import tiny
from tests.models.tiny import Floats

TEXTS = ["副業には会社の許可が必要です。", "有給休暇", "通勤手当を申請する。", "", "年", "\ud800休暇"]
TABLE = tiny.table(6)


def load(folder: Path) -> Embedder:
    embedder = registry.embedder(f"onnx:{folder}")
    assert embedder is not None
    return embedder


def unit(rows: Sequence[Floats] | Floats) -> Floats:
    stacked = np.stack(list(rows))
    units: Floats = stacked / np.linalg.norm(stacked, axis=1, keepdims=True)
    return units


def seen(text: str) -> str:
    """A blank text is read as a full stop, half a surrogate pair as a question mark."""
    return text.replace("\ud800", "?") if text.strip() else "。"


def mean(text: str, length: int = 512) -> Floats:
    values: Floats = TABLE[tiny.ids(text, length)].mean(axis=0)
    return values


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tiny.write_tokenizer(tmp_path)
    tiny.write_embedder(tmp_path, TABLE)
    return tmp_path


def test_the_mean_leaves_padding_out(folder: Path) -> None:
    expected = unit([mean(seen(text)) for text in TEXTS])
    assert load(folder).embed(TEXTS) == pytest.approx(expected, abs=1e-5)


def test_a_batch_is_what_its_texts_are_alone(folder: Path) -> None:
    embedder = load(folder)
    many = [text * (1 + number % 40) for number, text in enumerate(TEXTS * 20)]
    alone = np.stack([embedder.embed_query(text) for text in many])
    assert embedder.embed(many) == pytest.approx(alone, abs=1e-6)
    assert alone.dtype == np.float32


@pytest.mark.parametrize(
    "config",
    [
        {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False, "include_prompt": True},
        {"pooling_mode": "cls", "include_prompt": True},
        {"pooling_mode": ["cls"]},
    ],
)
def test_the_first_token_stands_for_the_text_when_the_folder_says_so(
    tmp_path: Path, config: dict[str, Any]
) -> None:
    types = tiny.table(6, seed=1)[:2]
    tiny.write_tokenizer(tmp_path)
    tiny.write_embedder(tmp_path, TABLE, types=types)
    tiny.write_json(tmp_path / "1_Pooling" / "config.json", config)
    expected = unit([TABLE[tiny.IDS["[CLS]"]] + types[0]])
    assert load(tmp_path).embed(["有給休暇"]) == pytest.approx(expected, abs=1e-5)


def test_prompts_go_before_queries_and_passages(folder: Path) -> None:
    prompts = {"query": "検索質問: ", "document": "検索文書: "}
    tiny.write_json(folder / "config_sentence_transformers.json", {"prompts": prompts})
    embedder = load(folder)
    assert embedder.embed_query("休暇") == pytest.approx(unit([mean("検索質問: 休暇")])[0], abs=1e-5)
    assert embedder.embed(["休暇"]) == pytest.approx(unit([mean("検索文書: 休暇")]), abs=1e-5)


def test_long_texts_are_cut_where_the_files_say(folder: Path) -> None:
    text = TEXTS[0] * 100
    assert load(folder).embed_query(text) == pytest.approx(unit([mean(text, 512)])[0], abs=1e-5)
    tiny.write_tokenizer(folder, truncation=12, padding=128)
    assert load(folder).embed_query(text) == pytest.approx(unit([mean(text, 12)])[0], abs=1e-5)
    tiny.write_json(folder / "sentence_bert_config.json", {"max_seq_length": 10})
    assert load(folder).embed_query(text) == pytest.approx(unit([mean(text, 10)])[0], abs=1e-5)


def test_shirube_json_has_the_last_word(folder: Path) -> None:
    tiny.write_json(folder / "1_Pooling" / "config.json", {"pooling_mode_lasttoken": True})
    tiny.write_json(folder / "config_sentence_transformers.json", {"prompts": {"query": "文書"}})
    tiny.write_json(folder / "shirube.json", {"pooling": "mean", "query_prefix": "質問: ", "max_length": 9})
    expected = unit([mean("質問: " + TEXTS[0], 9)])[0]
    assert load(folder).embed_query(TEXTS[0]) == pytest.approx(expected, abs=1e-5)


def test_a_model_that_pools_by_itself_is_left_alone(tmp_path: Path) -> None:
    tiny.write_tokenizer(tmp_path)
    tiny.write_embedder(tmp_path, TABLE, output="sentence_embedding")
    expected = unit([TABLE[tiny.ids(seen(text))].sum(axis=0) for text in TEXTS])
    assert load(tmp_path).embed(TEXTS) == pytest.approx(expected, abs=1e-5)


def test_small_integers_and_half_precision_are_taken(tmp_path: Path) -> None:
    tiny.write_tokenizer(tmp_path)
    tiny.write_embedder(tmp_path, TABLE, whole=TensorProto.INT32, half=True)
    vector = load(tmp_path).embed_query("休暇")
    assert vector == pytest.approx(unit([mean("休暇")])[0], abs=1e-2)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_the_layout_of_a_hub_is_found(folder: Path) -> None:
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert load(folder).embed_query("休暇") == pytest.approx(unit([mean("休暇")])[0], abs=1e-5)


def write_other_weights(folder: Path) -> None:
    tiny.write_embedder(folder, TABLE + 0.001)


def write_other_tokenizer(folder: Path) -> None:
    tiny.write_tokenizer(folder, truncation=64)


def write_other_prefix(folder: Path) -> None:
    tiny.write_json(folder / "shirube.json", {"query_prefix": "質問: "})


def write_other_pooling(folder: Path) -> None:
    tiny.write_json(folder / "shirube.json", {"pooling": "cls"})


@pytest.mark.parametrize(
    "change", [write_other_weights, write_other_tokenizer, write_other_prefix, write_other_pooling]
)
def test_the_name_changes_with_whatever_changes_the_vectors(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, change: Callable[[Path], None]
) -> None:
    name = load(folder).name
    copy = tmp_path_factory.mktemp("copy") / "moved"
    shutil.copytree(folder, copy)
    assert load(copy).name == name
    change(copy)
    assert load(copy).name != name


def test_the_name_covers_weights_that_lie_beside_the_model(tmp_path: Path) -> None:
    tiny.write_tokenizer(tmp_path)
    tiny.write_embedder(tmp_path, TABLE, beside="model.onnx_data")
    first = load(tmp_path)
    assert first.embed_query("休暇") == pytest.approx(unit([mean("休暇")])[0], abs=1e-5)
    graph = (tmp_path / "model.onnx").read_bytes()
    (tmp_path / "model.onnx_data").unlink()
    tiny.write_embedder(tmp_path, TABLE[:, ::-1], beside="model.onnx_data")
    assert (tmp_path / "model.onnx").read_bytes() == graph
    assert load(tmp_path).name != first.name


def test_files_that_change_under_a_name_are_not_loaded_by_it(folder: Path) -> None:
    embedder = load(folder)
    name = embedder.name
    tiny.write_embedder(folder, tiny.table(8))
    with pytest.raises(ModelError, match="files have changed"):
        embedder.embed_query("休暇")
    assert embedder.name == name
    assert load(folder).name != name


def test_the_setting_is_kept_as_it_was_given(folder: Path) -> None:
    assert load(folder).setting == f"onnx:{folder}"


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_said_when_the_setting_is_read(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(InvalidInput, match=f"there is no file {missing} in the folder") as caught:
        load(folder)
    assert f"{missing} がありません" in caught.value.ja


@pytest.mark.parametrize(
    ("file", "value", "said"),
    [
        ("shirube.json", {"poling": "cls"}, "poling='cls' is not understood"),
        ("shirube.json", {"max_length": "512"}, "max_length='512' is not understood"),
        ("shirube.json", {"max_length": 3}, "max_length=3 is too short"),
        ("shirube.json", ["cls"], "shirube.json cannot be read"),
        ("1_Pooling/config.json", {"pooling_mode_lasttoken": True}, "pooling lasttoken is not supported"),
        ("1_Pooling/config.json", {"pooling_mode": ["cls", "max"]}, "pooling cls max is not supported"),
        (
            "1_Pooling/config.json",
            {"pooling_mode_mean_tokens": True, "include_prompt": False},
            "pooling mean without the prompt is not supported",
        ),
    ],
)
def test_what_a_folder_asks_for_in_vain_is_said(folder: Path, file: str, value: Any, said: str) -> None:
    tiny.write_json(folder / file, value)
    with pytest.raises(InvalidInput, match=said):
        load(folder)


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
def test_a_broken_file_is_a_model_error(folder: Path, broken: str) -> None:
    (folder / broken).write_text("壊れている", "utf-8")
    with pytest.raises(ModelError, match=f"{broken} cannot be loaded"):
        load(folder).embed_query("休暇")


def test_layers_that_the_file_lacks_are_not_left_out_silently(folder: Path) -> None:
    modules = [
        {"type": f"sentence_transformers.models.{name}"} for name in ("Transformer", "Pooling", "Dense")
    ]
    tiny.write_json(folder / "modules.json", modules)
    with pytest.raises(ModelError, match=r"model\.onnx lacks the Dense"):
        load(folder).embed_query("休暇")
    tiny.write_embedder(folder, TABLE, output="sentence_embedding")
    assert load(folder).embed_query("休暇").shape == (6,)


def test_an_input_that_nobody_knows_is_a_model_error(folder: Path) -> None:
    tiny.write_embedder(folder, TABLE, wants=["position_ids"])
    with pytest.raises(ModelError, match="an input that is not known: position_ids"):
        load(folder).embed_query("休暇")


def test_a_vector_that_is_not_finite_is_a_model_error(folder: Path) -> None:
    values = TABLE.copy()
    values[tiny.IDS["休"]] = np.nan
    tiny.write_embedder(folder, values)
    embedder = load(folder)
    with pytest.raises(ModelError, match="not finite"):
        embedder.embed(["会社", "休暇"])
    assert embedder.embed(["会社"]).shape == (1, 6)


# Cross-encoders

PASSAGES = [TEXTS[0], "有給休暇は年二十日まで取れる。", "年", ""]


def candidates(texts: Sequence[str]) -> Candidates:
    """A cross-encoder reads the texts; of all else that candidates hold it needs nothing."""
    return cast(Candidates, SimpleNamespace(texts=texts))


def question(text: str) -> Question:
    return cast(Question, SimpleNamespace(text=text))


def cross_encoder(folder: Path, columns: int) -> tuple[Reranker, Floats, Floats]:
    values = tiny.table(columns, seed=2) / 10
    types: Floats = np.outer([0.1, -0.2], np.arange(1.0, columns + 1))
    tiny.write_tokenizer(folder)
    tiny.write_cross_encoder(folder, values, types)
    reranker = registry.reranker(f"onnx:{folder}")
    assert reranker is not None
    return reranker, values, types


def logits(asked: str, text: str, values: Floats, types: Floats) -> Floats:
    first = tiny.ids(asked)
    second = tiny.ids(seen(text))[1:]
    total: Floats = values[first + second].sum(axis=0) + len(first) * types[0] + len(second) * types[1]
    return total


def test_one_logit_becomes_a_probability(tmp_path: Path) -> None:
    reranker, values, types = cross_encoder(tmp_path, 1)
    expected = [1 / (1 + np.exp(-logits("有給休暇は", text, values, types)[0])) for text in PASSAGES]
    scores = reranker.scores(question("有給休暇は"), candidates(PASSAGES))
    assert scores == pytest.approx(np.array(expected), abs=1e-5)
    assert len(set(scores.round(4))) == len(PASSAGES)


def test_of_two_logits_the_second_counts(tmp_path: Path) -> None:
    reranker, values, types = cross_encoder(tmp_path, 2)
    expected = []
    for text in PASSAGES:
        no, yes = np.exp(logits("有給休暇は", text, values, types))
        expected.append(yes / (no + yes))
    scores = reranker.scores(question("有給休暇は"), candidates(PASSAGES))
    assert scores == pytest.approx(np.array(expected), abs=1e-5)


def test_many_candidates_keep_their_order(tmp_path: Path) -> None:
    reranker, _, _ = cross_encoder(tmp_path, 1)
    texts = [TEXTS[0][: 1 + number % 15] * (1 + number % 7) for number in range(100)]
    together = reranker.scores(question("許可"), candidates(texts))
    alone = [reranker.scores(question("許可"), candidates([text]))[0] for text in texts]
    assert together == pytest.approx(np.array(alone), abs=1e-6)
    assert reranker.scores(question("許可"), candidates([])).shape == (0,)


def test_three_logits_are_a_model_error(tmp_path: Path) -> None:
    reranker, _, _ = cross_encoder(tmp_path, 3)
    with pytest.raises(ModelError, match="one or two logits a pair are needed"):
        reranker.scores(question("許可"), candidates(PASSAGES))


def test_huge_logits_stay_probabilities(tmp_path: Path) -> None:
    reranker, values, types = cross_encoder(tmp_path, 1)
    tiny.write_cross_encoder(tmp_path, values * 1e6, types)
    scores = reranker.scores(question("許可"), candidates(PASSAGES))
    assert ((scores >= 0) & (scores <= 1)).all()
