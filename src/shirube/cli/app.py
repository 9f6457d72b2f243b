"""The command line. Each verb imports what it needs when it runs, so that `--help` and `serve` start at once."""

import asyncio
import json
import os
import sys
from io import TextIOWrapper
from typing import Annotated, Any, NoReturn

import typer

from shirube import __version__
from shirube.cli.verbs.evaluation import evaluation
from shirube.cli.verbs.kb import kb
from shirube.cli.verbs.options import WANTS_JSON, As, BaseName, Json, MaybeDocs, caller_of
from shirube.cli.verbs.pages import pages
from shirube.cli.verbs.patents import patents
from shirube.cli.verbs.programs import programs
from shirube.cli.verbs.serving import audit, keys, mcp, store, token
from shirube.errors import InvalidInput, NotFound, ShirubeError, Unavailable
from shirube.toolsets.registry import Application

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="標 Shirube: 日本語に強い検索サーバー。 Japanese-first retrieval for agents and people.",
)
for name, verbs in (
    ("kb", kb),
    ("patents", patents),
    ("programs", programs),
    ("pages", pages),
    ("eval", evaluation),
    ("keys", keys),
    ("audit", audit),
    ("store", store),
    ("mcp", mcp),
):
    app.add_typer(verbs, name=name)
app.command()(token)


def main() -> None:
    """Run the command line: 0 when it worked, 1 when it did not, 2 when it was asked wrongly."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8")  # a pipe on Japanese Windows would take cp932 only
    try:
        app()
    except ShirubeError as error:
        _fail(error)
    except OSError as error:
        _say_failed(f"{error.strerror or error}")
    except Exception as error:
        if not type(error).__module__.startswith("sqlalchemy."):
            raise
        _say_failed(str(getattr(error, "orig", error)))
    except KeyboardInterrupt:
        sys.exit(130)


def _say_failed(reason: str) -> None:
    """What the disk or the database refused, on the user's own machine: the reason may be shown whole."""
    _fail(
        Unavailable(
            f"The data folder cannot be used: {reason}",
            f"データフォルダーを使えません（{reason}）。",
            hint="権限と空き容量を確認してください。 Check permissions and disk space.",
        )
    )


def _fail(error: ShirubeError) -> NoReturn:
    """Say it on stderr, and where JSON was asked for on stdout too, as `call` does."""
    from shirube.cli.output import show_error, show_json

    if WANTS_JSON.get():
        show_json(_told(error))
    show_error(error)
    sys.exit(1)


def _told(error: ShirubeError) -> Any:
    """The error as its operation sends it; one that is of none in the shape of the first toolset."""
    from shirube.cli.calls import Told
    from shirube.toolsets.knowledge.schema import render_error

    return error.__cause__.body if isinstance(error.__cause__, Told) else render_error(error)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="版を表示します。 Show the version.")] = False,
) -> None:
    if version:
        typer.echo(f"shirube {__version__}")
        raise typer.Exit


@app.command()
def call(
    name: Annotated[str, typer.Argument(help="操作の名前。 An operation, e.g. search_documents.")],
    args: Annotated[str, typer.Option("--args", help="引数の JSON。 Its arguments as JSON.")] = "{}",
    docs: MaybeDocs = None,
    as_: As = None,
    _as_json: Json = True,
) -> None:
    """操作を1つ呼び、結果を JSON で出力します。 Call one operation and print its JSON.

    例: shirube call search_documents --args '{"query":"手当","knowledge_base_id":"…"}'
    """
    from shirube.cli.output import show_json
    from shirube.settings import settings_with

    application = Application(settings_with(docs))
    operation = application.registry.get(name)
    if operation is None:
        names = ", ".join(each.name for each in application.registry)
        _fail_json(
            NotFound(
                f"Unknown operation: {name}", f"{name} という操作はありません。", hint=f"使える操作: {names}"
            )
        )
    try:
        arguments = json.loads(args)
    except (ValueError, RecursionError) as error:
        _fail_json(
            InvalidInput(f"--args is not valid JSON: {error}", "--args が正しい JSON ではありません。")
        )
    try:
        caller = caller_of(as_)
    except ShirubeError as error:
        _fail_json(error)
    answer = asyncio.run(application.registry.call(name, caller, arguments))
    show_json(answer.sent)
    if not answer.ok:
        raise typer.Exit(1)


def _fail_json(error: ShirubeError) -> NoReturn:
    from shirube.cli.output import show_json

    show_json(_told(error))
    raise typer.Exit(1)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="質問や語。 A question or words.")],
    base: BaseName,
    threshold: Annotated[float, typer.Option("--threshold", min=0.0, max=1.0)] = 0.6,
    results: Annotated[int, typer.Option("-n", "--max-results", min=1, max=50)] = 5,
    why: Annotated[bool, typer.Option("--why", help="順位の理由も表示します。 Show each stage.")] = False,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """文書を検索します。 Search documents.

    例: shirube search "リモートワーク手当の金額は？" --kb 社内規程 --why
    """
    from shirube.cli.knowledge import show_search

    show_search(
        query, base, threshold=threshold, results=results, why=why, caller=caller_of(as_), as_json=as_json
    )


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="質問。 The question.")],
    base: Annotated[
        str | None,
        typer.Option("--kb", help="このナレッジベースだけ（名前かID）。 Only this knowledge base."),
    ] = None,
    results: Annotated[int, typer.Option("--max-results", help="根拠にする箇所の数。 Passages at most.")] = 4,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """質問に、出典を付けて一つの答えを返します。なければないと言います。 One answer with its citations, or none.

    例: shirube ask "リモートワーク手当はいくらですか"
    """
    from shirube.cli.answers import show_answer

    show_answer(question, base, results=results, caller=caller_of(as_), as_json=as_json)


@app.command()
def chat(
    message: Annotated[str, typer.Argument(help="聞きたいこと。 What you want to know.")],
    base: BaseName,
    tool: Annotated[
        str | None, typer.Option("--tool", help="ツールを自分で選びます。 Choose the tool yourself.")
    ] = None,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """聞かれたことに合うツールを選んで答えます。 Choose the right tool for a message and answer with citations.

    例: shirube chat "このKBについて" --kb 社内規程
    """
    from shirube.cli.knowledge import show_chat

    show_chat(message, base, tool=tool, caller=caller_of(as_), as_json=as_json)


@app.command()
def status(as_json: Json = False) -> None:
    """使っているデータ・索引・モデルの状態。 What is in use, and what would make results better."""
    from shirube.cli.maintenance import show_status

    show_status(as_json)


@app.command()
def reindex(
    base: Annotated[str | None, typer.Option("--kb", help="これだけ。 Only this one.")] = None,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="ベクトルだけを作ります。 Make missing vectors only.")
    ] = False,
    as_json: Json = False,
) -> None:
    """索引を作り直します。検索は止まりません。 Rebuild indexes; searching goes on meanwhile."""
    from shirube.cli.maintenance import rebuild

    rebuild(base, vectors=vectors, as_json=as_json)


@app.command()
def serve(
    docs: MaybeDocs = None,
    lock: Annotated[
        bool, typer.Option("--lock/--no-lock", help="1つのプロジェクトに1つだけ。 One server for a project.")
    ] = True,
    toolsets: Annotated[
        str | None,
        typer.Option(
            help="使わせるツールセット（knowledge,patents,… 省くと全部）。 Toolsets to offer; all if left out."
        ),
    ] = None,
    human: Annotated[
        bool, typer.Option("--human", help="人間向けのツールも。 Tools meant for people too.")
    ] = False,
    http: Annotated[
        bool, typer.Option("--http", help="HTTP で: /mcp と /v1。 Over HTTP: /mcp and /v1.")
    ] = False,
    host: Annotated[str | None, typer.Option(help="待ち受けるアドレス。 The address to bind.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="ポート。 The port (8000).")] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="プロセスの数。 Processes.")] = 1,
    insecure_local: Annotated[
        bool,
        typer.Option(
            "--insecure-local",
            help="この機械からだけ、トークンなしで。 Without tokens, from this machine only.",
        ),
    ] = False,
    log: Annotated[str, typer.Option(help="ログの形: pretty か json。 How logs look.")] = "pretty",
    conformance: Annotated[bool, typer.Option("--conformance", hidden=True)] = False,
) -> None:
    """MCP サーバーを動かします。標準入出力か、--http で HTTP。 Serve MCP over stdio, or with --http MCP and REST.

    例: Claude Desktop の設定に {"command": "shirube", "args": ["serve"]}
    ページも: {"command": "shirube", "args": ["serve", "--docs", "/path/to/docs"]}
    会社で: shirube serve --http --host 0.0.0.0（トークンは shirube keys create）
    """
    os.environ.update({"SHIRUBE_TOOLSETS": toolsets} if toolsets else {})
    os.environ.update({"SHIRUBE_HUMAN": "1"} if human else {})
    if http:
        from shirube.cli.serving import serve_over_http

        serve_over_http(
            docs, host, port, workers, insecure_local=insecure_local, log=log, conformance=conformance
        )
    else:
        from shirube.cli.main import serve

        serve(docs, lock=lock)


@app.command()
def demo(
    once: Annotated[
        bool, typer.Option("--once", help="例を1回ずつ実行して終わります。 Show and exit.")
    ] = False,
) -> None:
    """サンプルデータで試します。 Try it with bundled sample data."""
    from shirube.cli.demo import run

    run(once=once)
