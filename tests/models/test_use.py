"""The default embedder: unit vectors, the same for the same text, near for what means the same."""

import numpy as np
import pytest

from shirube.models.use import UseEmbedder

# Two that say the same, and what they must not be taken for.
ALIKE = [
    ("副業には会社の許可が必要です。", "兼業をするときは会社の承認を受けてください。"),
    ("有給休暇は年に20日あります。", "年次休暇の日数は20日です。"),
    ("パスワードを忘れたときの手続き", "パスワードを再設定する方法"),
]
UNRELATED = ["カレーの作り方を説明します。", "昨日の野球の試合は中止でした。"]
PAIRS = [
    ("副業には会社の許可が必要です。", "A side job needs the company's permission."),
    ("有給休暇は年に20日あります。", "You have 20 days of paid leave a year."),
    ("パスワードを忘れたときの手続き", "What to do when you forget your password"),
]


@pytest.fixture(scope="module")
def embedder() -> UseEmbedder:
    return UseEmbedder()


STRANGE = ["", " ", "😀", "\ud800", "。", "\x00", "税", "a" * 5000, "長い文です。" * 500]


def test_every_text_gets_a_unit_vector_of_512(embedder: UseEmbedder) -> None:
    vectors = embedder.embed([*STRANGE, *UNRELATED])
    assert vectors.shape == (len(STRANGE) + len(UNRELATED), 512)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-4)
    assert embedder.embed([]).shape == (0, 512)


def test_the_same_text_gets_the_same_vector(embedder: UseEmbedder) -> None:
    text = "副業には会社の許可が必要です。"
    assert np.array_equal(embedder.embed_query(text), embedder.embed_query(text))
    assert np.array_equal(UseEmbedder().embed_query(text), embedder.embed_query(text))


def test_a_batch_is_what_its_texts_are_alone(embedder: UseEmbedder) -> None:
    texts = [*STRANGE, *UNRELATED, *(text for pair in ALIKE + PAIRS for text in pair)]
    together = embedder.embed(texts)
    alone = np.stack([embedder.embed_query(text) for text in texts])
    assert np.allclose(together, alone, atol=1e-5)


@pytest.mark.parametrize(("one", "other"), ALIKE + PAIRS)
def test_what_means_the_same_is_nearer_than_what_does_not(
    embedder: UseEmbedder, one: str, other: str
) -> None:
    first, *rest = embedder.embed([one, other, *UNRELATED])
    near, *far = (float(first @ each) for each in rest)
    assert near > max(far) + 0.15


def test_only_the_beginning_of_a_long_text_counts(embedder: UseEmbedder) -> None:
    start = "年次有給休暇の申請は前日までに行う。" * 100
    assert np.array_equal(embedder.embed_query(start), embedder.embed_query(start + "カレー"))
