"""Embedders and cross-encoders on this machine: a folder with `model.onnx` and `tokenizer.json`."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shirube.models.errors import ModelError
from shirube.models.onnx_folder import Recipe, held_file, modules_beyond, read_recipe

# What a batch may hold, padding counted: 16 texts of 512 tokens, or many short ones.
_BATCH_TOKENS = 8192
# The length that nearly all encoders were trained with, where the folder names none.
_MAX_LENGTH = 512
# Raised when the same files and settings would give other vectors.
_VERSION = 1
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}

Table = npt.NDArray[np.float32]


class OnnxEmbedder:
    def __init__(self, setting: str, folder: Path) -> None:
        self.setting = setting
        self._recipe = read_recipe(setting, folder)
        self._beyond = modules_beyond(setting, folder)
        self._files = _Files(setting, folder, self._recipe, ("sentence_embedding", "last_hidden_state"))

    @property
    def name(self) -> str:
        return f"onnx-{self._files.digest}"

    def embed(self, texts: Sequence[str]) -> npt.ArrayLike:
        return self._vectors([self._recipe.passage_prefix + text for text in texts])

    def embed_query(self, text: str) -> npt.ArrayLike:
        return self._vectors([self._recipe.query_prefix + text])[0]  # type: ignore[no-any-return]

    def _vectors(self, texts: Sequence[str]) -> Table:
        return self._files.run(texts, self._pooled)

    def _pooled(self, output: Table, mask: Table) -> Table:
        if self._beyond and output.ndim == 3:
            beyond = ", ".join(self._beyond)
            raise ModelError(self.setting, f"model.onnx lacks the {beyond} that modules.json names")
        return pooled(output, mask, self._recipe.pooling)


class OnnxReranker:
    """A cross-encoder: question and passage read together."""

    def __init__(self, setting: str, folder: Path) -> None:
        self.setting = setting
        self._files = _Files(setting, folder, read_recipe(setting, folder), ("logits",))

    @property
    def name(self) -> str:
        return f"onnx-{self._files.digest}"

    def scores(self, question: str, texts: Sequence[str]) -> npt.ArrayLike:
        return probabilities(self.setting, self._files.run([(question, text) for text in texts]))


def pooled(output: Table, mask: Table, pooling: str) -> Table:
    """One vector a text from one a token; a model that pools by itself is left alone."""
    if output.ndim == 2:
        return output
    if pooling == "cls":
        return output[:, 0]
    weights = mask[:, :, np.newaxis]
    mean: Table = (output * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
    return mean


def probabilities(setting: str, logits: Table) -> npt.NDArray[np.float64]:
    """One logit is that of "relevant"; of two, the second is."""
    values = logits.astype(np.float64)
    if values.ndim == 2 and values.shape[1] == 2:
        values = values[:, 1] - values[:, 0]
    elif values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ModelError(setting, f"an output of shape {logits.shape}; one or two logits a pair are needed")
    # Beyond these a probability is 0 or 1, and exp would overflow.
    return 1 / (1 + np.exp(-np.clip(values, -500, 500)))


class _Files:
    """The model and its tokenizer in a folder, loaded by whoever first needs them."""

    def __init__(self, setting: str, folder: Path, recipe: Recipe, outputs: Sequence[str]) -> None:
        self._setting = setting
        self._recipe = recipe
        self._outputs = outputs
        self._model = held_file(setting, folder, "model.onnx", "onnx/model.onnx")
        self._tokens = held_file(setting, folder, "tokenizer.json")
        self._lock = threading.Lock()

    @property
    def digest(self) -> str:
        return self._state[0]

    @cached_property
    def _state(self) -> tuple[str, list[tuple[int, int]]]:
        """A digest of all that decides the numbers, and the files' stamps when it was taken."""
        total = hashlib.sha256(json.dumps([_VERSION, asdict(self._recipe)]).encode())
        try:
            stamps = self._stamps()
            for path in self._paths():
                with path.open("rb") as file:
                    total.update(hashlib.file_digest(file, "sha256").digest())
        except OSError as error:
            raise ModelError(self._setting, "the model's files cannot be read") from error
        return total.hexdigest()[:16], stamps

    def _paths(self) -> list[Path]:
        """Weights that lie beside the model are named after it: `model.onnx_data`."""
        return [self._model, *sorted(self._model.parent.glob("model.onnx?*")), self._tokens]

    def _stamps(self) -> list[tuple[int, int]]:
        return [(stat.st_size, stat.st_mtime_ns) for stat in (path.stat() for path in self._paths())]

    def run(
        self, inputs: Sequence[Any], reduce: Callable[[Table, Table], Table] = lambda output, mask: output
    ) -> Table:
        """The output for each text or pair, in order; `reduce` makes it one row each from output and mask."""
        session, tokenizer, padding = self._loaded
        encoded = tokenizer.encode_batch(list(inputs))
        rows: list[Any] = [None] * len(encoded)
        for places in _batches([len(each) for each in encoded]):
            batch = [encoded[place] for place in places]
            length = max(1, *(len(each) for each in batch))
            columns = {
                "input_ids": _padded([each.ids for each in batch], length, padding),
                "attention_mask": _padded([each.attention_mask for each in batch], length, 0),
                "token_type_ids": _padded([each.type_ids for each in batch], length, 0),
            }
            feed = {each.name: columns[each.name].astype(_TYPES[each.type]) for each in session.get_inputs()}
            output = np.asarray(session.run([self._output(session)], feed)[0], np.float32)
            if len(output) != len(places):
                raise ModelError(self._setting, f"{len(output)} rows for {len(places)} texts")
            reduced = reduce(output, columns["attention_mask"].astype(np.float32))
            for place, row in zip(places, reduced, strict=True):
                rows[place] = row
        return np.stack(rows)

    def _output(self, session: Any) -> str:
        names = [each.name for each in session.get_outputs()]
        return next((name for name in self._outputs if name in names), names[0])

    @property
    def _loaded(self) -> tuple[Any, Any, int]:
        with self._lock:
            return self._load

    @cached_property
    def _load(self) -> tuple[Any, Any, int]:
        import onnxruntime
        from tokenizers import Tokenizer

        _, stamps = self._state
        options = onnxruntime.SessionOptions()
        # Errors only; what else it has to say is about the graph.
        options.log_severity_level = 3
        try:
            session = onnxruntime.InferenceSession(
                str(self._model), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise ModelError(self._setting, f"{self._model.name} cannot be loaded") from error
        for each in session.get_inputs():
            if each.name not in ("input_ids", "attention_mask", "token_type_ids") or each.type not in _TYPES:
                raise ModelError(
                    self._setting, f"the model wants an input that is not known: {each.name}, {each.type}"
                )
        try:
            tokenizer = Tokenizer.from_file(str(self._tokens))
        except Exception as error:
            raise ModelError(self._setting, f"{self._tokens.name} cannot be loaded") from error
        if self._stamps() != stamps:
            # The name would stand for other vectors.
            raise ModelError(self._setting, "the model's files have changed; start again")
        padding, truncation = tokenizer.padding or {}, tokenizer.truncation or {}
        # Padding to a fixed length, as some files want it, would only cost time.
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._recipe.max_length or truncation.get("max_length", _MAX_LENGTH))
        return session, tokenizer, padding.get("pad_id", 0)


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places in batches of like lengths, so that little is padded."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[place] > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _padded(rows: Sequence[Sequence[int]], length: int, padding: int) -> npt.NDArray[np.int64]:
    table = np.full((len(rows), length), padding, np.int64)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table
