"""`shirube programs`: subsidies, loans, tax measures, and what may not be combined."""

from pathlib import Path
from typing import Annotated

import typer

from shirube.cli.verbs.options import As, Json, caller_of

programs = typer.Typer(
    no_args_is_help=True, help="補助金・融資・税制・共済。 Subsidies, loans, tax measures, mutual aid."
)

Strings = list[str] | None


@programs.command("import")
def programs_import(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="制度または排他ルールの JSON・JSONL・CSV。")
    ],
    strict: Annotated[
        bool, typer.Option("--strict", help="1 件でも取り込めなければ何も取り込みません。 All or nothing.")
    ] = False,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """制度と排他ルールを取り込みます。 Import programmes and exclusion rules.

    例: shirube programs import programs.jsonl exclusion_rules.json
    """
    from shirube.cli.programs import take_in

    take_in(files, strict=strict, caller=caller_of(as_), as_json=as_json)


@programs.command("search")
def programs_search(
    q: Annotated[str | None, typer.Argument(help="語。 Words.")] = None,
    tier: Annotated[Strings, typer.Option("--tier", help="S, A, B, C, X（繰り返し可）")] = None,
    prefecture: Annotated[str | None, typer.Option("--prefecture", help="都道府県。")] = None,
    national: Annotated[
        bool, typer.Option("--include-national", help="全国の制度も。 Nationwide ones too.")
    ] = False,
    level: Annotated[
        str | None, typer.Option("--authority-level", help="国・都道府県・市区町村・公庫")
    ] = None,
    purpose: Annotated[Strings, typer.Option("--funding-purpose", help="資金用途（繰り返し可）")] = None,
    target: Annotated[Strings, typer.Option("--target-type", help="対象者（繰り返し可）")] = None,
    low: Annotated[float | None, typer.Option("--amount-min", min=0, help="上限額がこの万円以上")] = None,
    high: Annotated[float | None, typer.Option("--amount-max", min=0, help="上限額がこの万円以下")] = None,
    excluded: Annotated[bool, typer.Option("--include-excluded", help="tier X なども。")] = False,
    open_on: Annotated[
        str | None, typer.Option("--open-on", metavar="YYYY-MM-DD", help="この日に申請できるもの")
    ] = None,
    within: Annotated[
        int | None, typer.Option("--deadline-within", min=0, help="締切がこの日数以内のもの")
    ] = None,
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, max=100)] = 20,
    offset: Annotated[int, typer.Option("--offset", min=0)] = 0,
    csv: Annotated[
        Path | None, typer.Option("--csv", help="見つかった全件を Excel 用の CSV に。 All of them for Excel.")
    ] = None,
    ics: Annotated[
        Path | None, typer.Option("--ics", help="全件の締切を iCalendar に。 All deadlines as a calendar.")
    ] = None,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """制度を探します。 Search programmes.

    例: shirube programs search "設備投資" --prefecture 青森 --include-national
    """
    from shirube.cli.programs import search

    search(
        {
            "q": q,
            "tier": tier,
            "prefecture": prefecture,
            "include_national": national,
            "authority_level": level,
            "funding_purpose": purpose,
            "target_type": target,
            "amount_min_man_yen": low,
            "amount_max_man_yen": high,
            "include_excluded": excluded,
            "open_on": open_on,
            "deadline_within_days": within,
            "limit": limit,
            "offset": offset,
        },
        csv=csv,
        ics=ics,
        caller=caller_of(as_),
        as_json=as_json,
    )


@programs.command("get")
def programs_get(
    unified_id: Annotated[str, typer.Argument(help="制度の ID。 A programme's id.")],
    as_: As = None,
    as_json: Json = False,
) -> None:
    """制度の詳細と出典。 One programme with its sources."""
    from shirube.cli.programs import get

    get(unified_id, caller=caller_of(as_), as_json=as_json)


@programs.command("check")
def programs_check(
    ids: Annotated[list[str], typer.Argument(metavar="ID…", help="ID・名称・別名。 Ids or names.")],
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="当たるルールがあれば終了コード 1。 Exit with 1 on a hit.")
    ] = False,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """併用できない組み合わせを調べます。 Check what may not be combined.

    例: shirube programs check 経営開始資金 雇用就農資金
    """
    from shirube.cli.programs import check

    if check(ids, caller=caller_of(as_), as_json=as_json) and exit_code:
        raise typer.Exit(1)


@programs.command("diff")
def programs_diff(
    before: Annotated[int | None, typer.Argument(help="比べる前の取り込み番号。 An earlier import.")] = None,
    after: Annotated[int | None, typer.Argument(help="後の取り込み番号。 A later import.")] = None,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """2 つの取り込みの間で何が変わったか。番号を省くと直前の 2 つ。 What changed between two imports."""
    from shirube.cli.programs import diff

    diff(before, after, caller=caller_of(as_), as_json=as_json)


@programs.command("meta")
def programs_meta(as_: As = None, as_json: Json = False) -> None:
    """件数とデータの日付。 Counts, and how old the data is."""
    from shirube.cli.programs import meta

    meta(caller=caller_of(as_), as_json=as_json)
