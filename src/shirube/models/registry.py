"""Models by the names that settings give them. Nothing is imported or loaded before it is used.

What comes with the package is used as it is; what comes from outside stands behind `guarded`.
"""

import os
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from shirube.errors import InvalidInput
from shirube.models.contract import Embedder, Generator, Reranker
from shirube.models.guarded import GuardedEmbedder, GuardedGenerator, GuardedReranker

_OLLAMA, _OPENAI = "ollama:MODEL", "openai:MODEL@URL"
_EMBEDDERS = f"onnx:FOLDER, fastembed:NAME, {_OLLAMA}, {_OPENAI}, bedrock:MODEL"
_RERANKERS = "onnx:FOLDER"
_GENERATORS = f"{_OLLAMA}, {_OPENAI}, bedrock:MODEL"


def embedder(setting: str) -> Embedder | None:
    """The embedder that `SHIRUBE_EMBEDDER` names; None when vectors are switched off."""
    variable = "SHIRUBE_EMBEDDER"
    if setting == "none":
        return None
    if setting == "use":
        from shirube.models.use import UseEmbedder

        return UseEmbedder()
    match _kind_and_model(setting):
        case "onnx", folder:
            _require(variable, setting, "onnx", "onnxruntime", "tokenizers")
            from shirube.models.onnx import OnnxEmbedder

            return GuardedEmbedder(OnnxEmbedder(setting, Path(folder).expanduser()))
        case "fastembed", model:
            _require(variable, setting, "fastembed", "fastembed")
            from shirube.models.fastembed import FastembedEmbedder

            return GuardedEmbedder(FastembedEmbedder(setting, model))
        case "ollama", where:
            from shirube.models.remote import OLLAMA, ollama_embedder

            model, url = _model_and_url(variable, _OLLAMA, where, OLLAMA)
            return GuardedEmbedder(ollama_embedder(setting, model, url))
        case "openai", where:
            from shirube.models.remote import openai_embedder

            model, url = _model_and_url(variable, _OPENAI, where)
            return GuardedEmbedder(openai_embedder(setting, model, url, _openai_key()))
        case "bedrock", model:
            _require(variable, setting, "bedrock", "boto3")
            from shirube.models.bedrock import bedrock_embedder

            return GuardedEmbedder(bedrock_embedder(setting, model))
    raise _unknown(variable, setting, "use, none", _EMBEDDERS)


def reranker(setting: str) -> Reranker | None:
    """The re-ranker that `SHIRUBE_RERANKER` names; None when re-ranking is switched off."""
    variable = "SHIRUBE_RERANKER"
    if setting == "none":
        return None
    if setting == "learned":
        from shirube.models.ranker.reranker import LearnedReranker

        return LearnedReranker()
    match _kind_and_model(setting):
        case "onnx", folder:
            _require(variable, setting, "onnx", "onnxruntime", "tokenizers")
            from shirube.models.onnx import OnnxReranker

            return GuardedReranker(OnnxReranker(setting, Path(folder).expanduser()))
    raise _unknown(variable, setting, "learned, none", _RERANKERS)


def generator(setting: str) -> Generator | None:
    """The language model that `SHIRUBE_LLM` names; None when there is none."""
    variable = "SHIRUBE_LLM"
    if setting == "none":
        return None
    match _kind_and_model(setting):
        case "ollama", where:
            from shirube.models.remote import OLLAMA, ollama_generator

            model, url = _model_and_url(variable, _OLLAMA, where, OLLAMA)
            return GuardedGenerator(ollama_generator(setting, model, url))
        case "openai", where:
            from shirube.models.remote import openai_generator

            model, url = _model_and_url(variable, _OPENAI, where)
            return GuardedGenerator(openai_generator(setting, model, url, _openai_key()))
        case "bedrock", model:
            _require(variable, setting, "bedrock", "boto3")
            from shirube.models.bedrock import bedrock_generator

            return GuardedGenerator(bedrock_generator(setting, model))
    raise _unknown(variable, setting, "none", _GENERATORS)


def _kind_and_model(setting: str) -> tuple[str, str]:
    """`onnx:FOLDER` in its two parts; no kind where one of them is missing."""
    kind, _, model = setting.partition(":")
    return (kind, model) if model.strip() else ("", "")


def _model_and_url(variable: str, form: str, where: str, usual: str | None = None) -> tuple[str, str]:
    """`MODEL@URL` in its two parts. The address is recorded with the vectors, so no secret may stand in it."""
    model, at, url = where.partition("@")
    if not at and usual:
        return model, usual
    try:
        parts = urlsplit(url)
        # Reading the port is what checks it.
        good = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        good = False
    if not model or not good or "@" in url or "?" in url or "#" in url:
        raise InvalidInput(
            f"{variable} has to be {form}, where URL begins with http:// or https:// and holds no password or key",
            f"{variable} は {form} の形にしてください。"
            "URL は http:// か https:// で始め、パスワードやキーは書かないでください。",
            hint="キーは SHIRUBE_OPENAI_API_KEY に入れます。 A key goes into SHIRUBE_OPENAI_API_KEY.",
        )
    return model, url.rstrip("/")


def _openai_key() -> str | None:
    return os.environ.get("SHIRUBE_OPENAI_API_KEY") or os.environ.get("OPENAI_API_KEY")


def _require(variable: str, setting: str, extra: str, *packages: str) -> None:
    """Says what to install while the setting is read, not when the first query fails."""
    missing = ", ".join(package for package in packages if find_spec(package) is None)
    if missing:
        raise InvalidInput(
            f"{variable}={setting} needs {missing}, which is not installed",
            f"{variable}={setting} には {missing} が必要ですが、入っていません。",
            hint=f"pip install 'shirube[{extra}]'",
        )


def _unknown(variable: str, setting: str, known: str, pluggable: str) -> InvalidInput:
    # What follows an @ may be an address with a password in it.
    shown, at, _ = setting.partition("@")
    shown += at and "@…"
    return InvalidInput(
        f"{variable}={shown} is not known; use one of: {known}",
        f"{variable}={shown} は使えません。{known} のどれかにしてください。",
        hint=f"ほかに使えるもの / Also: {pluggable}",
    )
