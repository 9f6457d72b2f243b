"""Runs of lanes and fusions: kept for their caller, found again by their ids."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import update

from shirube.caller import Caller
from shirube.errors import NotFound
from shirube.store.clock import now
from shirube.store.database import Database
from shirube.store.runs import LIFETIME, Run, get_runs, save_run
from shirube.store.tables import runs as stored
from shirube.toolsets.patents.errors import RunNotFound, invalid

FUSION = "fusion"
_KINDS = ("fulltext", "semantic", "original_dense", FUSION)


class Runs:
    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, caller: Caller, run_id: str, *, head: bool = False) -> Run:
        """The run; `head` leaves out the stages and what came out, which are long lists."""
        [run] = self._all(caller, [run_id], head)
        return run

    def lanes(self, caller: Caller, ids: Sequence[str]) -> list[Run]:
        found = self._all(caller, ids)
        if any(run.kind == FUSION for run in found):
            raise invalid("run_id_lane", "the run of a lane", "レーンの run")
        return found

    def _all(self, caller: Caller, ids: Sequence[str], head: bool = False) -> list[Run]:
        try:
            with self._database.read() as connection:
                found = get_runs(connection, caller, ids, head=head)
        except NotFound:
            raise RunNotFound from None
        if any(run.kind not in _KINDS for run in found):
            raise RunNotFound
        return found

    def save(
        self,
        caller: Caller,
        kind: str,
        recipe: Mapping[str, Any],
        found: tuple[Sequence[str], Sequence[float]],
        stages: Sequence[Mapping[str, Any]] = (),
        parent: str | None = None,
        needed: Sequence[str] = (),
    ) -> str:
        """The id of the new run. Those it is made of are kept as long as it: tuning goes back to them."""
        run_id = f"{kind}-{uuid.uuid4().hex[:12]}"
        ids, scores = found
        results = [{"ids": list(ids), "scores": list(scores)}]
        with self._database.write() as connection:
            save_run(connection, caller, Run(run_id, kind, recipe, list(stages), results, parent))
            if needed:
                connection.execute(
                    update(stored)
                    .where(
                        stored.c.id.in_(list(needed)),
                        stored.c.tenant_id == caller.tenant,
                        stored.c.owner == caller.subject,
                    )
                    .values(expires_at=now() + LIFETIME)
                )
        return run_id


def docs(run: Run) -> list[str]:
    """The publications of a run in order."""
    ids: list[str] = run.results[0]["ids"]
    return ids


def lane_ids(run: Run) -> list[str]:
    """The lanes that a run comes of: the lineage that it has in common with all fusions of them."""
    return list(dict.fromkeys(each["run_id_lane"] for each in run.recipe.get("runs", ()))) or [run.id]
