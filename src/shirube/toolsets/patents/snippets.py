"""Snippets of publications: as many as a budget of bytes holds, or those that were asked for."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from shirube.store.patents import Publication
from shirube.store.runs import Run
from shirube.text.normalize import fold_with_map
from shirube.toolsets.patents import schema
from shirube.toolsets.patents.record import cut

DEFAULT_LIMIT = 30
BUDGET = 12_288
CAPS: dict[schema.FieldName, int] = {"title": 160, "abst": 480, "claim": 320, "desc": 400}
LONG_CAPS: dict[schema.FieldName, int] = {"title": 1_000, "abst": 4_000, "claim": 8_000, "desc": 8_000}
_MARKED = 20
# By how much the figures of `meta` may grow.
_NUMBERS = 32
DEFAULT_FIELDS: tuple[schema.FieldName, ...] = ("title", "abst", "claim")


def peeked(
    run: Run, asked: schema.PeekInput, publications: Callable[[Sequence[str]], Mapping[str, Publication]]
) -> schema.Snippets:
    """Whole snippets in rank order until the next would not fit; if not even one fits, the first one shortened."""
    limit = asked.limit or DEFAULT_LIMIT
    budget = min(asked.budget_bytes or BUDGET, BUDGET)
    fields, caps = asked.fields or list(DEFAULT_FIELDS), {**CAPS, **(asked.per_field_chars or {})}
    found = run.results[0]
    chosen = slice(asked.offset, asked.offset + limit)
    held = publications(found["ids"][chosen])
    kept: list[schema.Snippet] = []
    used = _size(run, asked, [])
    scored = zip(found["ids"][chosen], found["scores"][chosen], strict=True)
    for rank, (doc_id, score) in enumerate(scored, start=asked.offset + 1):
        if doc_id not in held:
            continue
        made = _snippet(held[doc_id], fields, caps, rank, score, run.recipe.get("terms", ()))
        used += len(_json(made).encode()) + 1
        # Far from the budget nobody needs to count exactly.
        if used + _NUMBERS > budget and _size(run, asked, [*kept, made]) > budget:
            if not kept:
                kept = _shortened(run, asked, made, budget)
            break
        kept.append(made)
    return _answer(run, asked, kept)


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


def _answer(run: Run, asked: schema.PeekInput, kept: Sequence[schema.Snippet]) -> schema.Snippets:
    following = asked.offset + len(kept)
    total = len(run.results[0]["ids"])
    more = following < min(asked.offset + (asked.limit or DEFAULT_LIMIT), total)
    meta = {
        "used_bytes": 0,
        "truncated": more,
        "next_offset": following if following < total else None,
        "total": total,
    }
    answer = schema.Snippets(run_id=run.id, snippets=list(kept), meta=meta)
    # The number is part of what it counts.
    for _ in range(3):
        answer.meta["used_bytes"] = _bytes(answer)
    return answer


def _size(run: Run, asked: schema.PeekInput, kept: Sequence[schema.Snippet]) -> int:
    return _bytes(_answer(run, asked, kept))


def _bytes(answer: schema.Snippets) -> int:
    return len(_json(answer).encode())


def _json(part: schema.Snippets | schema.Snippet) -> str:
    """As it is sent."""
    return json.dumps(
        part.model_dump(mode="json", exclude_unset=True), ensure_ascii=False, separators=(",", ":")
    )


def _shortened(
    run: Run, asked: schema.PeekInput, snippet: schema.Snippet, budget: int
) -> list[schema.Snippet]:
    """The one snippet with fields cut until it fits: first the longest; then what is known besides."""
    while _size(run, asked, [snippet]) > budget:
        texts = {name: getattr(snippet, name) for name in CAPS if getattr(snippet, name)}
        if texts:
            longest = max(texts, key=lambda name: len(texts[name]))
            shorter = {longest: texts[longest][: len(texts[longest]) // 2], "highlights": {}}
            snippet = snippet.model_copy(update=shorter)
        elif snippet.metadata:
            snippet = snippet.model_copy(update={"metadata": {}, "highlights": {}})
        else:
            return []
    return [snippet]
