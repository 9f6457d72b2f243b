"""Patents: import, vectors, lanes and fusions on real publications, in process; writes benchmarks/patents.md."""

import json
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.datasets import data_folder
from benchmarks.machine import machine_lines
from benchmarks.measures import all_measures, percentile
from shirube.caller import LOCAL
from shirube.query.tree import Or, Term
from shirube.settings import load_settings
from shirube.text.tokenize import words
from shirube.toolsets.patents import schema
from shirube.toolsets.patents.importing import import_files
from shirube.toolsets.patents.record import read_publication
from shirube.toolsets.patents.service import PatentsService
from shirube.workspace import Workspace

REPORT = Path(__file__).with_name("patents.md")
ROWS = "patents/jplatpat-vehicle-control.jsonl"
QUERIES = (
    *(
        "車両",
        "自動運転 AND 車線",
        "(自動運転 OR 運転支援) AND NOT カメラ",
        "障害物 歩行者",
        "操舵 AND 車線変更",
    ),
    *('"リスクポテンシャル"', "ブレーキ OR 制動", "(衝突 OR 接触) AND (回避 OR 軽減)", "ACC", "居眠り"),
)
NEAR = ('*N10"車両 制御"', '*ONP5"走行 制御"', "車線*維持")
TEXTS = ("隣の車線の車両を検知して車線変更を支援する", "運転者の状態を監視して居眠りを警告する")
MEASURES = ("nDCG@10", "MRR@10", "hit@1", "recall@100")
ROUNDS, ASKED, TITLES, TOP = 3, 60, 600, 100


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        workspace = Workspace(load_settings({"SHIRUBE_HOME": home}))
        service = PatentsService(workspace)
        rows = [*_taken_in(workspace, service), *_calls(service)]
        workspace.database.close()
    quality = _quality()
    lines = [
        "# Benchmark: patents",
        "",
        *machine_lines("5,706 Japanese publications on vehicle control (J-PlatPat)"),
        "",
        f"All in process. Times of a tool are p50 / p95 of {ASKED} calls at top_k 500, the fastest of {ROUNDS} rounds.",
        "",
        "| what | figure |",
        "| --- | --- |",
        *(f"| {what} | {figure} |" for what, figure in rows),
        "",
        f"Titles as queries ({TITLES}), abstracts as documents, without the titles themselves:",
        "",
        "| lane | nDCG@10 | MRR@10 | hit@1 | recall@100 |",
        "| --- | --- | --- | --- | --- |",
        *(f"| {name} | {' | '.join(figures)} |" for name, figures in quality),
    ]
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"written: {REPORT.name}")


def _taken_in(workspace: Workspace, service: PatentsService) -> list[tuple[str, str]]:
    started = time.perf_counter()
    report = import_files(workspace.database, LOCAL, [data_folder() / ROWS])
    service.library.catch_up(LOCAL.tenant)
    imported = time.perf_counter() - started
    started = time.perf_counter()
    service.library.embed(LOCAL.tenant)
    embedded = time.perf_counter() - started
    return [
        (f"import and full text, {report.added:,} publications", f"{imported:.1f} s"),
        ("vectors of all scopes", f"{embedded:.0f} s"),
    ]


def _calls(service: PatentsService) -> list[tuple[str, str]]:
    def fulltext(query: str) -> Callable[[], schema.RunHandle]:
        return lambda: service.fulltext(LOCAL, schema.FulltextInput(query=query))

    lanes = schema.MultilaneInput.model_validate(
        {
            "lanes": [
                {"lane_name": "fulltext_recall", "query": "自動運転 OR 車線 OR 車両"},
                {"lane_name": "fulltext_precision", "query": "制御 AND 車線"},
                {"lane_name": "semantic", "text": TEXTS[0]},
            ]
        }
    )
    handles = service.multilane(LOCAL, lanes).root
    blend = schema.BlendInput.model_validate(
        {
            "runs": [{"lane": each.lane, "run_id_lane": each.run_id_lane} for each in handles],
            "target_profile": {"fi": {"B60W30/10": 1.0, "G08G1/16": 0.5}},
            "facet_terms": {"A": ["車線変更"], "B": ["操舵"]},
        }
    )
    fused = service.blend(LOCAL, blend)
    delta = schema.MutateInput(base_run_id=fused.run_id, mutate_delta=schema.MutateDelta(beta_fuse=0.9))
    return [
        ("rrf_search_fulltext_raw", _times([fulltext(query) for query in QUERIES])),
        ("rrf_search_fulltext_raw, NEAR and wildcards", _times([fulltext(query) for query in NEAR])),
        (
            "rrf_search_semantic_raw",
            _times([_call(service.semantic, schema.SemanticInput(text=text)) for text in TEXTS]),
        ),
        ("run_multilane_search, three lanes", _times([_call(service.multilane, lanes)])),
        (f"rrf_blend_frontier, {fused.total_docs:,} publications", _times([_call(service.blend, blend)])),
        ("rrf_mutate_run", _times([_call(service.mutate, delta)])),
        ("get_provenance", _times([_call(service.provenance, schema.ProvenanceInput(run_id=fused.run_id))])),
        ("peek_snippets", _times([_call(service.peek, schema.PeekInput(run_id=fused.run_id))])),
    ]


def _call(tool: Callable[..., Any], asked: Any) -> Callable[[], Any]:
    return lambda: tool(LOCAL, asked)


def _times(calls: Sequence[Callable[[], Any]]) -> str:
    rounds = []
    for _ in range(ROUNDS):
        times = []
        for at in range(ASKED):
            started = time.perf_counter()
            calls[at % len(calls)]()
            times.append((time.perf_counter() - started) * 1000)
        rounds.append(times)
    best = min(rounds, key=lambda times: percentile(times, 50))
    return f"{percentile(best, 50):.1f} / {percentile(best, 95):.1f} ms"


def _quality() -> list[tuple[str, list[str]]]:
    """How far up the abstract of each title is, in a lane of its words, by meaning, and in the fusion of both."""
    rows = [json.loads(line) for line in (data_folder() / ROWS).read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["abstract"]]
    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "abstracts.jsonl"
        path.write_text("".join(json.dumps({**row, "title": ""}) + "\n" for row in rows))
        workspace = Workspace(load_settings({"SHIRUBE_HOME": home}))
        service = PatentsService(workspace)
        import_files(workspace.database, LOCAL, [path])
        service.library.catch_up(LOCAL.tenant)
        service.library.embed(LOCAL.tenant)
        rankings: dict[str, dict[str, list[str]]] = {"full text": {}, "semantic": {}, "fusion": {}}
        qrels = {}
        for row in random.Random(1).sample(rows, TITLES):
            record = read_publication(row)
            number = record["pub_id"] or record["doc_id"]
            qrels[number] = {number: 1}
            for name, ids in _ranked(service, row["title"]).items():
                rankings[name][number] = ids
        workspace.database.close()
    measured = {name: all_measures(found, qrels) for name, found in rankings.items()}
    return [(name, [f"{figures[each]:.4f}" for each in MEASURES]) for name, figures in measured.items()]


def _ranked(service: PatentsService, title: str) -> dict[str, list[str]]:
    terms = tuple(Term((word,)) for word in dict.fromkeys(words(title)))
    query = str(Or(terms) if len(terms) > 1 else terms[0])
    by_words = service.fulltext(LOCAL, schema.FulltextInput(query=query, top_k=TOP))
    by_meaning = service.semantic(LOCAL, schema.SemanticInput(text=title, top_k=TOP))
    runs = [{"lane": each.lane, "run_id_lane": each.run_id_lane} for each in (by_words, by_meaning)]
    fused = service.blend(LOCAL, schema.BlendInput.model_validate({"runs": runs, "limit": TOP}))
    return {
        "full text": service.ids(LOCAL, by_words.run_id).root,
        "semantic": service.ids(LOCAL, by_meaning.run_id).root,
        "fusion": [each.pub_id for each in fused.ranked_docs],
    }


if __name__ == "__main__":
    main()
