"""Programmes: finding them, their details, and what may not be combined."""

import threading
from collections.abc import Callable, Sequence
from datetime import date, datetime
from difflib import get_close_matches
from functools import cache
from itertools import chain
from typing import Any

from shirube.caller import Caller
from shirube.errors import InvalidInput, NotFound
from shirube.store import programs as store
from shirube.text.normalize import fold
from shirube.text.places import PREFECTURES, level_named, nearest_prefectures, prefecture
from shirube.toolsets.programs import schema
from shirube.toolsets.programs.catalogue import Catalogue, Conditions, Dropped
from shirube.toolsets.programs.record import DETAILS, JST, PROGRAM, TIERS
from shirube.toolsets.programs.rules import KINDS, Finding, Naming, check, is_slug, named, names_of, sides
from shirube.toolsets.programs.terms import parts_of
from shirube.workspace import Workspace

NOTE = (
    "該当がなくても併用できるとは限りません。各制度の要綱と窓口で確認してください。 "
    "No hit is no proof: confirm with each programme's rules and office."
)
_ADVISED = 3
_MOST_WORDS = 20
# Catalogues in memory, one a tenant.
_HELD = 8
_KEYS = {"minimal": schema.MINIMAL, "default": PROGRAM, "full": (*PROGRAM, *DETAILS)}


def _today() -> date:
    return datetime.now(JST).date()


class ProgramsService:
    def __init__(self, workspace: Workspace, today: Callable[[], date] = _today) -> None:
        self._workspace = workspace
        self._today = today
        self._guard = threading.Lock()
        self._catalogues: dict[str, Catalogue] = {}

    def catalogue(self, caller: Caller) -> Catalogue:
        """The tenant's programmes as the last import left them."""
        with self._workspace.database.read() as connection:
            revision = store.revision_of(connection, caller)
            held = self._catalogues.get(caller.tenant)
            if held and held.revision == revision:
                return held
            with self._guard:
                held = self._catalogues.get(caller.tenant)
                if held is None or held.revision < revision:
                    rows, areas = (
                        store.search_rows(connection, caller),
                        store.search_areas(connection, caller),
                    )
                    self._catalogues.pop(caller.tenant, None)
                    while len(self._catalogues) >= _HELD:
                        self._catalogues.pop(next(iter(self._catalogues)))
                    held = self._catalogues[caller.tenant] = Catalogue(revision, rows, areas)
                return held

    def search(self, caller: Caller, asked: schema.SearchInput) -> schema.SearchOutput:
        conditions, hints = self._conditions(asked)
        catalogue = self.catalogue(caller)
        found = catalogue.search(conditions, self._today(), limit=asked.limit, offset=asked.offset)
        with self._workspace.database.read() as connection:
            records = store.records(connection, caller, found.ids)
        rows = [_shown(records[each], asked.fields) for each in found.ids if each in records]
        answer = schema.SearchOutput(total=found.total, limit=asked.limit, offset=asked.offset, results=rows)
        if not rows:
            answer.hint = " ".join(hints or self._advice(catalogue, conditions, found.total))
        return answer

    def _conditions(self, asked: schema.SearchInput) -> tuple[Conditions, list[str]]:
        """What is asked for in the terms of the catalogue; and what to say of a name that nothing is called."""
        hints = []
        level = place = None
        if asked.authority_level and not (level := level_named(asked.authority_level)):
            raise InvalidInput(
                f"authority_level {asked.authority_level!r} is unknown",
                f"authority_level の「{asked.authority_level}」は分かりません。",
                hint="national（国）/ prefecture（都道府県）/ municipality（市区町村）/ financial（公庫）",
            )
        if asked.prefecture:
            known = prefecture(asked.prefecture)
            place = known.name if known else asked.prefecture
            if known is None:
                near = "、".join(nearest_prefectures(asked.prefecture))
                hints = [
                    f"「{asked.prefecture}」という都道府県はありません。"
                    + (f"近い名前: {near}。" if near else ""),
                    f"No prefecture is called {asked.prefecture}" + (f"; nearest: {near}." if near else "."),
                ]
        low, high = asked.amount_min_man_yen, asked.amount_max_man_yen
        if low is not None and high is not None and low > high:
            raise InvalidInput(
                "amount_min_man_yen is greater than amount_max_man_yen",
                "amount_min_man_yen が amount_max_man_yen を超えています。",
            )
        if len(parts_of(asked.q or "")) > _MOST_WORDS:
            raise InvalidInput(
                f"q has more than {_MOST_WORDS} words",
                f"q の語は {_MOST_WORDS} 個までです。",
                hint="語を減らすか、条件の引数に分けてください。 Use fewer words, or the other arguments.",
            )
        conditions = Conditions(
            q=asked.q if asked.q and asked.q.strip() else None,
            tier=tuple(asked.tier or ()) or None,
            prefecture=place,
            include_national=asked.include_national,
            authority_level=level,
            funding_purpose=tuple(asked.funding_purpose or ()) or None,
            target_type=tuple(asked.target_type or ()) or None,
            amount_min_man_yen=low,
            amount_max_man_yen=high,
            include_excluded=asked.include_excluded,
            open_on=asked.open_on,
            deadline_within_days=asked.deadline_within_days,
        )
        return conditions, hints

    def _advice(self, catalogue: Catalogue, conditions: Conditions, total: int) -> list[str]:
        """Why there is nothing, and which condition to drop."""
        if total:
            return [f"offset が件数（{total}）以上です。", f"offset is beyond the {total} there are."]
        if not len(catalogue):
            return [
                "制度がまだ取り込まれていません: shirube programs import FILE",
                "No programmes were imported yet.",
            ]
        advice = []
        for field in ("funding_purpose", "target_type"):
            for value in getattr(conditions, field) or ():
                known = catalogue.known(field)
                if fold(value).strip() not in known:
                    near = _nearest(value, known)
                    advice.append(
                        f"{field}「{value}」の制度はありません。"
                        + (f"近い値: {'、'.join(near)}。" if near else "")
                    )
        helping = catalogue.without_each(conditions, self._today())[:_ADVISED]
        if helping:
            advice += [
                "、".join(map(_advice_ja, helping)) + "あります。",
                "; ".join(map(_advice_en, helping)) + ".",
            ]
        elif not advice:
            advice = ["条件を 2 つ以上外してください。", "Drop more than one condition."]
        return advice

    def get(self, caller: Caller, asked: schema.GetInput) -> schema.Program:
        record = self._records(caller, [asked.unified_id]).get(asked.unified_id)
        if record is None:
            raise NotFound(
                "program not found",
                "その ID の制度はありません。",
                hint="search_programs で ID を確認してください。 Take the id from search_programs.",
            )
        return _shown(record, "minimal" if asked.fields == "minimal" else "full")

    def batch(self, caller: Caller, asked: schema.BatchInput) -> schema.BatchOutput:
        _check_size("unified_ids", asked.unified_ids)
        wanted = list(dict.fromkeys(asked.unified_ids))
        records = self._records(caller, wanted)
        return schema.BatchOutput(
            results=[_shown(records[each], "full") for each in wanted if each in records],
            not_found=[each for each in wanted if each not in records],
        )

    def _records(self, caller: Caller, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The records of those ids that there are; a canonical slug stands for the one programme it means."""
        trimmed = {each: each.strip() for each in ids}
        with self._workspace.database.read() as connection:
            found = store.records(connection, caller, list(trimmed.values()))
            slugs = [each for each, key in trimmed.items() if key not in found and is_slug(key)]
            called = {each: self.catalogue(caller).called(names_of(each)) for each in slugs}
            only = {each: known[0] for each, known in called.items() if len(known) == 1}
            found |= store.records(connection, caller, list(only.values()))
        trimmed |= only
        return {each: found[key] for each, key in trimmed.items() if key in found}

    def rules(self, caller: Caller, asked: schema.RulesInput) -> schema.RulesOutput:
        if asked.kind is not None and asked.kind not in KINDS:
            raise InvalidInput(
                f"kind {asked.kind!r} is unknown",
                f"kind の「{asked.kind}」は分かりません。",
                hint=f"使えるもの: {', '.join(KINDS)}",
            )
        with self._workspace.database.read() as connection:
            rules = store.rules(connection, caller)
        if asked.kind is not None:
            rules = [rule for rule in rules if rule["kind"] == asked.kind]
        if asked.program_id is not None:
            naming = self._naming(self.catalogue(caller))
            one = naming(asked.program_id)
            rules = [rule for rule in rules if one.may_be_any(map(naming, chain(*sides(rule))))]
        return schema.RulesOutput([schema.Rule.model_validate(rule) for rule in rules])

    def check(self, caller: Caller, asked: schema.CheckInput) -> schema.CheckOutput:
        _check_size("program_ids", asked.program_ids)
        catalogue = self.catalogue(caller)
        with self._workspace.database.read() as connection:
            rules = store.rules(connection, caller)
        naming = self._naming(catalogue)
        given = [naming(each) for each in dict.fromkeys(asked.program_ids)]
        members = [naming(each) for each in {each for rule in rules for each in chain(*sides(rule))}]
        checked = check(rules, given, naming)
        return schema.CheckOutput(
            program_ids=asked.program_ids,
            hits=[_hit(each) for each in checked.hits],
            checked_rules=len(rules),
            compatible=[_hit(each) for each in checked.compatible],
            unknown_programs=[
                each.name
                for each in given
                if not self._programmes(catalogue, each.name) and not each.may_be_any(members)
            ],
            note=NOTE,
        )

    def _naming(self, catalogue: Catalogue) -> Naming:
        """What a name means among these programmes; each is looked up once."""
        return cache(lambda name: named(name, self._programmes(catalogue, name)))

    def _programmes(self, catalogue: Catalogue, name: str) -> list[str]:
        """The one that has this id, else all that are called so."""
        return catalogue.identified(name) or catalogue.called(names_of(name))

    def meta(self, caller: Caller) -> schema.MetaOutput:
        with self._workspace.database.read() as connection:
            counts = store.counts(connection, caller)
        tiers = {tier: counts.tiers.get(tier, 0) for tier in TIERS}
        places = [*(one.name for one in PREFECTURES), store.NONE]
        return schema.MetaOutput(
            total_programs=sum(counts.tiers.values()),
            tier_counts={**tiers, **{name: n for name, n in counts.tiers.items() if name == store.NONE}},
            prefecture_counts={
                name: counts.prefectures[name] for name in places if name in counts.prefectures
            },
            exclusion_rules_count=counts.rules,
            last_ingested_at=counts.last_import,
            data_as_of=counts.data_as_of,
        )


def _shown(record: dict[str, Any], fields: str) -> schema.Program:
    return schema.Program.model_validate({name: record[name] for name in _KEYS[fields]})


def _hit(finding: Finding) -> schema.Hit:
    rule = finding.rule
    told: dict[str, Any] = {
        name: rule[name]
        for name in ("rule_id", "kind", "severity", "description", "source_urls", "source_notes")
    }
    told["programs_involved"] = list(finding.involved)
    if finding.missing:
        told["missing"] = list(finding.missing)
    return schema.Hit(**told, extra=rule["extra"])


def _advice_ja(dropped: Dropped) -> str:
    if dropped.condition.startswith("include_"):
        return f"{dropped.condition} を true にすると {dropped.leaves} 件"
    return (
        f"{dropped.condition}{f' の「{dropped.word}」' if dropped.word else ' '}を外すと {dropped.leaves} 件"
    )


def _advice_en(dropped: Dropped) -> str:
    if dropped.condition.startswith("include_"):
        return f"with {dropped.condition} there are {dropped.leaves}"
    return f"without {f'{dropped.word} in ' if dropped.word else ''}{dropped.condition} there are {dropped.leaves}"


def _check_size(name: str, ids: Sequence[str]) -> None:
    if not ids:
        raise InvalidInput(f"{name} required", f"{name} を 1 件以上指定してください。")
    if len(ids) > schema.MOST_IDS:
        raise InvalidInput(
            f"{name} cap is {schema.MOST_IDS}, got {len(ids)}",
            f"{name} は {schema.MOST_IDS} 件までです（{len(ids)} 件あります）。",
            hint="分けて呼んでください。 Call it several times.",
        )


def _nearest(value: str, known: Sequence[str]) -> list[str]:
    wanted = fold(value).strip()
    holding = [each for each in known if wanted and (wanted in each or each in wanted)]
    return list(dict.fromkeys([*holding, *get_close_matches(wanted, known, 3, 0.5)]))[:3]
