"""Okapi BM25 over a search's candidates as if they were all there is.

What is rare among all passages may be in every candidate, and then says nothing of which of them is meant.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shirube.models.contract import Scores

K1 = 1.5
B = 0.75
_BORDER = 0


def okapi(words: npt.NDArray[np.uint32], documents: Sequence[npt.NDArray[np.uint32]]) -> Scores:
    """The BM25 score of each document, both given as fingerprints of words, in which 0 is a border of sentences."""
    if not len(documents):
        return np.zeros(0)
    flat = np.concatenate(documents)
    ends = np.cumsum([len(each) for each in documents])
    counts = np.empty((len(words), len(documents)))
    for row, word in enumerate(words):
        counts[row] = _counts(flat == word, ends)
    lengths = np.diff(ends, prepend=0) - _counts(flat == _BORDER, ends)
    mean = lengths.mean() or 1.0
    holding = (counts > 0).sum(axis=1)
    rarity = np.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
    often = counts * (K1 + 1) / (counts + K1 * (1 - B + B * lengths / mean))
    scores: Scores = rarity @ often
    return scores


def _counts(here: npt.NDArray[np.bool_], ends: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """How many places of each document are marked; document n ends at `ends[n]`."""
    return np.bincount(np.searchsorted(ends, np.flatnonzero(here), side="right"), minlength=len(ends))
