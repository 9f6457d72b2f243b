"""What a model's folder says of itself, in the files that sentence-transformers writes.

`shirube.json` in it has the last word: many a folder was exported without them.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from shirube.errors import InvalidInput

# Modules of sentence-transformers that `onnx.py` and the guard do themselves.
_KNOWN_MODULES = {"Transformer", "Pooling", "Normalize"}
# A pair's marks take up to four tokens, and something has to be left of both texts.
_SHORTEST = 8


@dataclass(frozen=True)
class Recipe:
    """How texts become the model's input and its output a vector. The keys of `shirube.json`.

    `max_length` counts tokens; 0 leaves it to the tokenizer.
    """

    pooling: str = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""
    max_length: int = 0


def read_recipe(setting: str, folder: Path) -> Recipe:
    """What the folder's files say, and over that `shirube.json`."""
    recipe: dict[str, Any] = {}
    pooling = _json(setting, folder / "1_Pooling" / "config.json")
    if pooling:
        recipe["pooling"] = _pooling(pooling)
    prompts = _json(setting, folder / "config_sentence_transformers.json").get("prompts")
    if isinstance(prompts, dict):
        recipe["query_prefix"] = prompts.get("query") or ""
        passages = (prompts[name] for name in ("document", "passage", "corpus") if prompts.get(name))
        recipe["passage_prefix"] = next(passages, "")
    recipe["max_length"] = _json(setting, folder / "sentence_bert_config.json").get("max_seq_length") or 0
    recipe |= _json(setting, folder / "shirube.json")
    return _checked(setting, recipe)


def _pooling(config: dict[str, Any]) -> str:
    """`mean`, `cls`, or words for what we do not do. Older files have a switch for each mode instead of a name."""
    named = config.get("pooling_mode")
    if named is None:
        switched = (key.removeprefix("pooling_mode_") for key, on in config.items() if on is True)
        named = [key.removesuffix("s").removesuffix("_token") for key in switched if key != "include_prompt"]
    modes = [named] if isinstance(named, str) else list(named)
    without = ["without the prompt"] if config.get("include_prompt") is False else []
    return " ".join([*map(str, modes), *without])


def _checked(setting: str, recipe: dict[str, Any]) -> Recipe:
    defaults = asdict(Recipe())
    for key, value in recipe.items():
        if key not in defaults or type(value) is not type(defaults[key]):
            raise _invalid(
                setting,
                f"{key}={value!r} is not understood",
                f"{key}={value!r} を解釈できません",
                f"shirube.json: {', '.join(defaults)}",
            )
    found = Recipe(**recipe)
    if found.pooling not in ("mean", "cls"):
        raise _invalid(
            setting,
            f"pooling {found.pooling or '(none)'} is not supported; mean and cls are",
            f"pooling {found.pooling or '(なし)'} には対応していません。mean か cls です",
            'model.onnx が自分で pooling するなら shirube.json に / If model.onnx pools by itself: {"pooling": "mean"}',
        )
    if found.max_length and found.max_length < _SHORTEST:
        raise _invalid(
            setting,
            f"max_length={found.max_length} is too short",
            f"max_length={found.max_length} は短すぎます",
            'shirube.json: {"max_length": 512}',
        )
    return found


def modules_beyond(setting: str, folder: Path) -> list[str]:
    """Layers after the encoder that would be left out without a word."""
    modules = _json(setting, folder / "modules.json", [])
    names = (str(each.get("type")).rpartition(".")[2] for each in modules)
    return [name for name in names if name not in _KNOWN_MODULES]


def held_file(setting: str, folder: Path, *names: str) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise _invalid(
        setting,
        f"there is no file {names[0]} in the folder",
        f"フォルダーに {names[0]} がありません",
        "model.onnx, tokenizer.json",
    )


def _json(setting: str, path: Path, empty: Any = None) -> Any:
    """The file's object, or an empty one where there is no file."""
    empty = {} if empty is None else empty
    if not path.is_file():
        return empty
    try:
        value = json.loads(path.read_text("utf-8"))
    except (ValueError, OSError):
        value = None
    if type(value) is not type(empty):
        raise _invalid(
            setting, f"{path.name} cannot be read", f"{path.name} を読み込めません", str(path.name)
        )
    return value


def _invalid(setting: str, message: str, ja: str, hint: str) -> InvalidInput:
    return InvalidInput(f"{setting}: {message}", f"{setting}: {ja}。", hint=hint)
