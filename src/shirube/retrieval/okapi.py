"""Okapi BM25 over a search's candidates as if they were all there is.

What is rare among all passages may be in every candidate, and then says nothing of which of them is meant.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shirube.models.contract import Scores

K1 = 1.5
B = 0.75
_LOW = 0xFFFF


def okapi(words: npt.NDArray[np.uint32], documents: Sequence[npt.NDArray[np.uint32]]) -> tuple[Scores, float]:
    """The BM25 score of each document, both given as fingerprints of words; borders of sentences count as words.

    Also how much of the query the document that covers most of it holds, by how rare its words are.
    """
    if not len(documents):
        return np.zeros(0), 0.0
    flat = np.concatenate(documents)
    ends = np.cumsum([len(each) for each in documents])
    counts = _counts(words, flat, ends)
    lengths = np.diff(ends, prepend=0)
    held = (counts > 0).astype(float)
    holding = held.sum(axis=1)
    rarity = np.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
    often = counts * (K1 + 1) / (counts + K1 * (1 - B + B * lengths / (lengths.mean() or 1.0)))
    scores: Scores = rarity @ often
    covered = (rarity @ held).max() / rarity.sum() if len(words) else 0.0
    return scores, float(covered)


def _counts(
    words: npt.NDArray[np.uint32], flat: npt.NDArray[np.uint32], ends: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """How often each document has each word; document n ends at `ends[n]` of `flat`.

    Most places hold none of the words: a look at half of a fingerprint rules them out.
    """
    wanted = np.zeros(_LOW + 1, bool)
    wanted[words & _LOW] = True
    places = np.flatnonzero(np.take(wanted, flat.astype(np.uint16)))
    found = np.take(flat, places)
    documents = np.searchsorted(ends, places, side="right")
    return np.array([np.bincount(documents[found == word], minlength=len(ends)) for word in words]).reshape(
        len(words), len(ends)
    )
