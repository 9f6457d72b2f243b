"""Models that stand in for those the settings name, where a test wants to see through them or have them fail."""

from collections.abc import Callable

import pytest

from shirube.models import registry
from shirube.models.contract import Embedder, Reranker

Models = Callable[[Embedder | None, Reranker | None], None]


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Models:
    """Use these models, whatever the settings say."""

    def use(embedder: Embedder | None, reranker: Reranker | None) -> None:
        monkeypatch.setattr(registry, "embedder", lambda setting: embedder)
        monkeypatch.setattr(registry, "reranker", lambda setting: reranker)

    return use
