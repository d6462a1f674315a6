"""Scores of queries drawn from a model of real scores, whose true mean is known.

In the manner of Urbano, Lima and Hanjalic, "Stochastic simulation of test collections" (2019): the
margin of a system is the distribution of its real scores, and a Gaussian copula joins systems, with
the rank correlation of the real ones, and the queries of a cluster. Two systems with one margin
have a true difference of 0.
"""

from __future__ import annotations

import gzip
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone.evaluation.score_files import evaluate_answers, evaluate_run

Floats = NDArray[np.float64]
GRID = 4096


@dataclass(frozen=True)
class Model:
    """Two systems under one metric."""

    metric: str
    margins: tuple[Floats, Floats]
    """Sorted real scores of both systems."""
    correlation: float

    def draw(
        self, generator: np.random.Generator, sizes: NDArray[np.int64], share: float, second: int
    ) -> tuple[Floats, Floats]:
        """Return both systems' scores of clusters of some sizes; `second` is its margin."""
        rows = int(sizes.sum())
        normal = generator.standard_normal((2, rows))
        if share:
            own = np.repeat(generator.standard_normal((2, len(sizes))), sizes, axis=1)
            normal = math.sqrt(share) * own + math.sqrt(1 - share) * normal
        rest = math.sqrt(1 - self.correlation**2)
        normal[1] = self.correlation * normal[0] + rest * normal[1]
        first, other = (
            margin[(_below(row) * len(margin)).astype(np.int64)]
            for margin, row in zip((self.margins[0], self.margins[second]), normal, strict=True)
        )
        return first, other


_POINTS = np.linspace(-6, 6, GRID)
_VALUES = np.array([0.5 * math.erfc(-point / math.sqrt(2)) for point in _POINTS])


def _below(normal: Floats) -> Floats:
    below: Floats = np.minimum(np.interp(normal, _POINTS, _VALUES), 1 - 1e-9)
    return below


def models(data: Path) -> list[Model]:
    """Return models of EM and F1 of SQuAD systems, and of four ranking metrics of mtRAG runs."""
    with gzip.open(data / "xquad/xquad.en.json.gz", "rt") as file:
        articles = json.load(file)["data"]
    questions = [q for a in articles for part in a["paragraphs"] for q in part["qas"]]
    gold = {q["id"]: [answer["text"] for answer in q["answers"]] for q in questions}
    answers = [
        json.loads((data / "squad_predictions" / f"{name}.json").read_text())
        for name in ("bert_ensemble", "match_lstm")
    ]
    answered = [evaluate_answers(one, gold, ["EM", "F1"]).scores for one in answers]
    qrels, runs = _mtrag(data / "mtrag")
    names = ["nDCG@5", "R@5", "RR@10", "Hit@1"]
    ranked = [evaluate_run(qrels, run, names).scores for run in runs]
    return [
        *(_model(name, answered[0][name], answered[1][name]) for name in ("EM", "F1")),
        *(_model(name, one, ranked[1][name]) for name, one in ranked[0].items()),
    ]


def _mtrag(folder: Path) -> tuple[dict[str, dict[str, int]], list[dict[str, dict[str, float]]]]:
    qrels: dict[str, dict[str, int]] = {}
    runs: list[dict[str, dict[str, float]]] = [{}, {}]
    for domain in ("clapnq", "cloud", "fiqa"):
        for line in (folder / f"qrels/human_{domain}.tsv").read_text().splitlines()[1:]:
            query, document, grade = line.split("\t")
            qrels.setdefault(query, {})[document] = int(grade)
        for run, name in zip(runs, ("elser", "bge"), strict=True):
            with gzip.open(folder / f"runs/{name}.{domain}.rewrite.trec.gz", "rt") as file:
                for line in file:
                    query, _, document, _, score, _ = line.split()
                    run.setdefault(query, {})[document] = float(score)
    return qrels, runs


def _model(metric: str, a: dict[str, float | None], b: dict[str, float | None]) -> Model:
    pairs = [(a[q], b[q]) for q in a if a[q] is not None and b.get(q) is not None]
    first, second = np.array(pairs, dtype=np.float64).T
    # The Gaussian copula's correlation is near that of the ranks.
    ranks = [np.argsort(np.argsort(side, kind="stable")) for side in (first, second)]
    correlation = float(np.asarray(np.corrcoef(np.array(ranks)))[0, 1])
    return Model(metric, (np.sort(first), np.sort(second)), correlation)
