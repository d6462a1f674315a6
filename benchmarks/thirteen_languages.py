"""Tokens, answer metrics, BM25 and the data doctor in many languages, on real paragraphs.

    python benchmarks/thirteen_languages.py ../shared/data
    python benchmarks/thirteen_languages.py ../shared/data --cases    the zeros, one per line

XQuAD (ten languages), JSQuAD and SQuAD-it. Per language: the share of questions whose gold answer
scores 1 by Match, Recall and char3-recall against its own paragraph as the answer, of the questions
whose paragraph has the answer letter by letter; a lower share is a wrong zero. Also BM25's MRR@10
among the paragraphs of the language, words per paragraph, and findings of the doctor. Intervals of
95 %, paragraphs drawn whole.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from benchmarks.language_detection import read, table

from ragstone.components.metrics.score import score_answers
from ragstone.core.registry import create
from ragstone.core.schemas import table_to_scores
from ragstone.data.dataset import Dataset
from ragstone.data_quality import Subject, check
from ragstone.evaluation.score_files import evaluate_run
from ragstone.protocols import Services
from ragstone.statistics.summary import Summary, summarise
from ragstone.text.words import words
from ragstone.types import Prediction, Query, Score, Search

METRICS: Final = ("Match", "Recall", "char3-recall")


def own_paragraphs(dataset: Dataset) -> dict[str, str]:
    """Return query id -> id of its paragraph."""
    return {query_id: next(iter(grades)) for query_id, grades in dataset.qrels.items() if grades}


def literal(dataset: Dataset) -> list[tuple[Query, str]]:
    """Return the queries whose paragraph has the first gold answer letter by letter."""
    own = own_paragraphs(dataset)
    found = ((query, dataset.corpus[own[query.query_id]].text) for query in dataset.queries)
    return [(q, text) for q, text in found if q.gold_answers and q.gold_answers[0] in text]


def gold_scores(code: str, dataset: Dataset) -> dict[str, list[Score]]:
    """Return metric -> score of each gold answer, with its paragraph as the answer."""
    pairs = literal(dataset)
    queries = [
        replace(q, gold_answers=q.gold_answers[:1], labels={"language": code}) for q, _ in pairs
    ]
    answers = [Prediction(q.query_id, text) for q, text in pairs]
    found: dict[str, list[Score]] = {}
    for score in table_to_scores(score_answers(METRICS, queries, answers)):
        found.setdefault(score.metric, []).append(score)
    return found


def mrr(dataset: Dataset) -> Summary:
    """Return MRR@10 of BM25 among the paragraphs of a language."""
    retriever = create("retrievers", "bm25", where="retriever")
    searches = [Search(query.query_id, query.text) for query in dataset.queries]
    outcomes = retriever.retrieve(searches, Services(corpus=dataset.corpus))
    run = {s.query_id: o.value for s, o in zip(searches, outcomes, strict=True)}
    own = own_paragraphs(dataset)
    return evaluate_run(dataset.qrels, run, ["MRR@10"], clusters=own)["MRR@10"]


def shown(summary: Summary) -> str:
    """Return a mean with its interval."""
    low, high = summary.interval or (0.0, 0.0)
    return f"{summary.mean or 0:.3f} [{low:.3f}, {high:.3f}]"


def rows(sets: Mapping[str, Dataset], cases: bool) -> Iterator[list[str]]:
    """Yield a row per language."""
    for code, dataset in sets.items():
        own = own_paragraphs(dataset)
        scores = gold_scores(code, dataset)
        cells = []
        for held in scores.values():
            perfect = [float((one.value or 0.0) > 1 - 1e-9) for one in held]
            cells.append(shown(summarise(perfect, clusters=[own[one.query_id] for one in held])))
        lengths = [len(words(passage.text)) for passage in dataset.corpus]
        found = Counter(one.severity for one in check(Subject(dataset)))
        yield [
            *(code, f"{len(dataset.queries):,}", f"{len(scores['Match']):,}", *cells),
            *(shown(mrr(dataset)), f"{statistics.median(lengths):.0f}"),
            ", ".join(f"{count} {severity}" for severity, count in sorted(found.items())) or "-",
        ]
        for query, text in literal(dataset) if cases else ():
            for metric, held in scores.items():
                score = next(one for one in held if one.query_id == query.query_id)
                if (score.value or 0.0) < 1 - 1e-9:
                    place = text.index(query.gold_answers[0])
                    near = text[max(0, place - 15) : place + len(query.gold_answers[0]) + 15]
                    facts = (code, metric, f"{score.value:.3f}", repr(query.gold_answers[0]))
                    sys.stderr.write("\t".join([*facts, repr(near)]) + "\n")
        sys.stderr.write(f"{code}: done\n")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--cases", action="store_true", help="print each zero to stderr")
    asked = parser.parse_args()
    head = ["language", "questions", "literal", *METRICS, "BM25 MRR@10", "words", "findings"]
    print(table(head, rows(read(asked.data), asked.cases)))


if __name__ == "__main__":
    main()
