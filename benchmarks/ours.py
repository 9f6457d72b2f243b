"""Shirube's side of the benchmark: the searcher of `shirube eval`, with the models of a fresh install."""

from shirube.evaluate.searcher import PARTS, STAGES, WITHOUT_BM25, Part, Searcher, Stage

__all__ = ["PARTS", "STAGES", "WITHOUT_BM25", "Part", "Searcher", "Stage"]
