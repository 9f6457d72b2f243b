"""Options that several verbs take."""

import json
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated

import typer

from shirube.caller import LOCAL, Caller, claimed
from shirube.errors import InvalidInput

# Whether the verb that runs was asked for JSON: where it fails, it says so in JSON too.
WANTS_JSON: ContextVar[bool] = ContextVar("wants_json", default=False)


def _wanted(as_json: bool) -> bool:
    WANTS_JSON.set(as_json)
    return as_json


Json = Annotated[bool, typer.Option("--json", callback=_wanted, help="JSON で出力します。 Print JSON.")]
As = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="CLAIMS",
        help="この人として: トークンの内容の JSON。 As this caller: the claims of a token as JSON, e.g. "
        '{"tenant_id":"甲社","sub":"hanako","departments":["人事"],"clearance":"internal","roles":[]}',
    ),
]
Set = Annotated[
    Path,
    typer.Argument(
        metavar="SET",
        help="BEIR 形式のフォルダー。 A folder with corpus.jsonl, queries.jsonl and qrels.tsv.",
    ),
]
Queries = Annotated[
    int | None,
    typer.Option("--queries", min=1, help="質問を等間隔に選び、この数までにします。 At most so many."),
]
Docs = Annotated[
    Path,
    typer.Option(
        "--docs", metavar="DIR", envvar="SHIRUBE_DOCS", help="ページのフォルダー。 The folder of pages."
    ),
]
MaybeDocs = Annotated[
    Path | None,
    typer.Option(
        "--docs", metavar="DIR", help="ubp_* のためのページのフォルダー。 The folder of pages for ubp_*."
    ),
]
Page = Annotated[str, typer.Argument(help="ページのパス（フォルダーから）。 A page's path in the folder.")]
ExitCode = Annotated[
    bool, typer.Option("--exit-code", help="あれば終了コード 1。 Exit with 1 if there is any.")
]
BaseName = Annotated[str, typer.Option("--kb", help="ナレッジベースの名前または ID。 Its name or id.")]


def caller_of(claims: str | None) -> Caller:
    """Whom `--as` names, or whoever sits here."""
    if claims is None:
        return LOCAL
    try:
        said = json.loads(claims)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"--as is not valid JSON: {error}", "--as が正しい JSON ではありません。"
        ) from None
    if not isinstance(said, dict):
        raise InvalidInput("--as must be a JSON object", "--as は JSON のオブジェクトで指定してください。")
    return claimed(said)
