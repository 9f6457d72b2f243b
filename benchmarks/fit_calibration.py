"""Fits the map from the default re-ranker's scores to probabilities (`shirube.retrieval.calibration.Standing`).

    python -m benchmarks.fit_calibration

On the sample company's questions, unanswerable ones among them, and on JaQuAD's training questions; each set counts
the same. The ten best candidates of every question are used. Deterministic.
"""

import json
import tempfile
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np

from benchmarks.datasets import Passage, load, with_distractors
from benchmarks.fit_coverage import logistic
from benchmarks.ours import Searcher
from shirube.ingest.chunking import passages
from shirube.ingest.readers import markdown
from shirube.models.contract import Scores
from shirube.retrieval.calibration import gaps, log_odds

BEST = 10
JAQUAD_EVERY = 30


def main() -> None:
    tables, labels, weights = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for number, rows in enumerate((_samples, _jaquad)):
            table, right = rows(Path(folder) / str(number))
            tables.append(table)
            labels.append(right)
            weights.append(np.full(len(right), 1000 / len(right)))
    fitted = logistic(np.concatenate(tables), np.concatenate(labels), np.concatenate(weights))
    print("SCORE, GAP, BIAS =", [round(float(value), 2) for value in fitted])


def _samples(folder: Path) -> tuple[Scores, Scores]:
    company = Path(str(files("shirube") / "samples" / "company"))
    corpus, texts = [], {}
    for file in sorted(company.rglob("*.md")):
        content = markdown.read(file.read_bytes())
        source = file.relative_to(company).as_posix()
        for number, passage in enumerate(passages(content)):
            name = f"{source}#{number}"
            headed = "\n".join([*passage.heading_path[1:], passage.text])
            corpus.append(Passage(name, content.title or "", headed))
            texts[name] = passage.text
    searcher = Searcher(folder, corpus)
    lines = (company.parent / "questions.jsonl").read_text().splitlines()
    asked = [json.loads(line) for line in lines]

    def right(line: dict[str, str]) -> Callable[[str], bool]:
        document, answer = line["document"], line["answer"]
        return lambda name: bool(document) and name.startswith(f"{document}#") and answer in texts[name]

    return _rows(searcher, [(line["query"], right(line)) for line in asked])


def _jaquad(folder: Path) -> tuple[Scores, Scores]:
    data = with_distractors(load("jaquad-train"), load("jaquad-dev"))
    searcher = Searcher(folder, data.corpus)
    asked = list(data.queries.items())[::JAQUAD_EVERY]
    return _rows(searcher, [(text, data.qrels[name].__contains__) for name, text in asked])


def _rows(searcher: Searcher, asked: Sequence[tuple[str, Callable[[str], bool]]]) -> tuple[Scores, Scores]:
    tables, labels = [], []
    for query, right in asked:
        best = searcher.rank(query).results[:BEST]
        odds = log_odds(np.array([each.scores["rerank"] for each in best]))
        tables.append(np.column_stack([odds, gaps(odds)]))
        labels.append(np.array([right(searcher.ids[each.key]) for each in best], float))
    return np.concatenate(tables), np.concatenate(labels)


if __name__ == "__main__":
    main()
