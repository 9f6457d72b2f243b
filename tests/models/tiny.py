"""Models small enough to be computed beside: one vector for each character, looked up and added."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from tokenizers.processors import TemplateProcessing

MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
CHARACTERS = list(
    dict.fromkeys("副業には会社の許可が必要です。有給休暇は年二十日まで取れる検索文書質問: 通勤手当を申請")
)
IDS = {token: place for place, token in enumerate(MARKS + CHARACTERS)}

Floats = npt.NDArray[np.float64]


def table(width: int, seed: int = 0) -> Floats:
    """A vector for each token. That of the padding is large, so that counting it in is seen."""
    values = np.random.default_rng(seed).normal(size=(len(IDS), width))
    values[IDS["[PAD]"]] = 1000
    return values


def ids(text: str, length: int = 512) -> list[int]:
    """What the tokenizer has to make of a text."""
    inner = [IDS.get(character, IDS["[UNK]"]) for character in text]
    return [IDS["[CLS]"], *inner[: length - 2], IDS["[SEP]"]]


def write_tokenizer(folder: Path, *, truncation: int | None = None, padding: int | None = None) -> None:
    tokenizer = Tokenizer(WordLevel(IDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Split(Regex("."), "isolated")
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", IDS["[CLS]"]), ("[SEP]", IDS["[SEP]"])],
    )
    if truncation:
        tokenizer.enable_truncation(truncation)
    if padding:
        tokenizer.enable_padding(length=padding, pad_id=IDS["[PAD]"], pad_token="[PAD]")
    tokenizer.save(str(folder / "tokenizer.json"))


def write_embedder(
    folder: Path,
    values: Floats,
    *,
    types: Floats | None = None,
    output: str = "last_hidden_state",
    whole: int = TensorProto.INT64,
    half: bool = False,
    beside: str | None = None,
    wants: Sequence[str] = (),
) -> None:
    """Vectors of the tokens (plus those of the token types); as `sentence_embedding`, their masked sum."""
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["tokens"])]
    names = ["input_ids", "attention_mask", *wants]
    tables = {"table": values}
    hidden = "tokens"
    if types is not None:
        nodes.append(helper.make_node("Gather", ["types", "token_type_ids"], ["typed"]))
        nodes.append(helper.make_node("Add", [hidden, "typed"], ["both"]))
        names.append("token_type_ids")
        tables["types"] = types
        hidden = "both"
    shape: list[str | int] = ["batch", "sequence", values.shape[1]]
    if output == "sentence_embedding":
        nodes += _masked_sum(hidden, "summed")
        hidden, shape = "summed", ["batch", values.shape[1]]
    last = TensorProto.FLOAT16 if half else TensorProto.FLOAT
    nodes.append(helper.make_node("Cast", [hidden], [output], to=last))
    _write(folder, nodes, names, tables, (output, last, shape), whole, beside)


def write_cross_encoder(folder: Path, values: Floats, types: Floats) -> None:
    """The logits are the sums of the tokens' and the token types' values: one or two columns."""
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["tokens"]),
        helper.make_node("Gather", ["types", "token_type_ids"], ["typed"]),
        helper.make_node("Add", ["tokens", "typed"], ["both"]),
        *_masked_sum("both", "logits"),
    ]
    names = ["input_ids", "attention_mask", "token_type_ids"]
    shape: list[str | int] = ["batch", values.shape[1]]
    _write(
        folder,
        nodes,
        names,
        {"table": values, "types": types},
        ("logits", TensorProto.FLOAT, shape),
        TensorProto.INT64,
        None,
    )


def write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")


def _masked_sum(source: str, target: str) -> list[onnx.NodeProto]:
    return [
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last_axis"], ["column"]),
        helper.make_node("Mul", [source, "column"], ["masked"]),
        helper.make_node("ReduceSum", ["masked", "tokens_axis"], [target], keepdims=0),
    ]


def _write(
    folder: Path,
    nodes: Sequence[onnx.NodeProto],
    names: Sequence[str],
    tables: dict[str, Floats],
    output: tuple[str, int, Sequence[str | int]],
    whole: int,
    beside: str | None,
) -> None:
    constants = {
        **{name: values.astype(np.float32) for name, values in tables.items()},
        "last_axis": np.array([-1]),
        "tokens_axis": np.array([1]),
    }
    graph = helper.make_graph(
        list(nodes),
        "tiny",
        [helper.make_tensor_value_info(name, whole, ["batch", "sequence"]) for name in names],
        [helper.make_tensor_value_info(*output)],
        [numpy_helper.from_array(values, name) for name, values in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    if beside:
        onnx.save_model(
            model, str(folder / "model.onnx"), save_as_external_data=True, location=beside, size_threshold=0
        )
    else:
        onnx.save_model(model, str(folder / "model.onnx"))
