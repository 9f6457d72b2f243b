"""Build one peer's index, ask it every question, and write what came out as JSON.

Runs with the peers' own Python, from the repository's root:
    python -m benchmarks.peers.run --peer fts5_trigram --corpus corpus.jsonl --queries queries.jsonl --out result.json
"""

import argparse
import gc
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.datasets import Passage, evenly_spaced, read_passages, read_queries
from benchmarks.measures import percentile, search_times
from benchmarks.peers.contract import PEERS, Opens, PeerResult
from benchmarks.peers.probe import probe

# Enough for caches and lazy loading; the same questions are then asked again and timed.
_WARM_UP = 20


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    queries = read_queries(options.queries)
    chosen = evenly_spaced(list(queries), options.queries_max or len(queries))
    result = measure(
        options.peer,
        tuple(read_passages(options.corpus)),
        {query: queries[query] for query in chosen},
        options.limit,
        options.cache,
    )
    options.out.write_text(json.dumps(asdict(result), ensure_ascii=False), encoding="utf-8")


def measure(
    name: str, corpus: Sequence[Passage], queries: Mapping[str, str], limit: int, cache: Path | None = None
) -> PeerResult:
    if not corpus or not queries:
        raise ValueError("a peer is measured on at least one passage and one question")
    open_peer: Opens = import_module(f"benchmarks.peers.{name}").open_peer
    with TemporaryDirectory() as place, TemporaryDirectory() as probed:
        peer = open_peer(Path(place), cache)
        before = _resident()
        started = perf_counter()
        peer.build(corpus)
        seconds = perf_counter() - started + peer.cached_seconds
        for text in evenly_spaced(list(queries.values()), _WARM_UP):
            peer.search(text, limit)
        rankings: dict[str, list[str]] = {}
        for query, text in queries.items():
            rankings[query] = peer.search(text, limit)
        latencies = search_times(lambda text: peer.search(text, limit), list(queries.values()))
        after = _resident()
        return PeerResult(
            peer=name,
            version=peer.about.version,
            note=peer.about.note,
            passages=len(corpus),
            seconds_to_build=seconds,
            passages_per_second=len(corpus) / seconds,
            bytes_on_disk=sum(file.stat().st_size for file in Path(place).rglob("*") if file.is_file()),
            keeps_text=peer.about.keeps_text,
            resident_before=before,
            resident_growth=None if before is None or after is None else after - before,
            latency_ms_p50=percentile(latencies, 50),
            latency_ms_p95=percentile(latencies, 95),
            probe=probe(open_peer(Path(probed), None)),
            rankings=rankings,
        )


def _resident() -> int | None:
    """Bytes of this process in memory, where the system has /proc."""
    gc.collect()
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers.run", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--peer", choices=PEERS, required=True)
    parser.add_argument("--corpus", type=Path, required=True, help="passages, JSON lines of _id, title, text")
    parser.add_argument("--queries", type=Path, required=True, help="questions, JSON lines of _id, text")
    parser.add_argument("--out", type=Path, required=True, help="file for the result")
    parser.add_argument("--limit", type=int, default=100, help="results asked for each question")
    parser.add_argument("--queries-max", type=int, help="ask only so many questions, evenly spaced")
    parser.add_argument("--cache", type=Path, help="folder where vectors are kept from run to run")
    return parser


if __name__ == "__main__":
    main()
