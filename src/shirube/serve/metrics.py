"""Figures for Prometheus: calls by operation and outcome, how long they took, requests by status. Nobody's names."""

import os

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, multiprocess

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Several workers put their figures together in this folder.
MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"
_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)


class Metrics:
    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._calls = Counter(
            "shirube_calls", "Calls of operations.", ("operation", "outcome"), registry=self._registry
        )
        self._seconds = Histogram(
            "shirube_call_seconds",
            "How long operations take.",
            ("operation",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._requests = Counter(
            "shirube_http_requests", "Requests over HTTP.", ("surface", "status"), registry=self._registry
        )

    def called(self, operation: str, outcome: str, seconds: float) -> None:
        self._calls.labels(operation, outcome).inc()
        self._seconds.labels(operation).observe(seconds)

    def requested(self, surface: str, status: int) -> None:
        self._requests.labels(surface, str(status)).inc()

    def shown(self) -> bytes:
        if os.environ.get(MULTIPROCESS):
            together = CollectorRegistry()
            multiprocess.MultiProcessCollector(together)  # type: ignore[no-untyped-call]
            return generate_latest(together)
        return generate_latest(self._registry)
