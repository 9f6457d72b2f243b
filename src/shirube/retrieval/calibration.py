"""From a re-ranker's score to the probability that a passage answers the query."""

from typing import Protocol

import numpy as np

from shirube.models.contract import Scores


class Calibration(Protocol):
    """A monotone map into 0–1, fitted for one re-ranker."""

    @property
    def name(self) -> str: ...

    def __call__(self, scores: Scores) -> Scores: ...


class Uncalibrated:
    """For a re-ranker whose scores are probabilities already, or that nobody has fitted a map for."""

    name = "none"

    def __call__(self, scores: Scores) -> Scores:
        return np.clip(scores, 0.0, 1.0)
