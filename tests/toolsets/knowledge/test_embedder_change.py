"""Another embedder takes over without a gap: the one before it answers until the new vectors are complete."""

from collections.abc import Sequence

import numpy as np

from shirube.ingest.embedding import embed_missing
from shirube.models.contract import Matrix
from shirube.models.errors import ModelError
from shirube.toolsets.knowledge.feed import BODY, TITLE
from tests.retrieval.ranking import Letters
from tests.store.records import document
from tests.toolsets.knowledge.conftest import Served

TEXTS = ["兼業には会社の許可が必要です。", "年次有給休暇は20日です。", "会議室は予約してください。"]


class Others(Letters):
    """The same by another name and with other numbers."""

    name = "others"
    setting = "others"

    def embed(self, texts: Sequence[str]) -> Matrix:
        return np.concatenate([super().embed(texts), np.ones((len(texts), 3), np.float32)], axis=1)


class Down(Others):
    def embed_query(self, text: str) -> Matrix:
        raise ModelError("others", "no answer")


def put_in_use(served: Served, *embedders: Letters) -> None:
    """The first is the one the settings name."""
    workspace = served.application.workspace()
    workspace._embedders = {each.setting: each for each in embedders}
    workspace._embedders[workspace.settings.embedder] = embedders[0]


def test_the_embedder_before_answers_until_the_new_vectors_are_complete(served: Served) -> None:
    base = served.create("小さい", document("規程.md", *TEXTS))
    space = served.application.knowledge().space(base.id)
    put_in_use(served, Letters())
    embed_missing(space, Letters(), BODY, TITLE)
    put_in_use(served, Others(), Letters())
    body = served.found("兼業の許可", knowledge_base_id=base.id, threshold=0.0, explain=True)
    assert body["explain"]["recipe"]["embedder"] == "letters"
    assert body["results"][0]["metadata"]["dense_score"] is not None
    [warning] = body["warnings"]
    assert "being changed" in warning
    served.application.knowledge().complete_vectors()
    body = served.found("兼業の許可", knowledge_base_id=base.id, threshold=0.0, explain=True)
    assert body["explain"]["recipe"]["embedder"] == "others"
    assert "warnings" not in body
    assert space.held_models() == {"others": "others"}


def test_an_embedder_that_fails_leaves_full_text_and_says_so(served: Served) -> None:
    base = served.create("小さい", document("規程.md", *TEXTS))
    put_in_use(served, Others())
    embed_missing(served.application.knowledge().space(base.id), Others(), BODY, TITLE)
    put_in_use(served, Down())
    body = served.found("兼業の許可", knowledge_base_id=base.id, threshold=0.0)
    assert body["results"][0]["content"] == TEXTS[0]
    [warning] = body["warnings"]
    assert "Vectors failed" in warning
