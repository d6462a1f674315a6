"""A multilingual encoder on XQuAD: ten languages, in their own paragraphs and in the English ones.

    python -m benchmarks.multilingual_encoder ../shared/data/xquad --store STORE
    python -m benchmarks.multilingual_encoder ../shared/data/xquad --store STORE \
        --limit 100 --own en

The same 1,190 questions on the same 240 paragraphs in each language. Per language, BM25, the
bundled MiniLM (a model of English) and e5-small search the paragraphs of that language (`--own`:
of these languages alone), and the English ones. Prints a Markdown table; the difference in nDCG@10
is paired, with an interval of 95 % over articles drawn whole, and p corrected by Holm over the rows
of a kind.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from benchmarks.xquad_languages import LANGUAGES, Language, table

from ragstone.core.registry import create
from ragstone.core.schemas import table_to_scores
from ragstone.core.store import Store
from ragstone.data.corpus import Corpus
from ragstone.evaluation.score_files import evaluate_run
from ragstone.protocols import Services
from ragstone.statistics.paired import Difference, adjust, paired_difference

RETRIEVERS: Final = {
    "bm25": "bm25",
    "minilm": "dense",
    "e5-small": {"name": "dense", "embedder": "e5-small"},
}
METRICS: Final = ("nDCG@10", "MRR")


def measured(
    language: Language, retriever: object, corpus: Corpus
) -> Mapping[str, Sequence[float]]:
    """Return metric -> one value per question, in order."""
    made = create("retrievers", retriever, where="retriever")
    outcomes = made.retrieve(language.searches, Services(corpus=corpus))
    run = {query_id: o.value for query_id, o in zip(language.qrels, outcomes, strict=True)}
    values: dict[str, dict[str, float]] = {metric: {} for metric in METRICS}
    for score in table_to_scores(evaluate_run(language.qrels, run, METRICS).table):
        values[score.metric][score.query_id] = score.value or 0.0
    return {metric: [held[i] for i in language.qrels] for metric, held in values.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--store", type=Path, required=True, help="folder of the vectors")
    parser.add_argument("--limit", type=int, help="approximate number of questions per language")
    parser.add_argument("--own", default=",".join(LANGUAGES), help="separated by commas")
    asked = parser.parse_args()
    store = Store(asked.store)
    english = replace(Language.read(asked.data, "en", asked.limit).corpus, store=store)
    rows: list[tuple[str, str, list[str], Difference]] = []
    for code in LANGUAGES:
        language = Language.read(asked.data, code, asked.limit)
        articles = [next(iter(grades)).partition("-")[0] for grades in language.qrels.values()]
        own = replace(language.corpus, store=store)
        corpora = {"own": own} if code in asked.own.split(",") else {}
        corpora |= {"English": english} if code != "en" else {}
        for name, corpus in corpora.items():
            found = {way: measured(language, r, corpus) for way, r in RETRIEVERS.items()}
            cells = [
                f"{sum(values[metric]) / len(articles):.3f}"
                for metric in METRICS
                for values in found.values()
            ]
            gap = paired_difference(
                found["bm25"]["nDCG@10"], found["e5-small"]["nDCG@10"], clusters=articles
            )
            rows.append((code, name, [str(len(articles)), *cells], gap))
            sys.stderr.write(f"{code}, {name}: done\n")
    lines = []
    for kind in ("own", "English"):
        some = [row for row in rows if row[1] == kind]
        for (code, name, cells, gap), p in zip(some, adjust([r[3].p for r in some]), strict=True):
            low, high = gap.interval or (0.0, 0.0)
            shown = f"{gap.difference:+.3f} [{low:+.3f}, {high:+.3f}]"
            lines.append([code, name, *cells, shown, f"{p:.4f}" if p >= 1e-4 else "< 0.0001"])
    head = [f"{metric} {way}" for metric in METRICS for way in RETRIEVERS]
    print(table(["language", "paragraphs", "n", *head, "e5-small less bm25", "p (Holm)"], lines))


if __name__ == "__main__":
    main()
