"""`shirube pages`: a folder of Markdown pages."""

from typing import Annotated

import typer

from shirube.cli.verbs.options import Docs, ExitCode, Json, Page

pages = typer.Typer(no_args_is_help=True, help="Markdown のフォルダー。 A folder of Markdown pages.")


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
