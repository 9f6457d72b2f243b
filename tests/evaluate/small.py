"""A set small enough to rank by hand, and models that do what a test tells them."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shirube.evaluate.datasets import Dataset, Passage
from shirube.models.contract import Candidates, Matrix, Question, Scores
from shirube.models.errors import ModelError

TEXTS = {
    "commute": ("通勤手当", "通勤手当は月額5万円を上限として支給する。"),
    "exam": ("資格取得補助", "資格の受験料を補助する。"),
    "side": ("副業規程", "副業を行う者は、あらかじめ会社の許可を受けなければならない。"),
    "leave": ("年次有給休暇", "有給休暇は年に二十日まで取得できる。"),
    "server": ("運用手順", "サーバーを再起動するときは、情報システム部に連絡する。"),
}
CORPUS = tuple(Passage(name, title, text) for name, (title, text) in TEXTS.items())
DATASET = Dataset(
    "small",
    CORPUS,
    {
        "q1": "通勤手当の上限はいくら？",
        "q2": "副業には許可がいりますか",
        "q3": "有給休暇は何日取れる？",
        "q4": "サーバーの再起動",
    },
    {"q1": {"commute": 1}, "q2": {"side": 1}, "q3": {"leave": 1}, "q4": {"server": 1}},
)


@dataclass
class Letters:
    """A text points where its characters point together. It fails only where it is told to."""

    setting: str = "letters"
    nameless: bool = False
    refuses_passages: bool = False
    refused_query: str | None = None
    queries_left: int = 1_000_000

    @property
    def name(self) -> str:
        if self.nameless:
            raise ModelError(self.setting, "the files cannot be read")
        return "letters-1"

    def embed(self, texts: Sequence[str]) -> Matrix:
        if self.refuses_passages:
            raise ModelError(self.setting, "no passages today")
        return np.stack([self._vector(text) for text in texts])

    def embed_query(self, text: str) -> Matrix:
        self.queries_left -= 1
        if text == self.refused_query or self.queries_left < 0:
            raise ModelError(self.setting, "no more queries")
        return self._vector(text)

    def _vector(self, text: str) -> Matrix:
        summed = np.sum([_direction(character) for character in text or " "], axis=0)
        unit: Matrix = (summed / np.linalg.norm(summed)).astype(np.float32)
        return unit


def _direction(character: str) -> Matrix:
    return np.random.default_rng(zlib.crc32(character.encode())).normal(size=64).astype(np.float32)


@dataclass
class Longest:
    """Longer texts first, whatever was asked: no other stage gives that order. Or always an error."""

    name: str = "longest"
    error: Exception | None = None

    def scores(self, question: Question, candidates: Candidates) -> Scores:
        if self.error:
            raise self.error
        return np.array([len(text) / 1000 for text in candidates.texts])


BY_LENGTH = sorted(TEXTS, key=lambda name: -len(TEXTS[name][1]))
