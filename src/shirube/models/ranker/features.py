"""What the re-ranker looks at: one row a candidate, one column a feature, all candidates at once.

Words come as the index's fingerprints, vectors as cosines; nothing is tokenised here. *Weight* is the rarity of a word
(or of a pair of characters) divided by that of the whole question, so that what is covered of it is a share of 1.
"""

import re

import numpy as np
import numpy.typing as npt

from shirube.models.contract import Candidates, Question, Scores
from shirube.models.ranker.matches import Found, Line, match_kanji, match_pairs, match_words

NAMES = (
    "covered",  # share of the question's weight found in the passage
    "covered_in_sentence",  # the same in its best sentence
    "covered_in_two",  # and in its best two sentences that follow each other
    "covered_by_title",
    "covered_by_both",  # by passage and title together
    "title_used",  # share of the title's words that the question has
    "rarest",  # the rarest word: 1 in the title, 0.5 in the passage alone
    "pairs",  # share of the question's neighbouring words that are neighbours in the passage
    "longest_run",  # weight of the longest stretch of neighbouring words
    "bm25",  # Okapi over the candidates' words ÷ what a perfect passage would get
    "bm25_to_best",
    "pairs_covered",  # the same by pairs of characters: share of the weight found in the passage,
    "pairs_in_sentence",  # in its best sentence,
    "pairs_in_two",  # in its best two,
    "pairs_by_title",
    "pairs_by_both",
    "pairs_run",  # weight of the longest common stretch of writing
    "pairs_bm25",
    "pairs_bm25_to_best",
    "pairs_to_best",
    "length",  # of the passage: its logarithm, from the mean of the list
    "bm25_unnormed",  # Okapi as if length told nothing,
    "bm25_normed",  # and as if it told all
    "pairs_unnormed",
    "pairs_normed",
    "pairs_of_few",  # share of the weight that at most three candidates have
    "covered_here",  # the same with a word's rarity among the candidates themselves
    "sentence_here",
    "bm25_here",
    "pairs_covered_here",
    "pairs_sentence_here",
    "pairs_bm25_here",
    "kanji",  # and by single kanji
    "kanji_in_sentence",
    "kanji_in_two",
    "kanji_bm25",
    "number_sentence",  # best sentence with a digit, for a question that asks for a date or a number
    "sparse_to_best",  # score of the full-text lane ÷ its best
    "sparse_rank",  # 1 / rank
    "covered_to_best",
    "whole",  # cosine to the whole passage
    "window",  # to its best window
    "title",  # to its title
    "clauses",  # mean over the clauses of the query: how near each comes to a window of its own
    "weakest_clause",
    "whole_to_best",
    "window_to_best",
    "title_to_best",
    "dense_rank",
    "whole_alone",  # the cosines again, as far as the question's words are found nowhere
    "window_alone",
    "title_alone",
    "question",  # 1 for a question, 0 for keywords or a title
    "words",  # of the question: how many
    "rarity",  # how rare they are in the middle
    "best_covered",  # of the list: how well the best candidate covers the question
    "best_title",
    "best_window",
    "window_lead",  # how far the best window is above the middle of the list
    "matched",  # of the question's words, those that occur anywhere among the candidates
    "foreign",  # share of the candidates that are not in the language of the question
)
OF_VECTORS = (
    *("whole", "window", "title", "whole_to_best", "window_to_best", "title_to_best"),
    *("clauses", "weakest_clause", "dense_rank", "best_window", "window_lead"),
)
_K1, _B = 1.2, 0.75
_FEW = 3
_ASKS_NUMBER = re.compile(
    r"いつ|何[年月日時分秒人個回度歳才代番円台本枚点位％%キメヶか箇世曜]|いくつ|幾つ|いくら|ど(?:れ|の)くらい|どれほど"
    r"|金額|料金|人数|日数|回数|期限|年齢|割合"
)


# 副業の規定を教えて asks for nothing but what keywords do.
_ASKS = re.compile(
    r"[?？]\s*$|か[。．.]?\s*$|何|誰|だれ|どこ|いつ|なぜ|どう|どの|どれ|どちら|\b(?:what|who|when|how)\b",
    re.I,
)
_JAPANESE = re.compile(r"[ぁ-ゖァ-ヺ一-鿿]")
# So much of a passage tells its language.
_LOOKED_AT = 200


def foreign_to(question: Question, candidates: Candidates) -> npt.NDArray[np.bool_]:
    """Which candidates are not in the language of the question: Japanese, or another."""
    japanese = bool(_JAPANESE.search(question.text))
    return np.array(
        [bool(_JAPANESE.search(text[:_LOOKED_AT])) != japanese for text in candidates.texts], bool
    )


def features(question: Question, candidates: Candidates) -> Scores:
    count = len(candidates)
    if not count:
        return np.zeros((0, len(NAMES)))
    table = dict.fromkeys(NAMES, np.zeros(count))
    line = Line.of([*candidates.texts, *candidates.title_texts])
    if question.rarity.sum() > 0:
        table |= _by_words(question, candidates)
    if question.pair_rarity.sum() > 0:
        table |= _by_pairs(question, count, line)
    table |= _by_kanji(question, count, line)
    table["sparse_to_best"] = _to_best(np.nan_to_num(candidates.sparse))
    table["sparse_rank"] = _ranks(candidates.sparse)
    table |= _dense(candidates)
    alone = 1 - table["best_covered"]
    table |= {f"{name}_alone": table[name] * alone for name in ("whole", "window", "title")}
    table["foreign"] = np.full(count, np.mean(foreign_to(question, candidates)))
    table["question"] = np.full(count, float(bool(_ASKS.search(question.text))))
    table["words"] = np.full(count, float(min(len(question.words), 20)))
    table["rarity"] = np.full(count, question.rarity.sum() / max(len(question.words), 1))
    return np.column_stack([table[name] for name in NAMES])


def _by_words(question: Question, candidates: Candidates) -> dict[str, Scores]:
    weights, terms = question.rarity / question.rarity.sum(), len(question.words)
    matches = match_words(question.words, [*candidates.words, *candidates.titles])
    body, title = (Found.of(each, terms) for each in matches.split(len(candidates)))
    either = np.maximum(body.held, title.held)
    by_title, by_both = title.held @ weights, either @ weights
    rarest = int(np.argmax(question.rarity))
    used = np.zeros(len(candidates))
    np.divide(title.counts.sum(1), title.lengths, out=used, where=title.lengths > 0)
    every = np.ones(len(candidates))
    here = _rarity_here(body)
    saturated = _saturated(body)
    bm25 = saturated @ weights
    in_sentence = body.sentences.best(weights)
    return {
        "covered": body.held @ weights,
        "covered_in_sentence": in_sentence,
        "covered_in_two": body.sentences.best_two(weights, in_sentence),
        "covered_by_title": by_title,
        "covered_by_both": by_both,
        "title_used": used,
        "rarest": np.where(title.held[:, rarest] > 0, 1.0, 0.5 * body.held[:, rarest]),
        "pairs": np.maximum(body.pairs(), title.pairs()),
        "longest_run": np.maximum(body.run(weights), title.run(weights)),
        "bm25": bm25,
        "bm25_to_best": _to_best(bm25),
        "bm25_unnormed": _saturated(body, 0.0) @ weights,
        "bm25_normed": _saturated(body, 1.0) @ weights,
        "covered_here": body.held @ here,
        "sentence_here": body.sentences.best(here),
        "bm25_here": saturated @ here,
        "covered_to_best": by_both - by_both.max(),
        "best_covered": every * by_both.max(),
        "best_title": every * by_title.max(),
        "matched": every * (either.max(axis=0) @ weights),
    }


def _by_pairs(question: Question, count: int, line: Line) -> dict[str, Scores]:
    weights, terms = question.pair_rarity / question.pair_rarity.sum(), len(question.pairs)
    body, title = (Found.of(each, terms) for each in match_pairs(question.pairs, line).split(count))
    by_both = np.maximum(body.held, title.held) @ weights
    in_sentence = body.sentences.best(weights)
    asks = bool(_ASKS_NUMBER.search(question.text))
    here = _rarity_here(body)
    saturated = _saturated(body)
    bm25 = saturated @ weights
    length = np.log1p(body.lengths)
    return {
        "pairs_covered": body.held @ weights,
        "pairs_in_sentence": in_sentence,
        "pairs_in_two": body.sentences.best_two(weights, in_sentence),
        "pairs_by_title": title.held @ weights,
        "pairs_by_both": by_both,
        "pairs_run": np.maximum(body.run(weights), title.run(weights)),
        "pairs_bm25": bm25,
        "pairs_bm25_to_best": _to_best(bm25),
        "pairs_to_best": by_both - by_both.max(),
        "length": length - length.mean(),
        "pairs_unnormed": _saturated(body, 0.0) @ weights,
        "pairs_normed": _saturated(body, 1.0) @ weights,
        "pairs_of_few": body.held @ (weights * (body.held.sum(0) <= _FEW)),
        "pairs_covered_here": body.held @ here,
        "pairs_sentence_here": body.sentences.best(here),
        "pairs_bm25_here": saturated @ here,
        "number_sentence": body.sentences.best_numbered(weights) if asks else in_sentence,
    }


def _by_kanji(question: Question, count: int, line: Line) -> dict[str, Scores]:
    matches, size = match_kanji(question.text, line)
    if not size:
        return {}
    found = Found.of(matches.split(count)[0], size)
    here = _rarity_here(found)
    in_sentence = found.sentences.best(here)
    return {
        "kanji": found.held @ here,
        "kanji_in_sentence": in_sentence,
        "kanji_in_two": found.sentences.best_two(here, in_sentence),
        "kanji_bm25": _saturated(found) @ here,
    }


def _rarity_here(found: Found) -> Scores:
    """How rare each term is among the candidates, as shares of 1; what none of them has counts nothing."""
    holding = found.held.sum(0)
    rarity = np.log(1 + (len(found.counts) - holding + 0.5) / (holding + 0.5)) * (holding > 0)
    total = rarity.sum()
    return np.asarray(rarity / total if total > 0 else rarity)


def _saturated(found: Found, b: float = _B) -> Scores:
    """Okapi's count of each term in each text: from 0 towards 1, slower in a long text as `b` says."""
    norm = _K1 * (1 - b + b * np.maximum(found.lengths, 1)[:, None] / max(found.lengths.mean(), 1))
    return np.asarray(found.counts / (found.counts + norm))


def _dense(candidates: Candidates) -> dict[str, Scores]:
    """The cosines; nan where there is no vector, which the network takes for the usual."""
    whole, window = candidates.whole, candidates.window
    # Where there is no title, the whole passage speaks for itself.
    title = np.where(np.isnan(candidates.title), whole, candidates.title)
    known = window[~np.isnan(window)]
    if not len(known):
        nothing = np.full(len(candidates), np.nan)
        return dict.fromkeys(OF_VECTORS, nothing)
    every = np.ones(len(candidates))
    by_clause = window[None, :] if candidates.clauses is None else candidates.clauses
    return {
        "whole": whole,
        "window": window,
        "title": title,
        "clauses": by_clause.mean(axis=0),
        "weakest_clause": by_clause.min(axis=0),
        "whole_to_best": whole - np.nanmax(whole),
        "window_to_best": window - known.max(),
        "title_to_best": title - np.nanmax(title),
        "dense_rank": _ranks(window),
        "best_window": every * known.max(),
        "window_lead": every * (known.max() - np.median(known)),
    }


def _to_best(values: Scores) -> Scores:
    best = values.max()
    return values / best if best > 0 else np.zeros(len(values))


def _ranks(scores: Scores) -> Scores:
    """1 / rank, the same for equals; 0 where there is no score."""
    known = ~np.isnan(scores)
    ranks = np.zeros(len(scores))
    if known.any():
        held = np.sort(scores[known])
        ranks[known] = 1 / (1 + len(held) - np.searchsorted(held, scores[known], side="right"))
    return ranks
