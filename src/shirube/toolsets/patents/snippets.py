"""Snippets of publications: as many as a budget of bytes holds, or those that were asked for."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from shirube.store.patents import Publication
from shirube.store.runs import Run
from shirube.text.normalize import fold_with_map
from shirube.toolsets.patents import schema
from shirube.toolsets.patents.errors import invalid
from shirube.toolsets.patents.record import cut

DEFAULT_LIMIT = 30
BUDGET = 12_288
CAPS: dict[schema.FieldName, int] = {"title": 160, "abst": 480, "claim": 320, "desc": 400}
LONG_CAPS: dict[schema.FieldName, int] = {"title": 1_000, "abst": 4_000, "claim": 8_000, "desc": 8_000}
_MARKED = 20
# By how much the figures of `meta` may grow.
_NUMBERS = 32
# A text that still says something beside the codes.
_SHORT = 40
# The budget holds about as many; whole publications are long, and none is read in vain.
_AT_ONCE = 10
DEFAULT_FIELDS: tuple[schema.FieldName, ...] = ("title", "abst", "claim")


def peeked(
    run: Run, asked: schema.PeekInput, publications: Callable[[Sequence[str]], Mapping[str, Publication]]
) -> schema.Snippets:
    """Whole snippets in rank order until the next would not fit; if not even one fits, the first one shortened."""
    limit = asked.limit or DEFAULT_LIMIT
    budget = min(asked.budget_bytes or BUDGET, BUDGET)
    fields, caps = asked.fields or list(DEFAULT_FIELDS), {**CAPS, **(asked.per_field_chars or {})}
    ids, scores = run.results[0]["ids"], run.results[0]["scores"]
    held: Mapping[str, Publication] = {}
    kept: list[schema.Snippet] = []
    passed = asked.offset
    used = _bytes(_answer(run, [], passed, True))
    for at in range(asked.offset, min(asked.offset + limit, len(ids))):
        if (at - asked.offset) % _AT_ONCE == 0:
            held = publications(ids[at : at + _AT_ONCE])
        rank, doc_id, score = at + 1, ids[at], scores[at]
        if doc_id in held:
            made = _snippet(held[doc_id], fields, caps, rank, score, run.recipe.get("terms", ()))
            used += len(_json(made).encode()) + 1
            # Far from the budget nobody needs to count exactly.
            if used + _NUMBERS > budget and _bytes(_answer(run, [*kept, made], rank, True)) > budget:
                if kept:
                    return _answer(run, kept, passed, True)
                return _shortened(run, made, rank, budget)
            kept.append(made)
        passed = rank
    return _answer(run, kept, passed, False)


def given_snippets(
    found: Mapping[str, Publication | None], asked: schema.SnippetsInput
) -> schema.GivenSnippets:
    fields, caps = asked.fields or list(DEFAULT_FIELDS), {**LONG_CAPS, **(asked.per_field_chars or {})}
    return schema.GivenSnippets(
        snippets=[_snippet(each, fields, caps) for each in found.values() if each is not None],
        not_found=[name for name, each in found.items() if each is None],
    )


def metadata(publication: Publication) -> dict[str, Any]:
    record = publication.record
    names = ("country", "filing_date", "publication_date", "app_doc_id", "exam_id", "applicant", "inventor")
    codes = {"fi": record["fi_full"], "fi_norm": record["fi_norm"], "ft": record["ft"]}
    others = {name: record[name] for name in ("ipc", "cpc") if record[name]}
    return {"doc_id": publication.doc_id, **codes, **others, **{name: record[name] for name in names}}


def _snippet(
    publication: Publication,
    fields: Sequence[schema.FieldName],
    caps: Mapping[schema.FieldName, int],
    rank: int | None = None,
    score: float | None = None,
    terms: Sequence[str] = (),
) -> schema.Snippet:
    record = publication.record
    given: dict[str, Any] = {name: cut(record[name], caps[name]) for name in fields}
    marks = {name: _places(text, terms) for name, text in given.items()}
    if any(marks.values()):
        given["highlights"] = {name: places for name, places in marks.items() if places}
    if rank is not None:
        given |= {"rank": rank, "score": score}
    return schema.Snippet(
        doc_id=publication.doc_id,
        pub_id=record["pub_id"] or publication.doc_id,
        app_id=record["app_id"],
        metadata={
            "fi": record["fi_full"],
            "ft": record["ft"],
            "publication_date": record["publication_date"],
        },
        **given,
    )


def _places(text: str, terms: Sequence[str]) -> list[list[int]]:
    """Where the terms stand in a text, in its own characters; those that touch are one."""
    if not terms:
        return []
    folded = fold_with_map(text)
    found = sorted(
        folded.origin(place.start(), place.end())
        for term in terms
        for place in re.finditer(re.escape(term), folded.text)
    )
    merged: list[list[int]] = []
    for start, end in found:
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged[:_MARKED]


def _answer(run: Run, kept: Sequence[schema.Snippet], passed: int, truncated: bool) -> schema.Snippets:
    """`passed` is the rank up to which everything was shown."""
    total = len(run.results[0]["ids"])
    meta = {
        "used_bytes": 0,
        "truncated": truncated,
        "next_offset": passed if passed < total else None,
        "total": total,
    }
    answer = schema.Snippets(run_id=run.id, snippets=list(kept), meta=meta)
    without = len(_json(answer).encode()) - len("0")
    # The number is part of what it counts.
    for _ in range(3):
        meta["used_bytes"] = without + len(str(meta["used_bytes"]))
    answer.meta.update(meta)
    return answer


def _bytes(answer: schema.Snippets) -> int:
    used: int = answer.meta["used_bytes"]
    return used


def _json(part: schema.Snippets | schema.Snippet) -> str:
    """As it is sent."""
    return json.dumps(
        part.model_dump(mode="json", exclude_unset=True), ensure_ascii=False, separators=(",", ":")
    )


def _shortened(run: Run, whole: schema.Snippet, rank: int, budget: int) -> schema.Snippets:
    """The one snippet cut until it fits: long texts first, then what is known besides, then short texts too."""
    given = whole.model_dump(exclude_unset=True, exclude={"highlights"})
    while _bytes(answer := _answer(run, [schema.Snippet(**given)], rank, True)) > budget:
        texts = {name: len(given[name]) for name in CAPS if given.get(name)}
        longest = max(texts, key=lambda name: texts[name], default=None)
        others = [name for name in ("metadata", "app_id", "score") if name in given]
        if longest and (texts[longest] > _SHORT or not others):
            given[longest] = given[longest][: texts[longest] // 2]
        elif others:
            del given[others[0]]
        elif empty := [name for name in CAPS if name in given]:
            del given[empty[0]]
        else:
            least = _bytes(answer)
            raise invalid(
                "budget_bytes", f"{least} or more for this publication", f"この公報では {least} 以上"
            )
    return answer
