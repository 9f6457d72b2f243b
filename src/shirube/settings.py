"""Settings from the environment. One place reads them; everything else is given what it needs."""

import os
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from shirube.caller import LOCAL_TENANT
from shirube.errors import InvalidInput

TOOLSETS = ("knowledge", "patents", "programs", "answers", "pages")


@dataclass(frozen=True)
class Settings:
    home: Path
    database_url: str
    embedder: str
    reranker: str
    llm: str
    docs: Path | None = None
    """The folder of pages, if there is one."""
    docs_tenant: str = LOCAL_TENANT
    """Whose pages they are; nobody else's tokens open them."""
    toolsets: frozenset[str] = frozenset()
    """What is offered to agents; everything where none is named."""
    people: bool = False
    """Whether tools that are meant for people are offered too."""

    @property
    def waits_for_models(self) -> bool:
        """Whether a call may wait for a model that runs elsewhere."""
        return any(each.startswith(("ollama:", "openai:", "bedrock:")) for each in (self.embedder, self.llm))

    @property
    def index_folder(self) -> Path:
        return self.home / "index"

    @property
    def calibrations(self) -> Path:
        """Maps that were fitted here, by re-ranker."""
        return self.home / "calibrations.json"


def load_settings(environ: Mapping[str, str] = os.environ) -> Settings:
    home = Path(environ.get("SHIRUBE_HOME") or default_home(environ)).expanduser()
    return Settings(
        home=home,
        database_url=environ.get("SHIRUBE_STORE") or default_store(home),
        embedder=environ.get("SHIRUBE_EMBEDDER") or "use",
        reranker=environ.get("SHIRUBE_RERANKER") or "learned",
        llm=environ.get("SHIRUBE_LLM") or "none",
        docs=Path(environ["SHIRUBE_DOCS"]) if environ.get("SHIRUBE_DOCS") else None,
        docs_tenant=unicodedata.normalize("NFC", environ.get("SHIRUBE_DOCS_TENANT") or LOCAL_TENANT),
        toolsets=_toolsets(environ.get("SHIRUBE_TOOLSETS", "")),
        people=environ.get("SHIRUBE_HUMAN") == "1",
    )


def _toolsets(written: str) -> frozenset[str]:
    named = frozenset(each.strip() for each in written.split(",") if each.strip())
    if unknown := sorted(named - set(TOOLSETS)):
        listed = ", ".join(TOOLSETS)
        raise InvalidInput(
            f"There is no toolset {unknown[0]}; there are {listed}",
            f"{unknown[0]} というツールセットはありません（{listed}）。",
        )
    return named


def default_store(home: Path) -> str:
    return f"sqlite:///{home / 'shirube.db'}"


def settings_with(docs: Path | None) -> Settings:
    """The settings of the environment, with this folder of pages if there is one."""
    settings = load_settings()
    return settings if docs is None else replace(settings, docs=docs)


def default_home(environ: Mapping[str, str]) -> Path:
    """The XDG data folder of the user."""
    base = environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "shirube"
