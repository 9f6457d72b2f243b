"""Models by the names that settings give them. Nothing is imported or loaded before it is used."""

from shirube.errors import InvalidInput
from shirube.models.contract import Embedder, Reranker


def embedder(setting: str) -> Embedder | None:
    """The embedder that `SHIRUBE_EMBEDDER` names; None when vectors are switched off."""
    if setting == "none":
        return None
    if setting == "use":
        from shirube.models.use import UseEmbedder

        return UseEmbedder()
    raise _unknown("SHIRUBE_EMBEDDER", setting, "use, none")


def reranker(setting: str) -> Reranker | None:
    """The re-ranker that `SHIRUBE_RERANKER` names; None when re-ranking is switched off."""
    if setting == "none":
        return None
    if setting == "coverage":
        from shirube.models.coverage import CoverageReranker

        return CoverageReranker()
    raise _unknown("SHIRUBE_RERANKER", setting, "coverage, none")


def _unknown(variable: str, setting: str, known: str) -> InvalidInput:
    return InvalidInput(
        f"{variable}={setting} is not known; use one of: {known}",
        f"{variable}={setting} は使えません。{known} のどれかにしてください。",
    )
