"""The command line. Each verb imports what it needs when it runs, so that `--help` and `serve` start at once."""

import asyncio
import json
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer

from shirube import __version__
from shirube.caller import LOCAL, Caller, claimed
from shirube.errors import InvalidInput, NotFound, ShirubeError, Unavailable
from shirube.toolsets.registry import Application

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="標 Shirube: 日本語に強い検索サーバー。 Japanese-first retrieval for agents and people.",
)
kb = typer.Typer(no_args_is_help=True, help="ナレッジベースの管理。 Manage knowledge bases.")
app.add_typer(kb, name="kb")
pages = typer.Typer(no_args_is_help=True, help="Markdown のフォルダー。 A folder of Markdown pages.")
app.add_typer(pages, name="pages")
evaluation = typer.Typer(no_args_is_help=True, help="検索の精度を測ります。 Measure how well search works.")
app.add_typer(evaluation, name="eval")

Json = Annotated[bool, typer.Option("--json", help="JSON で出力します。 Print JSON.")]
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


def _caller(claims: str | None) -> Caller:
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


def main() -> None:
    """Run the command line: 0 when it worked, 1 when it did not, 2 when it was asked wrongly."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8")  # a pipe on Japanese Windows would take cp932 only
    try:
        app()
    except ShirubeError as error:
        from shirube.cli.output import show_error

        show_error(error)
        sys.exit(1)
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
    from shirube.cli.output import show_error

    show_error(
        Unavailable(
            f"The data folder cannot be used: {reason}",
            f"データフォルダーを使えません（{reason}）。",
            hint="権限と空き容量を確認してください。 Check permissions and disk space.",
        )
    )
    sys.exit(1)


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
        caller = _caller(as_)
    except ShirubeError as error:
        _fail_json(error)
    answer = asyncio.run(application.registry.call(name, caller, arguments))
    show_json(answer.sent)
    if not answer.ok:
        raise typer.Exit(1)


def _fail_json(error: ShirubeError) -> Any:
    from shirube.cli.output import show_json
    from shirube.toolsets.knowledge.schema import render_error

    show_json(render_error(error))
    raise typer.Exit(1)


@kb.command("add")
def kb_add(
    paths: Annotated[list[Path], typer.Argument(help="ファイルまたはフォルダー。 Files or folders.")],
    base: BaseName,
    collection: Annotated[
        str, typer.Option("--collection", help="入れるコレクション。 The collection they go to.")
    ] = "default",
    department: Annotated[
        str | None, typer.Option("--department", help="読める部署。 Only this department may read them.")
    ] = None,
    confidentiality: Annotated[
        str | None,
        typer.Option("--confidentiality", help="public, internal, confidential, secret, top_secret"),
    ] = None,
    description: Annotated[str, typer.Option("--description", help="新しく作るときの説明。")] = "",
    sync: Annotated[
        bool, typer.Option("--sync", help="フォルダーから消えた文書も外します。 Also remove what is gone.")
    ] = False,
    vectors: Annotated[
        bool, typer.Option("--vectors/--no-vectors", help="ベクトルも作ります。 Make vectors too.")
    ] = True,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """文書を入れます。変わっていないファイルは飛ばします。 Add documents; unchanged files are skipped.

    例: shirube kb add ./規程 --kb 社内規程
    """
    from shirube.cli.knowledge import add

    add(
        paths,
        base,
        collection=collection,
        department=department,
        confidentiality=confidentiality,
        description=description,
        sync=sync,
        vectors=vectors,
        caller=_caller(as_),
        as_json=as_json,
    )


@kb.command("list")
def kb_list(as_: As = None, as_json: Json = False) -> None:
    """ナレッジベースの一覧。 List knowledge bases."""
    from shirube.cli.knowledge import show_list

    show_list(_caller(as_), as_json)


@kb.command("share")
def kb_share(
    base: Annotated[str, typer.Argument(help="名前または ID。 Name or id.")],
    public: Annotated[
        bool | None,
        typer.Option("--public/--private", help="テナントの全員に公開するか。 For all of the tenant."),
    ] = None,
    join: Annotated[
        list[str] | None, typer.Option("--member", help="メンバーに加えます。 Let this subject in.")
    ] = None,
    leave: Annotated[
        list[str] | None, typer.Option("--remove-member", help="メンバーから外します。 Let them out.")
    ] = None,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """誰が読めるかを決めます。指定しなければ今の状態を表示します。 Say who may read it, or show who may.

    例: shirube kb share 社内規程 --public
    """
    from shirube.cli.knowledge import share

    share(base, public=public, join=join or [], leave=leave or [], caller=_caller(as_), as_json=as_json)


@kb.command("remove")
def kb_remove(
    base: Annotated[str, typer.Argument(help="名前または ID。 Name or id.")],
    yes: Annotated[bool, typer.Option("--yes", help="確認せずに削除します。 Do not ask.")] = False,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """ナレッジベースを文書と索引ごと削除します。 Remove a knowledge base with all it holds."""
    from shirube.cli.knowledge import remove

    remove(base, yes=yes, caller=_caller(as_), as_json=as_json)


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
        query, base, threshold=threshold, results=results, why=why, caller=_caller(as_), as_json=as_json
    )


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

    show_chat(message, base, tool=tool, caller=_caller(as_), as_json=as_json)


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


@evaluation.command("run")
def eval_run(folder: Set, queries: Queries = None, as_json: Json = False) -> None:
    """質問と正解のセットで、段階ごとの精度と速さを測ります。 Measure each stage on a set of questions with answers.

    設定のモデルを使い、データフォルダーには触れません。 Uses the models in the settings, not the data folder.

    例: shirube eval run ./社内FAQ評価 --queries 200
    """
    from shirube.cli.evaluation import run

    run(folder, most=queries, as_json=as_json)


@evaluation.command("calibrate")
def eval_calibrate(folder: Set, queries: Queries = None, as_json: Json = False) -> None:
    """再ランカーのスコアが確率になるよう較正し、以後の検索で使います。 Make scores of the re-ranker probabilities.

    質問の3分の1で確かめ、良くなるときだけ保存します。 Kept only where it does better on a third kept back.

    例: shirube eval calibrate ./社内FAQ評価
    """
    from shirube.cli.evaluation import calibrate

    calibrate(folder, most=queries, as_json=as_json)


@pages.command("search")
def pages_search(
    query: Annotated[str, typer.Argument(help="質問や語。 A question or words.")],
    docs: Docs,
    results: Annotated[int, typer.Option("-n", "--limit", min=1, max=20)] = 10,
    depth: Annotated[
        int, typer.Option("--depth", min=1, max=3, help="たどるリンクの数。 Links to follow.")
    ] = 2,
    linked: Annotated[bool, typer.Option("--linked", help="つながるページも。 With linked pages.")] = False,
    as_json: Json = False,
) -> None:
    """ページを探します。 Search pages.

    例: shirube pages search "ブレークポイント" --docs ./docs
    """
    from shirube.cli.pages import search

    search(docs, query, results=results, depth=depth, linked=linked, as_json=as_json)


@pages.command("get")
def pages_get(page: Page, docs: Docs, as_json: Json = False) -> None:
    """ページを、リンクと鮮度とともに表示します。 Show a page with its links and staleness."""
    from shirube.cli.pages import get

    get(docs, page, as_json)


@pages.command("context")
def pages_context(
    page: Page,
    docs: Docs,
    depth: Annotated[int, typer.Option("--depth", min=1, max=3)] = 2,
    max_size: Annotated[
        int, typer.Option("--max-size", min=1, help="最大文字数。 Most characters.")
    ] = 50_000,
    as_json: Json = False,
) -> None:
    """ページと、つながるページの要約。 A page with summaries of its neighbours."""
    from shirube.cli.pages import context

    context(docs, page, depth=depth, max_size=max_size, as_json=as_json)


@pages.command("list")
def pages_list(
    docs: Docs,
    doc_type: Annotated[str | None, typer.Option("--type", help="種別。 Only this kind.")] = None,
    sort: Annotated[str, typer.Option("--sort", help="title, updated_at, filepath")] = "title",
    order: Annotated[str, typer.Option("--order", help="asc, desc")] = "asc",
    as_json: Json = False,
) -> None:
    """ページの一覧。 List pages."""
    from shirube.cli.pages import list_pages

    list_pages(docs, doc_type=doc_type, sort=sort, order=order, as_json=as_json)


@pages.command("graph")
def pages_graph(
    docs: Docs,
    center: Annotated[
        str | None, typer.Option("--center", help="このページのまわり。 Around this page.")
    ] = None,
    depth: Annotated[int, typer.Option("--depth", min=1, max=5)] = 2,
    as_json: Json = False,
) -> None:
    """ページのつながり。 How pages are linked."""
    from shirube.cli.pages import graph

    graph(docs, center=center, depth=depth, as_json=as_json)


@pages.command("stale")
def pages_stale(
    docs: Docs,
    exit_code: ExitCode = False,
    annotate: Annotated[
        bool, typer.Option("--github", help="GitHub の注釈の形で。 As annotations for GitHub.")
    ] = False,
    as_json: Json = False,
) -> None:
    """元のファイルが変わったページ。 Pages whose sources have changed.

    例（CI で）: shirube pages stale --docs docs --exit-code --github
    """
    from shirube.cli.pages import stale

    if stale(docs, exit_code=exit_code, annotate=annotate, as_json=as_json):
        raise typer.Exit(1)


@pages.command("broken")
def pages_broken(docs: Docs, exit_code: ExitCode = False, as_json: Json = False) -> None:
    """切れたリンク、曖昧なリンク、孤立したページ。 Broken and ambiguous links, and pages without links."""
    from shirube.cli.pages import broken

    if broken(docs, exit_code=exit_code, as_json=as_json):
        raise typer.Exit(1)


@pages.command("suggest-links")
def pages_suggest(
    docs: Docs,
    page: Annotated[str | None, typer.Argument(help="このページだけ。 Only this page.")] = None,
    most: Annotated[int, typer.Option("--limit", min=1, help="最大件数。 At most so many.")] = 100,
    as_json: Json = False,
) -> None:
    """題名が書かれているのにリンクのない箇所。 Where a page's title is written without a link."""
    from shirube.cli.pages import suggest

    suggest(docs, filepath=page, most=most, as_json=as_json)


@pages.command("index")
def pages_index(
    docs: Docs,
    vectors: Annotated[bool, typer.Option("--vectors/--no-vectors", help="ベクトルも。 Vectors too.")] = True,
    as_json: Json = False,
) -> None:
    """ページを読み、索引とベクトルを作ります。 Read the pages and make their index and vectors."""
    from shirube.cli.pages import index

    index(docs, vectors=vectors, as_json=as_json)


@pages.command("status")
def pages_status(docs: Docs, as_json: Json = False) -> None:
    """ページ・節・リンク・ベクトルの数。 What is indexed."""
    from shirube.cli.pages import status

    status(docs, as_json=as_json)


@app.command()
def serve(
    docs: MaybeDocs = None,
    lock: Annotated[
        bool, typer.Option("--lock/--no-lock", help="1つのプロジェクトに1つだけ。 One server for a project.")
    ] = True,
) -> None:
    """MCP サーバーを標準入出力で動かします。 Serve MCP over stdio.

    例: Claude Desktop の設定に {"command": "shirube", "args": ["serve"]}
    ページも: {"command": "shirube", "args": ["serve", "--docs", "/path/to/docs"]}
    """
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
