"""`shirube patents`: publications, lanes and their fusion."""

from pathlib import Path
from typing import Annotated

import typer

from shirube.cli.verbs.options import As, Json, caller_of

patents = typer.Typer(no_args_is_help=True, help="特許公報。 Patent publications.")

Fi = Annotated[list[str] | None, typer.Option("--fi", help="FI（G06V10/82、G06V10、G06V*。繰り返し可）")]
Count = Annotated[int, typer.Option("-n", "--limit", min=1, max=100)]


@patents.command("import")
def patents_import(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="JSONL・JSON・CSV・公報 XML。")],
    vectors: Annotated[
        bool, typer.Option("--vectors/--no-vectors", help="ベクトルも作ります。 Make vectors too.")
    ] = True,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """公報を取り込みます。変わっていないものは飛ばします。 Import publications.

    例: shirube patents import 公報.jsonl
    """
    from shirube.cli.patents import take_in

    take_in(files, vectors=vectors, caller=caller_of(as_), as_json=as_json)


@patents.command("search")
def patents_search(
    query: Annotated[str, typer.Argument(help="検索式。 A Boolean query: (顔認証 OR 顔識別) AND マスク")],
    fi: Fi = None,
    limit: Count = 10,
    semantic: Annotated[
        bool, typer.Option("--semantic", help="式ではなく文章として、意味で探します。 By meaning.")
    ] = False,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """公報を検索します。 Search publications.

    例: shirube patents search '(顔認証 OR 顔識別) AND *N10"マスク 遮蔽"' --fi G06V10
    """
    from shirube.cli.patents import search

    search(query, fi=fi or [], limit=limit, semantic=semantic, caller=caller_of(as_), as_json=as_json)


@patents.command("fuse")
def patents_fuse(
    runs: Annotated[list[str], typer.Argument(metavar="RUN…", help="search が返した run_id。")],
    fi: Annotated[
        list[str] | None, typer.Option("--fi", help="目標の FI と重み（G06V10/82=1.0。繰り返し可）")
    ] = None,
    limit: Count = 10,
    as_: As = None,
    as_json: Json = False,
) -> None:
    """複数の検索結果を融合します。 Fuse the runs of several searches."""
    from shirube.cli.patents import fuse

    fuse(runs, fi=fi or [], limit=limit, caller=caller_of(as_), as_json=as_json)


@patents.command("get")
def patents_get(
    number: Annotated[
        str, typer.Argument(help="番号。 A number: 特開2023-123456, 特許第7123456号, JP2023123456")
    ],
    as_: As = None,
    as_json: Json = False,
) -> None:
    """公報を番号で表示します。 Show a publication."""
    from shirube.cli.patents import get

    get(number, caller=caller_of(as_), as_json=as_json)
