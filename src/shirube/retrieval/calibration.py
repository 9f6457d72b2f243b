"""From a re-ranker's scores to the probability that a passage answers the query."""

import json
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from shirube.models.contract import Scores

log = logging.getLogger(__name__)

# Scores nearer to 0 or 1 than this carry no more information.
_EDGE = 1e-9
_WIDEST_GAP = 5.0


class Calibration(Protocol):
    """A map into 0–1 that keeps the order of one list's scores."""

    @property
    def name(self) -> str: ...

    def __call__(self, scores: Scores) -> Scores: ...


class Uncalibrated:
    """For a re-ranker that nobody has fitted a map for."""

    name = "none"

    def __call__(self, scores: Scores) -> Scores:
        return np.clip(scores, 0.0, 1.0)


@dataclass(frozen=True)
class Standing:
    """The score itself, or, where that is more, what standing out from the rest of the list is worth.

    A question asked in other words than the text's scores low everywhere, yet its best passage is usually right when
    it is well ahead of the second. The weights are fitted with the re-ranker (`benchmarks/train_reranker.py`) or to a
    set of one's own (`shirube eval calibrate`); neither may be negative, or the order of a list would change. Scores
    that are no probabilities by themselves count for nothing but their place (`at_least_the_score` is false).
    """

    score: float
    gap: float
    bias: float
    name: str = "standing-2"
    at_least_the_score: bool = True

    def __call__(self, scores: Scores) -> Scores:
        odds = log_odds(scores)
        chance: Scores = 1 / (1 + np.exp(-(self.score * odds + self.gap * gaps(odds) + self.bias)))
        return np.maximum(scores, chance) if self.at_least_the_score else chance


def save(file: Path, reranker: str, calibration: Standing) -> None:
    """Keep a map for this re-ranker, in place of the one before."""
    kept = dict(_kept(file))
    kept[reranker] = {"score": calibration.score, "gap": calibration.gap, "bias": calibration.bias}
    kept[reranker]["name"] = calibration.name
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = file.with_suffix(".new")
    beside.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", "utf-8")
    beside.replace(file)


def saved(file: Path, reranker: str) -> Standing | None:
    """The map that was kept for this re-ranker."""
    values = _kept(file).get(reranker)
    if values is None:
        return None
    try:
        score, gap, bias = (float(values[name]) for name in ("score", "gap", "bias"))
        if not all(map(math.isfinite, (score, gap, bias))) or min(score, gap) < 0:
            raise ValueError("no weights")
        return Standing(score, gap, bias, str(values["name"]), at_least_the_score=False)
    except (KeyError, TypeError, ValueError):
        log.warning("%s holds no usable map for %s", file.name, reranker)
        return None


def _kept(file: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        log.warning("%s cannot be read: %s", file.name, error)
        return {}
    return found if isinstance(found, dict) else {}


def log_odds(scores: Scores) -> Scores:
    inside = np.clip(scores, _EDGE, 1 - _EDGE)
    odds: Scores = np.log(inside / (1 - inside))
    return odds


def gaps(odds: Scores) -> Scores:
    """How far each is behind the best, and the best ahead of the second. Equals (copies of a text) stand together."""
    distinct = np.unique(np.round(odds, 6))
    if len(distinct) < 2:
        return np.zeros(len(odds))
    second, best = distinct[-2:]
    ahead: Scores = np.where(odds >= best - 1e-6, odds - second, odds - best)
    return np.clip(ahead, -_WIDEST_GAP, _WIDEST_GAP)
