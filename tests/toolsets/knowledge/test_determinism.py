"""The same query on the same data gives the same order and scores, in any process and whatever was put in first."""

import json
import os
import subprocess
import sys
from pathlib import Path

QUERIES = [
    "リモートワーク手当の金額は？",
    "副業",
    "副業 許可 条件",
    "有給休暇は何日もらえますか",
    "How do I apply for paid leave?",
    "出張の日当と宿泊費の上限、領収書が要る場合",
    "パスワードを忘れたときの手続き",
    "ｻｰﾊﾞのバックアップ",
]
# Builds a base from the sample company in an order of its own, vectors and all, and prints what it finds.
SCRIPT = """
import asyncio, json, random, sys
from shirube.caller import LOCAL
from shirube.ingest.sync import Options, add_files, find_files
from shirube.settings import load_settings
from shirube.store import bases
from shirube.toolsets.knowledge.service import KnowledgeService
from shirube.toolsets.registry import Application

application = Application(load_settings())
workspace = application.workspace()
with workspace.database.write() as connection:
    base = bases.create_base(connection, LOCAL, "規程")
files = list(find_files([SAMPLES]))
random.Random(SEED).shuffle(files)
service = KnowledgeService(workspace)
half = len(files) // 2
for part in (files[:half], files[half:]):
    add_files(workspace.database, LOCAL, base, part, Options())
    service.space(base.id).catch_up()
    service.complete_vectors()
for query in QUERIES:
    asked = {"query": query, "knowledge_base_id": base.id, "max_results": 20, "threshold": 0.0}
    body = asyncio.run(application.registry.call("search_documents", LOCAL, asked)).body
    shown = []
    for result in body["results"]:
        data = result["metadata"]
        scores = [data[name] for name in data if name.endswith("_score")]
        shown.append([data["source"]["file"], data["chunk_index"], result["score"], *scores])
    print(json.dumps(shown, ensure_ascii=False))
"""


def answers(home: Path, seed: int) -> list[object]:
    import shirube

    samples = Path(shirube.__file__).parent / "samples" / "company"
    given = (
        f"from pathlib import Path\nSAMPLES = Path({str(samples)!r})\nSEED = {seed}\nQUERIES = {QUERIES!r}\n"
    )
    environ = {
        **os.environ,
        "SHIRUBE_HOME": str(home),
        "SHIRUBE_EMBEDDER": "use",
        "PYTHONHASHSEED": str(seed),
    }
    run = subprocess.run(
        [sys.executable, "-c", given + SCRIPT], env=environ, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_processes_with_shuffled_insertion_agree(tmp_path: Path) -> None:
    first, *others = (answers(tmp_path / str(seed), seed) for seed in (1, 2, 3))
    assert len(first) == len(QUERIES)
    assert all(first)
    for other in others:
        for query, one, same in zip(QUERIES, first, other, strict=True):
            assert one == same, query
