"""Long vowels and separators in real judgments, and clean sentences, where the data to measure on is at hand."""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from shirube.text.ocr import long_vowels
from tests.beside import beside

SENTENCES = 10_000


@pytest.fixture(scope="module")
def data() -> Path:
    return beside()


def test_long_vowels_are_restored_and_separators_stay(data: Path) -> None:
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    with gzip.open(data / "ocr" / "choon-natural-even.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            label, written, before = case["label_auto"], case["surface"], case["left"]
            if label not in ("long_vowel", "separator"):
                continue
            restored, _ = long_vowels(before + written + case["right"])
            wanted = case["restored"] if label == "long_vowel" else written
            asked[label] += 1
            right[label] += restored[len(before) : len(before) + len(written)] == wanted
    assert asked == {"long_vowel": 1947, "separator": 9092}
    assert right["long_vowel"] / asked["long_vowel"] >= 0.9
    assert right["separator"] / asked["separator"] >= 0.995


def test_clean_sentences_come_back_as_they_are(data: Path) -> None:
    count = 0
    for sentence in islice(_sentences(data), SENTENCES):
        assert long_vowels(sentence) == (sentence, [])
        count += 1
    assert count == SENTENCES


def _sentences(data: Path) -> Iterator[str]:
    """Sentences of JaQuAD and of the statutes in turn."""
    passages = (data / "qa" / "jaquad-dev" / "corpus.jsonl").read_text("utf-8").splitlines()
    with gzip.open(data / "laws" / "laws.jsonl.gz", "rt", encoding="utf-8") as laws:
        for passage, law in zip(passages, islice(laws, 0, None, 3), strict=False):
            for text in (json.loads(passage)["text"], json.loads(law)["text"][:2000]):
                yield from (sentence for sentence in re.split(r"(?<=。)|\n", text) if sentence.strip())
