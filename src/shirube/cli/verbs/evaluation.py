"""`shirube eval`: how well search works."""

import typer

from shirube.cli.verbs.options import Json, Queries, Set

evaluation = typer.Typer(no_args_is_help=True, help="検索の精度を測ります。 Measure how well search works.")


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
