"""How fast metrics are, as ratios to peers on the same work in the same run.

    python benchmarks/metrics_speed.py                  about two minutes
    python benchmarks/metrics_speed.py --json out.json

Answers, from the public data sets: those of four systems to XQuAD (3 words), windows of 61 and 101
words of the relevant passages of nq_singlehop with its short gold answers, and answers of two
systems to RAGChecker with the first 79 words of its gold answers. Without the data, made ones.
EM, Match, token F1 / P / R and ROUGE-1 / 2 / L together by `score_answers`, against Google's
rouge_score for its three alone (`score_multi`, no stemmer) and a plain SQuAD script for EM and F1.
"first" forgets the kept gold answers before each round; "again" is a second system's pace on the
same gold answers; "made" is "first" with queries and predictions made beforehand, as an experiment
has them. All of these also with the compiled kernel, if `make kernel` has made it.
Variants: the corrected metric's time over that of the published variant.
Rankings: 10,000 queries x 100 passages, 13 values, against trec_eval's Python binding.

Times are CPU seconds of one thread; peers take turns, round by round, so that what else the machine
does meets them alike. The ratio is of the best rounds. Strings and mappings are made beforehand.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import string
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytrec_eval
from measured import DATA, in_turns  # type: ignore[import-not-found]  # a file beside this one
from rouge_score.rouge_scorer import RougeScorer

from ragstone.components.metrics.answer_batch import kept_gold
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.rank_arrays import rank_arrays
from ragstone.components.metrics.ranking_batch import rank_judged
from ragstone.components.metrics.score import score_answers
from ragstone.core import token_kernel
from ragstone.types import Prediction, Query

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
HAS_KERNEL = token_kernel.is_loaded()
PEER_PAIRS = 500
"""Pairs that the slower peers score; all of ours are scored."""
MODELS = ("model1", "model2")
VARIANTS = (
    "EM(variant=squad)", "F1(variant=squad)", "Match(variant=bergen)",
    "ROUGE-1(variant=mtrag)", "ROUGE-L(variant=mtrag)",
    "ROUGE-1(variant=bergen)", "ROUGE-2(variant=bergen)", "ROUGE-L(variant=bergen)",
)  # fmt: skip

Pairs = tuple[list[str], list[tuple[str, ...]]]
Objects = tuple[list[Query], list[Prediction]]
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


def _lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def xquad_answers() -> Pairs:
    """Return the answers of four systems to XQuAD in English, with its gold answers."""
    with gzip.open(DATA / "xquad" / "xquad.en.json.gz") as file:
        articles = json.load(file)["data"]
    asked = [qa for one in articles for part in one["paragraphs"] for qa in part["qas"]]
    gold = {qa["id"]: tuple({a["text"]: None for a in qa["answers"]}) for qa in asked}
    said = [
        pair
        for path in sorted((DATA / "squad_predictions").glob("*.json"))
        for pair in json.loads(path.read_text()).items()
    ]
    return [answer for _, answer in said], [gold[query] for query, _ in said]


def passage_answers(words: int) -> Pairs:
    """Return windows of the relevant passages of nq_singlehop, with its short gold answers."""
    folder = DATA / "nq_singlehop"
    texts = {row["_id"]: row["text"].split() for row in _lines(folder / "corpus.jsonl.gz")}
    gold = {row["_id"]: tuple(row["answers"]) for row in _lines(folder / "queries.jsonl.gz")}
    predictions, wanted = [], []
    for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
        query, passage = line.split("\t")[:2]
        short = max((len(label.split()) for label in gold[query]), default=99) <= 10
        held = texts[passage] if short else []
        for start in range(0, len(held) - words + 1, words):
            predictions.append(" ".join(held[start : start + words]))
            wanted.append(gold[query])
    return predictions, wanted


def long_answers() -> Pairs:
    """Return answers of two systems to RAGChecker, with the first 79 words of long gold answers."""
    with gzip.open(DATA / "ragchecker" / "human_labeled_data.json.gz") as file:
        rows = [row for row in json.load(file) if len(row["gt_answer"].split()) >= 79]
    twice = [(row[model]["response"], row["gt_answer"]) for model in MODELS for row in rows]
    return (
        [" ".join(answer.split()[:100]) for answer, _ in twice],
        [(" ".join(gold.split()[:79]),) for _, gold in twice],
    )


def shapes() -> dict[str, Pairs]:
    """Return answers with their gold answers by shape; made ones if the data is not there."""
    needed = ("xquad", "squad_predictions", "nq_singlehop", "ragchecker")
    if not all((DATA / name).is_dir() for name in needed):
        print(f"no public data sets in {DATA}: made answers of 60 words")
        return {"made": answers(20_000, 0)}
    return {
        "3 words": xquad_answers(),
        "61 words": passage_answers(61),
        "101 words": passage_answers(101),
        "golds of 79": long_answers(),
    }


def objects(pairs: Pairs) -> Objects:
    """Return the queries and predictions of all pairs."""
    predictions, gold = pairs
    queries = [Query(str(i), "", labels) for i, labels in enumerate(gold)]
    return queries, [Prediction(str(i), text) for i, text in enumerate(predictions)]


def score_all(
    pairs: Pairs,
    names: Sequence[str],
    *,
    forget: bool = False,
    kernel: bool = False,
    made: Objects | None = None,
) -> None:
    """Score all pairs by some of our metrics, with or without the kernel."""
    os.environ["RAGSTONE_KERNEL"] = "on" if kernel else "off"
    token_kernel.reload()
    if forget:
        kept_gold.cache_clear()
    score_answers(list(names), *(made or objects(pairs)))


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


def answer_speed(pairs: Pairs, rounds: int) -> dict[str, float]:
    """Return pairs per CPU second, and ratios."""
    size = len(pairs[0])
    few = list(zip(*pairs, strict=True))[:: max(1, size // PEER_PAIRS)]
    google = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)
    eight = partial(score_all, pairs, ANSWER_METRICS)
    ours: dict[str, Callable[[], object]] = {}
    for kernel in [False, True][: 1 + HAS_KERNEL]:
        way = ", kernel" if kernel else ""
        ours |= {
            f"first{way}": partial(eight, forget=True, kernel=kernel),
            f"again{way}": partial(eight, kernel=kernel),
            f"made{way}": partial(eight, forget=True, kernel=kernel, made=objects(pairs)),
        }
    best = in_turns(
        {
            **ours,
            "ours EM F1": partial(score_all, pairs, ["EM", "F1"], forget=True),
            "rouge_score": lambda: [google.score_multi(g, p) for p, g in few],
            "SQuAD script": lambda: [squad_script(p, g) for p, g in few],
        },
        rounds,
    )
    theirs = ("rouge_score", "SQuAD script")
    speed = {n: (len(few) if n in theirs else size) / s for n, s in best.items()}
    return {
        "pairs": size,
        **{f"pairs/s, eight metrics, {way}": speed[way] for way in ours},
        "pairs/s, rouge_score": speed["rouge_score"],
        **{f"ratio to rouge_score, {way}": speed[way] / speed["rouge_score"] for way in ours},
        "ratio to SQuAD script": speed["ours EM F1"] / speed["SQuAD script"],
    }


def variant_speed(pairs: Pairs, rounds: int) -> dict[str, float]:
    """Return the time of each corrected metric over that of its published variants."""
    plain = {name.partition("(")[0] for name in VARIANTS}
    work = {name: partial(score_all, pairs, [name], forget=True) for name in (*plain, *VARIANTS)}
    best = in_turns(work, rounds)
    return {name: best[name.partition("(")[0]] / best[name] for name in VARIANTS}


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
@click.option("--queries", default=10_000, show_default=True)
@click.option("--rounds", default=5, show_default=True)
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here.")
def main(queries: int, rounds: int, path: Path | None) -> None:
    """Print the figures."""
    held = shapes()
    found = {
        **{shape: answer_speed(pairs, rounds) for shape, pairs in held.items()},
        "variants": variant_speed(list(held.values())[1 % len(held)], rounds),
        "rankings": ranking_speed(queries, rounds),
        "start": cold_start(rounds),
    }
    for part, figures in found.items():
        for name, value in figures.items():
            print(f"{part:12} {name:36} {value:12,.3f}")
    if path:
        path.write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
