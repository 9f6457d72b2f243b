"""`make bench`: quality, speed, memory and size of Shirube and its peers in one run; writes benchmarks/report.md.

`make bench ARGS=--quick` for a first look, `ARGS="--without peers,startup"` to leave parts out.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from benchmarks.datasets import Dataset, Passage, load, with_distractors, with_queries
from benchmarks.machine import machine_lines, resident
from benchmarks.measures import ROUNDS, all_measures, percentile, search_times
from benchmarks.ours import PARTS, STAGES, WITHOUT_BM25, Part, Searcher, Stage
from benchmarks.peers.contract import PEERS, NotRun, PeerResult
from benchmarks.peers.environment import run_peer
from benchmarks.peers.probe import SENTENCES, WORDS
from benchmarks.startup import StartupResult, measure_startup

REPORT = Path(__file__).with_name("report.md")
OTHERS = ("lohelp-ja-index", "mirasapo-cases", "lohelp-xl-jatitle-enpage")
DATA = "JaQuAD (CC BY-SA 3.0), small-business cases (mirasapo)"
LIMIT = 100
# So many queries of a set tell what each part of the pipeline takes.
TIMED = 300
REBUILDS = 2
MANY = 10_000
MEASURES = ("nDCG@10", "MRR@10", "hit@1", "recall@10", "recall@100")


@dataclass
class OurResult:
    """One set, by stage: rankings and latencies; and what building cost."""

    passages: int
    rankings: dict[Stage, dict[str, list[str]]] = field(default_factory=dict)
    latencies: dict[Stage, list[float]] = field(default_factory=dict)
    without: dict[Part, dict[str, list[str]]] = field(default_factory=dict)
    parts_ms: dict[str, list[float]] = field(default_factory=dict)
    store_per_second: float = 0.0
    index_per_second: float = 0.0
    embed_per_second: float = 0.0
    bytes_store: float = 0.0
    bytes_text: float = 0.0
    bytes_vectors: float = 0.0
    resident_growth: int = 0
    probe: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few questions, no peers")
    parser.add_argument("--without", default="", help="parts to leave out: peers, startup")
    parser.add_argument("--queries", type=int, default=0, help="ask at most so many of each set (0: all)")
    asked = parser.parse_args()
    left_out = set(asked.without.split(",")) | ({"peers"} if asked.quick else set())
    most = 100 if asked.quick else 1000
    dev, train = load("jaquad-dev"), load("jaquad-train")
    everything = with_distractors(_together(with_queries(dev, most), with_queries(train, most)), _cases())
    started = time.time()
    lines = ["# Benchmark", "", *machine_lines(DATA), ""]
    lines += [
        f"Times of a search are those of the fastest of {ROUNDS} rounds: a shared machine's speed wanders. On sets of "
        f"more than {MANY:,} passages Shirube is timed again after each peer, and the fastest counts.",
        "",
    ]
    among_all = replace(with_distractors(dev, train), name="jaquad-dev among all of JaQuAD")
    sets = [among_all, *(load(name) for name in OTHERS)]
    alone = replace(dev, name="jaquad-dev among its own")
    fewer = most if asked.quick else asked.queries
    if fewer:
        lines += [f"Of each set {fewer:,} queries were asked, spread over all of it.", ""]
        sets, alone = [with_queries(each, fewer) for each in sets], with_queries(alone, fewer)
    lines += _quality([*sets, alone, everything], judged=len(sets), peers="peers" not in left_out)
    if "startup" not in left_out:
        lines += _startup(measure_startup(10_000))
    _write([*lines, "", f"The whole run took {(time.time() - started) / 60:.0f} minutes."])


def _write(lines: Sequence[str]) -> None:
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"written: {REPORT.name}")


def _together(dev: Dataset, train: Dataset) -> Dataset:
    """The questions of both among the passages of both."""
    joined = with_distractors(dev, train)
    questions = {**dev.queries, **train.queries}
    return replace(joined, name="jaquad", queries=questions, qrels={**dev.qrels, **train.qrels})


def _cases() -> Dataset:
    """Small-business cases as more passages: with JaQuAD's they are 13 k."""
    cases = load("mirasapo-cases")
    named = tuple(replace(each, id=f"case-{each.id}") for each in cases.corpus)
    return replace(cases, corpus=named)


def _quality(sets: Sequence[Dataset], *, judged: int, peers: bool) -> list[str]:
    """The first `judged` sets are also asked with parts of the pipeline left out."""
    lines = ["## Quality by stage, and peers on the same questions", ""]
    lacking: dict[str, dict[str, float]] = {}
    for number, data in enumerate(sets):
        print(f"quality: {data.name}")
        results = []
        notes = []
        with measured(data, without=number < judged) as (ours, time_again):
            for name in PEERS if peers else ():
                print(f"quality: {data.name}: {name}")
                result = run_peer(name, data)
                if isinstance(result, NotRun):
                    notes.append(f"- {name}: not run: {result.reason}")
                else:
                    results.append(result)
                    notes.append(f"- {name} {result.version}: {result.note}")
                if len(data.corpus) > MANY:
                    time_again()
        if ours.without:
            lacking[data.name] = _lacking(ours, data)
        lines += [f"### {data.name}: {len(data.corpus):,} passages", ""]
        for part, questions in _parts(data).items():
            rows = [
                [f"**Shirube** {stage}", *_figures(_of(ours.rankings[stage], questions), data)]
                for stage in STAGES
            ]
            rows += [[each.peer, *_figures(_of(each.rankings, questions), data)] for each in results]
            lines += [f"{part}, {len(questions):,} questions:", ""]
            lines += [*_table(["engine, stage", *MEASURES], rows), ""]
        lines += _costs(ours, results)
        lines += [*notes, ""]
    return lines + _what_parts_add(lacking)


def _lacking(ours: OurResult, data: Dataset) -> dict[str, float]:
    """nDCG@10 of the whole and without each part, on the same queries."""
    asked = list(next(iter(ours.without.values())))
    rankings: dict[str, Mapping[str, Sequence[str]]] = {"nothing": _of(ours.rankings["whole"], asked)}
    rankings |= {str(part): found for part, found in ours.without.items()}
    return {part: all_measures(found, data.qrels)["nDCG@10"] for part, found in rankings.items()}


def _what_parts_add(lacking: Mapping[str, Mapping[str, float]]) -> list[str]:
    rows = []
    for part in ("nothing", *PARTS):
        figures = [held[part] for held in lacking.values()]
        changes = [held[part] - held["nothing"] for held in lacking.values()]
        figures.append(sum(figures) / len(figures))
        changes.append(sum(changes) / len(changes))
        shown = [f"{figure:.4f} ({change:+.4f})" for figure, change in zip(figures, changes, strict=True)]
        rows.append([part, *shown])
    return [
        "## What each part adds",
        "",
        "nDCG@10 of the pipeline with a part left out, on the same queries; a part that did harm would show a plus. "
        "Without the dense lane vectors still help to rank what full text finds.",
        "",
        *_table(["left out", *lacking, "mean"], rows),
        "",
    ]


def _parts(data: Dataset) -> dict[str, list[str]]:
    """Questions by where they come from: JaQuAD's ids begin with de (development) or tr (training)."""
    parts: dict[str, list[str]] = {}
    for name in data.queries:
        part = {"de-": "jaquad-dev", "tr-": "jaquad-train"}.get(name[:3], data.name)
        parts.setdefault(part, []).append(name)
    return parts


def _of(rankings: Mapping[str, Sequence[str]], questions: Sequence[str]) -> dict[str, Sequence[str]]:
    return {name: rankings[name] for name in questions}


def _costs(ours: OurResult, peers: Sequence[PeerResult]) -> list[str]:
    rows = [[f"**Shirube** {stage}", *_latency(ours.latencies[stage]), "", "", "", ""] for stage in STAGES]
    size = ours.bytes_text + ours.bytes_store + ours.bytes_vectors
    rows[-1][3:] = [
        f"{ours.index_per_second:,.0f}",
        f"{size:,.0f}",
        _mebibytes(ours.resident_growth),
        ours.probe,
    ]
    for peer in peers:
        growth = "" if peer.resident_growth is None else _mebibytes(peer.resident_growth)
        held = f"{peer.bytes_on_disk / peer.passages:,.0f}" + ("" if peer.keeps_text else " (no text kept)")
        found = f"{peer.probe.found} of {peer.probe.asked}"
        times = [f"{peer.latency_ms_p50:.2f}", f"{peer.latency_ms_p95:.2f}"]
        rows.append([peer.peer, *times, f"{peer.passages_per_second:,.0f}", held, growth, found])
    heads = [
        "engine, stage",
        "p50 ms",
        "p95 ms",
        "indexed/s",
        "bytes/passage",
        "memory growth",
        "2-character words",
    ]
    return [
        *_table(heads, rows),
        "",
        f"Shirube indexes {ours.index_per_second:,.0f} passages/s without vectors (tokenised, written, committed; "
        f"the fastest of {REBUILDS + 1} builds), "
        f"stores {ours.store_per_second:,.0f} documents/s (a transaction each) and embeds "
        f"{ours.embed_per_second:,.0f} passages/s. Bytes a passage: {ours.bytes_store:,.0f} database (document, "
        f"passage, change log), {ours.bytes_text:,.0f} full text, {ours.bytes_vectors:,.0f} vectors. Inside the whole, "
        "p50 / p95 ms: "
        + ", ".join(f"{name} {' / '.join(_latency(ms))}" for name, ms in ours.parts_ms.items())
        + ".",
        "",
    ]


@contextmanager
def measured(data: Dataset, *, without: bool = False) -> Iterator[tuple[OurResult, Callable[[], None]]]:
    """Build a knowledge base from the set and ask every question at every stage, one by one, warm.

    Gives the figures, and what times everything once more and keeps the faster ones.
    """
    before = resident()
    with tempfile.TemporaryDirectory() as folder:
        searcher = Searcher(Path(folder), data.corpus)
        count = len(data.corpus)
        result = OurResult(
            passages=count,
            store_per_second=count / searcher.seconds_to_store,
            index_per_second=count / min(searcher.seconds_to_index, *_rebuilt(searcher, REBUILDS)),
            embed_per_second=count / searcher.seconds_to_embed,
        )
        for query in list(data.queries.values())[:20]:
            searcher.search(query, LIMIT)
        for stage in STAGES:
            rankings: dict[str, list[str]] = {}
            for name, query in data.queries.items():
                rankings[name] = searcher.search(query, LIMIT, stage)
            result.rankings[stage] = rankings
        for stage in STAGES:
            ask = partial(searcher.search, limit=LIMIT, stage=stage)
            result.latencies[stage] = search_times(ask, list(data.queries.values()))
        for query in list(data.queries.values())[:: max(1, len(data.queries) // TIMED)][:TIMED]:
            for stage_done in searcher.rank(query).stages:
                result.parts_ms.setdefault(stage_done.name, []).append(stage_done.ms)
            for stage_done in searcher.rank(query, recipe=WITHOUT_BM25).stages:
                if stage_done.name == "rerank":
                    result.parts_ms.setdefault("rerank of 100", []).append(stage_done.ms)
        for part in PARTS if without else ():
            result.without[part] = {
                name: searcher.search_without(part, query, LIMIT) for name, query in data.queries.items()
            }
        result.resident_growth = resident() - before
        result.probe = _probe(Path(folder) / "probe")
        result.bytes_store = searcher.bytes_of("shirube.db") / count
        result.bytes_text = searcher.bytes_of("text-") / count
        result.bytes_vectors = searcher.bytes_of("vectors-") / count

        def time_again() -> None:
            result.index_per_second = max(result.index_per_second, count / min(_rebuilt(searcher, 1)))
            for stage in STAGES:
                ask = partial(searcher.search, limit=LIMIT, stage=stage)
                again = search_times(ask, list(data.queries.values()), rounds=2)
                if percentile(again, 50) < percentile(result.latencies[stage], 50):
                    result.latencies[stage] = again

        yield result, time_again
        searcher.close()


def _rebuilt(searcher: Searcher, times: int) -> Iterator[float]:
    """The seconds that each of so many new builds takes."""
    for _ in range(times):
        started = time.perf_counter()
        searcher.space.rebuild()
        yield time.perf_counter() - started


def _probe(folder: Path) -> str:
    """The peers' two-character words against the same sentences."""
    corpus = [Passage(str(number), "", sentence) for number, sentence in enumerate(SENTENCES)]
    searcher = Searcher(folder, corpus, vectors=False)
    answers = {word: searcher.search(word, 1) for word in WORDS}
    searcher.close()
    found = sum(bool(answer) and word in SENTENCES[int(answer[0])] for word, answer in answers.items())
    return f"{found} of {len(WORDS)}"


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


def _figures(rankings: Mapping[str, Sequence[str]], data: Dataset) -> list[str]:
    figures = all_measures(rankings, data.qrels)
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
