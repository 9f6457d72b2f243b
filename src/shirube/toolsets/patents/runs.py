"""Runs of lanes and fusions: kept for their caller, found again by their ids."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from shirube.caller import Caller
from shirube.errors import NotFound
from shirube.store.database import Database
from shirube.store.runs import Run, get_run, save_run
from shirube.toolsets.patents.errors import RunNotFound, invalid

FUSION = "fusion"
_KINDS = ("fulltext", "semantic", "original_dense", FUSION)


class Runs:
    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, caller: Caller, run_id: str) -> Run:
        try:
            with self._database.read() as connection:
                run = get_run(connection, caller, run_id)
        except NotFound:
            raise RunNotFound from None
        if run.kind not in _KINDS:
            raise RunNotFound
        return run

    def save(
        self,
        caller: Caller,
        kind: str,
        recipe: Mapping[str, Any],
        found: tuple[Sequence[str], Sequence[float]],
        stages: Sequence[Mapping[str, Any]] = (),
        parent: str | None = None,
    ) -> str:
        run_id = f"{kind}-{uuid.uuid4().hex[:12]}"
        ids, scores = found
        results = [{"ids": list(ids), "scores": list(scores)}]
        with self._database.write() as connection:
            save_run(connection, caller, Run(run_id, kind, recipe, list(stages), results, parent))
        return run_id

    def lane(self, caller: Caller, run_id: str) -> Run:
        run = self.get(caller, run_id)
        if run.kind == FUSION:
            raise invalid("run_id_lane", "the run of a lane", "レーンの run")
        return run


def docs(run: Run) -> list[str]:
    """The publications of a run in order."""
    ids: list[str] = run.results[0]["ids"]
    return ids
