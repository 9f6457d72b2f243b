"""Shirube's side of the benchmark: the searcher of `shirube eval`, with the models of a fresh install."""

from shirube.evaluate.searcher import STAGES, Searcher, Stage

__all__ = ["STAGES", "Searcher", "Stage"]
