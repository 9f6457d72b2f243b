"""A server follows its store: whoever put something in, of whatever tenant, it gets its vectors."""

import time
from collections.abc import Callable
from pathlib import Path

from shirube.caller import Caller, Confidentiality
from shirube.serve.following import Following
from shirube.settings import load_settings
from shirube.store import bases
from shirube.toolsets.patents.importing import import_files as import_publications
from shirube.toolsets.registry import Application
from tests.store.records import document, put
from tests.stores import store_url

OTHER = Caller("甲社", "hanako", clearance=Confidentiality.internal, roles=frozenset({"admin"}))
WAIT = 60.0


def opened(home: Path, store: str) -> Application:
    return Application(load_settings({"SHIRUBE_HOME": str(home), "SHIRUBE_STORE": store}))


def until(holds: Callable[[], bool]) -> None:
    begun = time.monotonic()
    while not holds():
        assert time.monotonic() - begun < WAIT
        time.sleep(0.05)


def test_vectors_of_every_tenant_are_made_on_every_node(tmp_path: Path) -> None:
    store = store_url(tmp_path / "shared.db")
    writer, node = opened(tmp_path / "writer", store), opened(tmp_path / "node", store)
    with writer.workspace().database.write() as connection:
        base = bases.create_base(connection, OTHER, "規程")
        put(connection, base, document("a.md", "副業には会社の許可が必要です。"))
    (tmp_path / "rows.jsonl").write_text(
        '{"pub_id": "特開2020-000001", "title": "顔認証", "abst": "装置。"}\n'
    )
    import_publications(writer.workspace().database, OTHER, [tmp_path / "rows.jsonl"])
    following = Following(node)
    following.start()
    embedder = node.workspace().embedder
    assert embedder is not None
    space = node.knowledge().space(base.id)
    lane = node.patents().library.scope_space(OTHER.tenant, "wide")
    until(
        lambda: space.refresh() and space.vectors_current(embedder.name) and lane.has_vectors(embedder.name)
    )
    # What comes later, by another process, is followed too.
    with writer.workspace().database.write() as connection:
        put(connection, base, document("b.md", "通勤手当は月額5万円までとします。"))
    until(lambda: space.refresh() and space.count() == 2 and space.vectors_current(embedder.name))
    following.end(WAIT)
    for each in (writer, node):
        each.workspace().database.close()


def test_one_of_several_workers_makes_the_vectors(tmp_path: Path) -> None:
    application = opened(tmp_path / "home", store_url(tmp_path / "shared.db"))
    other = opened(tmp_path / "home", store_url(tmp_path / "shared.db"))
    with application.workspace().embedding() as mine, other.workspace().embedding() as theirs:
        assert (mine, theirs) == (True, False)
    with other.workspace().embedding() as theirs:
        assert theirs
    for each in (application, other):
        each.workspace().database.close()
