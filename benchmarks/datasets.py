"""The benchmark's sets: where they are, and how they are put together. `shirube.evaluate.datasets` reads them."""

import os
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

# The peers' Python has no Shirube installed; what is taken from it here needs nothing that they lack.
sys.path.append(str(Path(__file__).resolve().parents[1] / "src"))

from shirube.evaluate.datasets import (
    Dataset,
    Passage,
    evenly_spaced,
    load_folder,
    read_passages,
    read_queries,
    with_queries,
    write_passages,
    write_queries,
)

__all__ = [
    "DATA_VARIABLE",
    "DataNotFound",
    "Dataset",
    "Passage",
    "data_folder",
    "evenly_spaced",
    "load",
    "load_folder",
    "read_passages",
    "read_queries",
    "unpack",
    "with_distractors",
    "with_queries",
    "write_passages",
    "write_queries",
]

DATA_VARIABLE = "SHIRUBE_DATA"
_BESIDE_THE_REPOSITORY = Path(__file__).resolve().parents[2] / "shared" / "data"


class DataNotFound(Exception):
    """The data folder, or a set in it, is not on this machine; the message says what to do."""


def data_folder() -> Path:
    """`SHIRUBE_DATA` if set, else ../shared/data beside the repository."""
    named = os.environ.get(DATA_VARIABLE)
    folder = Path(named) if named else _BESIDE_THE_REPOSITORY
    if not folder.is_dir():
        raise DataNotFound(f"no benchmark data at {folder}: set {DATA_VARIABLE} to the folder that holds qa/")
    return folder


def unpack(archive: Path, folder: Path) -> None:
    """The files of an archive of the data folder; names that lead out of `folder` are refused."""
    with tarfile.open(archive) as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(folder, filter="data")
            return
        # Before Python 3.11.4 the standard library does not check names by itself.
        inside = folder.resolve()
        for member in tar.getmembers():
            if not (member.isreg() or member.isdir()) or not (inside / member.name).resolve().is_relative_to(
                inside
            ):
                raise ValueError(f"{archive.name} holds {member.name}, which is no file of its own folder")
        tar.extractall(folder)


def load(name: str, folder: Path | None = None) -> Dataset:
    """The set `qa/NAME` of the data folder."""
    place = (folder or data_folder()) / "qa" / name
    if not place.is_dir():
        raise DataNotFound(f"no set named {name} in {place.parent}")
    return load_folder(place)


def with_distractors(dataset: Dataset, other: Dataset) -> Dataset:
    """The same questions among more passages: those of `other` are added, its questions are not."""
    known = {passage.id: passage for passage in dataset.corpus}
    for passage in other.corpus:
        if known.get(passage.id, passage) != passage:
            raise ValueError(
                f"{dataset.name} and {other.name} give the id {passage.id} to different passages"
            )
    added = tuple(passage for passage in other.corpus if passage.id not in known)
    return replace(dataset, name=f"{dataset.name}+{other.name}", corpus=dataset.corpus + added)
