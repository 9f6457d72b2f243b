"""Measures what each threshold lets through, and whether scores keep their word; writes docs/threshold.md.

    python -m benchmarks.thresholds

The questions are those of jaquad-dev, among the passages of all of JaQuAD; nothing was fitted to them. Each is asked
twice: as it is, and of a list that has lost its right passages, as a question that cannot be answered.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.datasets import load, with_distractors
from benchmarks.ours import Searcher
from shirube.evaluate.calibration import (
    Trade,
    answers_of,
    expected_error,
    judged_lists,
    trades,
    with_unanswerable,
)

DOCUMENT = Path(__file__).parents[1] / "docs" / "threshold.md"
# The ranges of the specification's guide, what each is for, and the threshold that stands for it.
GUIDE = (
    ("0.5〜0.6", "広範囲検索", "wide search", 0.5),
    ("0.6〜0.7", "バランス（推奨）", "balanced, the default", 0.6),
    ("0.7〜0.8", "高精度検索", "precise search", 0.7),
    ("0.8〜1.0", "厳密検索", "strict search", 0.8),
)


def main() -> None:
    dataset = with_distractors(load("jaquad-dev"), load("jaquad-train"))
    with tempfile.TemporaryDirectory() as folder:
        searcher = Searcher(Path(folder), dataset.corpus)
        lists = judged_lists(searcher, dataset)
        calibration, reranker = searcher.workspace.calibration, searcher.reranker
        searcher.close()
    assert reranker is not None
    found = trades(calibration, lists, answers_of(dataset))
    together = with_unanswerable(lists)
    errors = [expected_error(calibration, each, shown) for each in (lists, together) for shown in (10, 1)]
    DOCUMENT.write_text(_document(reranker.name, len(lists), len(dataset.corpus), found, errors), "utf-8")
    print(DOCUMENT.read_text("utf-8"))


def _document(
    reranker: str, questions: int, passages: int, found: Sequence[Trade], errors: Sequence[float]
) -> str:
    at = {each.threshold: each for each in found}
    guide = [
        f"| {ranged} | {ja} ({en}) | {at[start].precision:.2f} | {at[start].recall:.2f} |"
        for ranged, ja, en, start in GUIDE
    ]
    rows = [
        f"| {each.threshold:.2f} | {each.precision:.3f} | {each.recall:.3f} | {each.silent:.3f} |"
        for each in found
    ]
    shown, first, shown_all, first_all = (f"{error:.3f}" for error in errors)
    return "\n".join(
        [
            "# threshold 設定ガイド / Choosing a threshold",
            "",
            "このページは `python -m benchmarks.thresholds` が書きます。 This page is written by that command.",
            "",
            "`score` は、その箇所が質問に答えている確率の推定です。 A `score` is the estimated probability that the "
            "passage answers the query.",
            "",
            "| threshold | 用途 (use) | Precision | Recall |",
            "|-----------|------|-----------|--------|",
            *guide,
            "",
            "範囲の下端で測った値です。 Measured at the lower end of each range.",
            "",
            "## 測定 / Measured",
            "",
            f"jaquad-dev の質問 {questions:,} 件、箇所 {passages:,} 件、再ランカー {reranker}、返却は10件まで。 "
            f"{questions:,} questions of jaquad-dev, {passages:,} passages, at most 10 results.",
            "",
            "- Precision: 返した箇所のうち正しいもの。 Of the passages shown, how many are right.",
            "- Recall: 正しい箇所のうち返したもの。 Of the right passages, how many are shown.",
            "- 無回答: 答えのない質問に何も返さなかった割合。 Of the questions without an answer (the right passages "
            "were taken away), how many got none.",
            "",
            "| threshold | Precision | Recall | 無回答 (silent) |",
            "|-----------|-----------|--------|--------|",
            *rows,
            "",
            "## 較正誤差 / Expected calibration error",
            "",
            "10区間に分け、平均スコアと正解率の差を件数で平均したものです。 Ten bins, weighted by size.",
            "",
            "| 質問 (questions) | 返した10件 (all shown) | 1位だけ (the first alone) |",
            "|---|---|---|",
            f"| 答えのある質問 (answerable) | {shown} | {first} |",
            f"| 4分の1は答えなし (a quarter again without an answer) | {shown_all} | {first_all} |",
            "",
            "自分の質問集に合わせるには `shirube eval calibrate SET`。 To fit scores to questions of your own: "
            "`shirube eval calibrate SET`.",
            "",
        ]
    )


if __name__ == "__main__":
    main()
