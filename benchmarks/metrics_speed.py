"""How fast metrics are, as ratios to peers on the same work in the same run.

    python benchmarks/metrics_speed.py                  about two minutes
    python benchmarks/metrics_speed.py --json out.json

Answers: predictions of about 60 words with 1 to 5 gold answers of 1 to 8 words, half of which occur
in the prediction. EM, Match, token F1 / P / R and ROUGE-1 / 2 / L together, against Google's
rouge_score for its three alone (`score_multi`, no stemmer) and a plain SQuAD script for EM and F1.
Rankings: 10,000 queries x 100 passages, 13 values, against trec_eval's Python binding.

Times are CPU seconds of one thread; peers take turns, round by round, so that what else the machine
does meets them alike. The ratio is of the best rounds. Strings and mappings are made beforehand.
"""

from __future__ import annotations

import json
import random
import re
import string
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import click
import numpy as np
import pytrec_eval
from measured import in_turns  # type: ignore[import-not-found]  # a file beside this one
from rouge_score.rouge_scorer import RougeScorer

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.rank_arrays import rank_arrays
from ragstone.components.metrics.ranking_batch import rank_judged
from ragstone.components.metrics.score import BATCH

ANSWER_METRICS = ["EM", "Match", "F1", "Precision", "Recall", "ROUGE-1", "ROUGE-2", "ROUGE-L"]
RANKING_METRICS = {
    "nDCG@10": "ndcg_cut_10", "nDCG@100": "ndcg_cut_100", "R@5": "recall_5", "R@10": "recall_10",
    "R@100": "recall_100", "P@5": "P_5", "P@10": "P_10", "MRR": "recip_rank", "MAP": "map",
    "Rprec": "Rprec", "success@1": "success_1", "success@5": "success_5",
    "success@10": "success_10",
}  # fmt: skip
COMMON = ["the", "of", "and", "a", "in", "to", "is", "was", "an", "for", "on", "by", "with", "it"]
LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
DEPTH = 100
PEER_PAIRS = 1000
"""Pairs that the slower peers score; all of ours are scored."""

Mapped = tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]


def answers(size: int, seed: int) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return predictions and gold answers in synthetic Zipfian English."""
    generator = random.Random(seed)
    weights = [1 / (i + 2) for i in range(len(LETTERS))]
    vocabulary = COMMON + [
        "".join(generator.choices(LETTERS, weights, k=generator.randint(3, 10)))
        for _ in range(30_000)
    ]
    often = list(accumulate(1 / (i + 1) for i in range(len(vocabulary))))
    predictions, gold = [], []
    for _ in range(size):
        words = generator.choices(vocabulary, cum_weights=often, k=generator.randint(40, 80))
        said = [_dressed(word, generator) for word in words]
        labels = []
        for _ in range(generator.choices([1, 2, 3, 4, 5], [60, 20, 10, 6, 4])[0]):
            length = generator.choices([1, 2, 3, 4, 6, 8], [35, 30, 15, 10, 5, 5])[0]
            start = generator.randrange(len(said) - length)
            other = generator.choices(vocabulary, cum_weights=often, k=length)
            inside = generator.random() < 0.5
            labels.append(" ".join(said[start : start + length] if inside else other))
        predictions.append(" ".join(said))
        gold.append(tuple(labels))
    return predictions, gold


def _dressed(word: str, generator: random.Random) -> str:
    drawn = generator.random()
    word = word.capitalize() if drawn < 0.1 else word
    return word + generator.choices(["", ",", ".", "'s"], [87, 7, 5, 1])[0]


def score_all(
    predictions: Sequence[str], gold: Sequence[tuple[str, ...]], names: list[str]
) -> None:
    """Score all pairs by some of our metrics, batch by batch."""
    metrics = [parse_metric(name) for name in names]
    for start in range(0, len(predictions), BATCH):
        part = slice(start, start + BATCH)
        blank = [""] * len(predictions[part])
        pairs = AnswerBatch(predictions[part], gold[part], blank, [None] * len(blank), blank)
        for metric in metrics:
            metric.values(pairs)  # type: ignore[arg-type]


_ARTICLES = re.compile(r"\b(a|an|the)\b")


def squad_tokens(text: str) -> list[str]:
    """Return SQuAD's words, step by step as its script takes them."""
    bare = "".join(character for character in text.lower() if character not in string.punctuation)
    return " ".join(_ARTICLES.sub(" ", bare).split()).split()


def squad_script(prediction: str, gold: Sequence[str]) -> tuple[bool, float]:
    """Return EM and F1 as SQuAD's script computes them: every text normalised for either."""
    exact = any(" ".join(squad_tokens(prediction)) == " ".join(squad_tokens(g)) for g in gold)
    return exact, max(_squad_f1(squad_tokens(prediction), squad_tokens(g)) for g in gold)


def _squad_f1(said: list[str], wanted: list[str]) -> float:
    shared = sum((Counter(said) & Counter(wanted)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(said), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


def rankings(size: int, seed: int) -> Mapped:
    """Return qrels and runs: half of ten judged passages were retrieved."""
    generator = np.random.default_rng(seed)
    qrels, run = {}, {}
    for query in range(size):
        passages = [f"d{p}" for p in generator.choice(200_000, DEPTH, replace=False)]
        scores = generator.normal(10, 3, DEPTH).tolist()
        chosen = generator.choice(DEPTH, 5, replace=False)
        grades = {passages[i]: int(generator.integers(0, 4)) for i in chosen}
        grades |= {f"e{p}": 1 for p in generator.choice(200_000, 5, replace=False)}
        qrels[f"q{query}"] = grades
        run[f"q{query}"] = dict(zip(passages, scores, strict=True))
    return qrels, run


def arrays(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> list[np.ndarray]:
    """Return the same as arrays, passages numbered."""
    number: dict[str, int] = {}
    passages = [[number.setdefault(p, len(number)) for p in ranked] for ranked in run.values()]
    judged = [
        (query, number.setdefault(passage, len(number)), grade)
        for query, grades in enumerate(qrels.values())
        for passage, grade in grades.items()
    ]
    scores = [list(ranked.values()) for ranked in run.values()]
    return [np.array(passages), np.array(scores), *np.array(judged).T]


def answer_speed(size: int, rounds: int) -> dict[str, float]:
    """Return pairs per CPU second, and ratios."""
    predictions, gold = answers(size, 0)
    few = list(zip(predictions[:PEER_PAIRS], gold[:PEER_PAIRS], strict=True))
    google = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)
    best = in_turns(
        {
            "ours": lambda: score_all(predictions, gold, ANSWER_METRICS),
            "ours EM F1": lambda: score_all(predictions, gold, ["EM", "F1"]),
            "rouge_score": lambda: [google.score_multi(g, p) for p, g in few],
            "SQuAD script": lambda: [squad_script(p, g) for p, g in few],
        },
        rounds,
    )
    speed = {n: (size if n.startswith("ours") else len(few)) / s for n, s in best.items()}
    return {
        "pairs/s, eight metrics": speed["ours"],
        "pairs/s, rouge_score": speed["rouge_score"],
        "ratio to rouge_score": speed["ours"] / speed["rouge_score"],
        "pairs/s, EM and F1": speed["ours EM F1"],
        "pairs/s, SQuAD script": speed["SQuAD script"],
        "ratio to SQuAD script": speed["ours EM F1"] / speed["SQuAD script"],
    }


def ranking_speed(size: int, rounds: int) -> dict[str, float]:
    """Return CPU seconds, and ratios."""
    qrels, run = rankings(size, 0)
    query_ids, held = list(qrels), arrays(qrels, run)
    metrics = [parse_metric(name) for name in RANKING_METRICS]

    def theirs() -> object:
        return pytrec_eval.RelevanceEvaluator(qrels, set(RANKING_METRICS.values())).evaluate(run)

    def from_mappings() -> object:
        ranks = rank_judged(qrels, run, query_ids)
        return [metric.values(ranks) for metric in metrics]  # type: ignore[arg-type]

    def from_arrays() -> object:
        ranks = rank_arrays(*held)
        return [metric.values(ranks) for metric in metrics]  # type: ignore[arg-type]

    best = in_turns({"trec": theirs, "mappings": from_mappings, "arrays": from_arrays}, rounds)
    return {
        "s, trec_eval binding": best["trec"],
        "s, from mappings": best["mappings"],
        "s, from arrays": best["arrays"],
        "ratio from mappings": best["trec"] / best["mappings"],
        "ratio from arrays": best["trec"] / best["arrays"],
    }


COLD = """
import time; start = time.perf_counter()
import ragstone
answers = {f"q{i}": f"the answer is number {i}" for i in range(1000)}
gold = {f"q{i}": [f"number {i}", str(i)] for i in range(1000)}
ragstone.evaluate_answers(answers, gold, METRICS)
print(time.perf_counter() - start)
"""


def cold_start(rounds: int) -> dict[str, float]:
    """Return the wall seconds in which a new process imports and scores 1,000 answers."""
    code = COLD.replace("METRICS", repr(ANSWER_METRICS))
    found = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(rounds)
    ]
    return {"s, cold process, 1,000 answers": min(found)}


@click.command()
@click.option("--pairs", default=100_000, show_default=True)
@click.option("--queries", default=10_000, show_default=True)
@click.option("--rounds", default=5, show_default=True)
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here.")
def main(pairs: int, queries: int, rounds: int, path: Path | None) -> None:
    """Print the figures."""
    found = {
        "answers": answer_speed(pairs, rounds),
        "rankings": ranking_speed(queries, rounds),
        "start": cold_start(rounds),
    }
    for part, figures in found.items():
        for name, value in figures.items():
            print(f"{part:10} {name:32} {value:12,.3f}")
    if path:
        path.write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
