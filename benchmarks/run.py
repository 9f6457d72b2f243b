"""`make bench`: quality, speed, memory and size of Shirube and its peers in one run; writes benchmarks/report.md.

python -m benchmarks.run [--quick] [--without laws,peers]
"""

import argparse
import contextlib
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.datasets import Dataset, Passage, load, with_distractors, with_queries
from benchmarks.laws import LawsResult, measure_laws
from benchmarks.machine import machine_lines, resident
from benchmarks.measures import all_measures, percentile
from benchmarks.ours import STAGES, Searcher, Stage
from benchmarks.peers.contract import PEERS, NotRun, PeerResult
from benchmarks.peers.environment import run_peer
from benchmarks.startup import StartupResult, measure_startup

REPORT = Path(__file__).with_name("report.md")
LIMIT = 100
MEASURES = ("nDCG@10", "MRR@10", "hit@1", "recall@10", "recall@100")


@dataclass
class OurResult:
    """One set, by stage: rankings' figures and latencies; and what building cost."""

    passages: int
    figures: dict[Stage, Mapping[str, float]] = field(default_factory=dict)
    latencies: dict[Stage, list[float]] = field(default_factory=dict)
    store_per_second: float = 0.0
    index_per_second: float = 0.0
    embed_per_second: float = 0.0
    bytes_store: float = 0.0
    bytes_text: float = 0.0
    bytes_vectors: float = 0.0
    resident_growth: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few questions, no peers, no laws")
    parser.add_argument("--without", default="", help="parts to leave out: peers, laws, startup")
    asked = parser.parse_args()
    left_out = set(asked.without.split(",")) | ({"peers", "laws"} if asked.quick else set())
    most = 100 if asked.quick else 2000
    dev, train = load("jaquad-dev"), load("jaquad-train")
    sets = [
        with_queries(dev, most),
        with_queries(with_distractors(dev, train), most),
        with_queries(with_distractors(train, dev), most),
    ]
    started = time.time()
    lines = ["# Benchmark", "", *machine_lines(), ""]
    lines += _quality(sets, peers="peers" not in left_out)
    lines += _speed_at_13k(dev, train, most)
    if "startup" not in left_out:
        lines += _startup(measure_startup(10_000))
    if "laws" not in left_out:
        lines += _laws(measure_laws())
    lines += ["", f"The whole run took {(time.time() - started) / 60:.0f} minutes."]
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"written: {REPORT.name}")


def _quality(sets: Sequence[Dataset], *, peers: bool) -> list[str]:
    lines = ["## Quality by stage, and peers on the same questions", ""]
    for data in sets:
        print(f"quality: {data.name}")
        ours = measure(data)
        rows = [
            [f"**Shirube** {stage}", *_figures(ours.figures[stage]), *_latency(ours.latencies[stage])]
            for stage in STAGES
        ]
        costs = [
            [
                "**Shirube**",
                f"{ours.index_per_second:,.0f}",
                f"{ours.store_per_second:,.0f}",
                f"{ours.embed_per_second:,.0f}",
                f"{ours.bytes_text + ours.bytes_store + ours.bytes_vectors:,.0f}",
                _mebibytes(ours.resident_growth),
                "",
            ]
        ]
        notes = []
        for name in PEERS if peers else ():
            print(f"quality: {data.name}: {name}")
            result = run_peer(name, data)
            if isinstance(result, NotRun):
                notes.append(f"- {name}: not run: {result.reason}")
                continue
            rows.append(_peer_row(result, data))
            costs.append(_peer_costs(result))
            notes.append(f"- {name} {result.version}: {result.note}")
        lines += [f"### {data.name}: {len(data.corpus):,} passages, {len(data.queries):,} questions", ""]
        lines += _table(["engine, stage", *MEASURES, "p50 ms", "p95 ms"], rows)
        lines += [
            "",
            "Latency of the stages sparse, dense and whole is that of the stage with all it needs before it.",
            "",
        ]
        heads = [
            "engine",
            "indexed/s",
            "stored/s",
            "embedded/s",
            "bytes/passage",
            "memory growth",
            "2-character words",
        ]
        lines += [*_table(heads, costs), "", *notes, ""]
        lines += [
            f"Shirube's bytes a passage: {ours.bytes_store:,.0f} database (document text, passage, log), "
            f"{ours.bytes_text:,.0f} full text, {ours.bytes_vectors:,.0f} vectors.",
            "",
        ]
    return lines


def measure(data: Dataset) -> OurResult:
    """Build a knowledge base from the set and ask every question at every stage, one by one, warm."""
    before = resident()
    with tempfile.TemporaryDirectory() as folder:
        searcher = Searcher(Path(folder), data.corpus)
        count = len(data.corpus)
        result = OurResult(
            passages=count,
            store_per_second=count / searcher.seconds_to_store,
            index_per_second=count / searcher.seconds_to_index,
            embed_per_second=count / searcher.seconds_to_embed,
        )
        for query in list(data.queries.values())[:20]:
            searcher.search(query, LIMIT)
        for stage in STAGES:
            rankings, latencies = {}, []
            for name, query in data.queries.items():
                started = time.perf_counter()
                rankings[name] = searcher.search(query, LIMIT, stage)
                latencies.append((time.perf_counter() - started) * 1000)
            result.figures[stage] = all_measures(rankings, data.qrels)
            result.latencies[stage] = latencies
        result.resident_growth = resident() - before
        searcher.close()
        result.bytes_store = searcher.bytes_of("shirube.db") / count
        result.bytes_text = searcher.bytes_of("text-") / count
        result.bytes_vectors = searcher.bytes_of("vectors-") / count
    return result


def _speed_at_13k(dev: Dataset, train: Dataset, most: int) -> list[str]:
    """JaQuAD's passages and the small-business cases together are 13 k."""
    print("speed at 13 k")
    corpus = list(with_distractors(dev, train).corpus)
    with contextlib.suppress(Exception):
        corpus += [
            Passage(f"case-{each.id}", each.title, each.text) for each in load("mirasapo-cases").corpus
        ]
    questions = with_queries(dev, min(most, 1000)).queries
    result = measure(replace(dev, name="13k", corpus=tuple(corpus), queries=questions, qrels=dev.qrels))
    rows = [[stage, *_latency(result.latencies[stage])] for stage in STAGES]
    return [
        f"## Speed in process at {result.passages:,} passages",
        "",
        *_table(["stage", "p50 ms", "p95 ms"], rows),
        "",
        f"Indexed without vectors: {result.index_per_second:,.0f} passages/s (tokenised, written and committed). "
        f"Stored: {result.store_per_second:,.0f} documents/s, each a transaction of its own. "
        f"Embedded: {result.embed_per_second:,.0f} passages/s.",
        "",
    ]


def _startup(result: StartupResult) -> list[str]:
    return [
        f"## MCP over stdio with {result.passages:,} passages indexed",
        "",
        *_table(
            ["what", "best s", "median s"],
            [
                [
                    "from spawn to the answer of tools/list",
                    f"{min(result.listed):.2f}",
                    _median(result.listed),
                ],
                [
                    "the first search after that",
                    f"{min(result.first_search):.2f}",
                    _median(result.first_search),
                ],
                ["a later search", f"{min(result.later_search):.3f}", _median(result.later_search, 3)],
                ["from the end of input to the exit", f"{min(result.ended):.2f}", _median(result.ended)],
            ],
        ),
        "",
    ]


def _laws(result: LawsResult) -> list[str]:
    return [
        "## The statute book as one knowledge base",
        "",
        f"{result.files:,} files, {result.characters / 1e6:.0f} M characters, {result.passages:,} passages.",
        "",
        *_table(
            ["what", "figure"],
            [
                ["`shirube kb add`, whole, without vectors", f"{result.seconds:.0f} s"],
                ["passages per second, from files to searchable", f"{result.passages / result.seconds:,.0f}"],
                ["peak memory of all its processes", _mebibytes(result.peak)],
                ["database on disk", _mebibytes(result.bytes_store)],
                ["full text on disk", _mebibytes(result.bytes_text)],
                ["search p50 / p95, in process", f"{result.p50:.1f} / {result.p95:.1f} ms"],
                ["full text alone p50 / p95", f"{result.sparse_p50:.1f} / {result.sparse_p95:.1f} ms"],
                ["summary p50", f"{result.summary_p50:.2f} ms"],
            ],
        ),
    ]


def _peer_row(result: PeerResult, data: Dataset) -> list[str]:
    figures = all_measures(result.rankings, data.qrels)
    return [result.peer, *_figures(figures), f"{result.latency_ms_p50:.2f}", f"{result.latency_ms_p95:.2f}"]


def _peer_costs(result: PeerResult) -> list[str]:
    growth = "" if result.resident_growth is None else _mebibytes(result.resident_growth)
    size = f"{result.bytes_on_disk / result.passages:,.0f}" + ("" if result.keeps_text else " (no text kept)")
    found = f"{result.probe.found} of {result.probe.asked}"
    return [result.peer, f"{result.passages_per_second:,.0f}", "", "", size, growth, found]


def _figures(figures: Mapping[str, float]) -> list[str]:
    return [f"{figures[name]:.4f}" for name in MEASURES]


def _latency(latencies: Sequence[float]) -> list[str]:
    return [f"{percentile(latencies, 50):.2f}", f"{percentile(latencies, 95):.2f}"]


def _median(values: Sequence[float], digits: int = 2) -> str:
    return f"{percentile(values, 50):.{digits}f}"


def _mebibytes(size: float) -> str:
    return f"{size / 1024 / 1024:,.0f} MiB"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        "| " + " | ".join(heads) + " |",
        "|" + " --- |" * len(heads),
        *("| " + " | ".join(row) + " |" for row in rows),
    ]


if __name__ == "__main__":
    main()
