"""Retrieval in ten languages: the same 1,190 questions on the same 240 paragraphs of XQuAD.

    python benchmarks/xquad_languages.py ../shared/data/xquad
    python benchmarks/xquad_languages.py ../shared/data/xquad --dense --store STORE --limit 300

Per language: BM25 as it comes, with the language's Snowball stemmer and with its stop words too (if
there are any), the same questions against the English paragraphs, and with `--dense` the bundled
MiniLM, a model of English. Prints a Markdown table with intervals of 95 %, articles drawn whole,
and the paired differences that stemming makes, corrected by Holm over the languages.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ragstone.core.registry import create
from ragstone.core.schemas import table_to_scores
from ragstone.core.store import Store
from ragstone.data.corpus import Corpus
from ragstone.data.readers.squad import SquadReader
from ragstone.evaluation.score_files import evaluate_run
from ragstone.protocols import Services
from ragstone.statistics.paired import adjust, paired_difference
from ragstone.statistics.summary import summarise
from ragstone.text.stop_words import STOP_WORDS
from ragstone.types import Search

LANGUAGES: Final = {
    "ar": "arabic",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "ro": "romanian",
    "ru": "russian",
    "tr": "turkish",
    "vi": "vietnamese",
    "zh": "chinese",
}
UNSTEMMED: Final = {"vietnamese", "chinese"}
METRICS: Final = ("hit@1", "hit@5", "nDCG@10")


@dataclass(frozen=True)
class Row:
    """One way of searching in one language: metric -> one value per question, in order."""

    language: str
    way: str
    values: Mapping[str, Sequence[float]]
    articles: Sequence[str]

    def shown(self) -> list[str]:
        """Return the cells of the row."""
        cells = []
        for metric in METRICS:
            found = summarise(self.values[metric], clusters=self.articles)
            low, high = found.interval or (0.0, 0.0)
            cells.append(f"{found.mean or 0:.3f} [{low:.3f}, {high:.3f}]")
        return [self.language, self.way, *cells]


@dataclass(frozen=True)
class Language:
    """The questions of one language, in the order of the file."""

    code: str
    searches: Sequence[Search]
    qrels: Mapping[str, Mapping[str, int]]
    corpus: Corpus

    @classmethod
    def read(cls, folder: Path, code: str, limit: int | None) -> Language:
        """Read a language; every n-th question, so that about `limit` are left."""
        dataset = SquadReader(folder / f"xquad.{code}.json.gz").read()
        step = max(1, len(dataset.queries) // limit) if limit else 1
        searches = [Search(query.query_id, query.text) for query in dataset.queries[::step]]
        qrels = {search.query_id: dataset.qrels[search.query_id] for search in searches}
        return cls(code, searches, qrels, dataset.corpus)

    def measure(self, way: str, written: Any, corpus: Corpus) -> Row:
        """Search a corpus, of this language or of another: passages of the same id translate."""
        retriever = create("retrievers", written, where="retriever")
        outcomes = retriever.retrieve(self.searches, Services(corpus=corpus))
        run = {query_id: o.value for query_id, o in zip(self.qrels, outcomes, strict=True)}
        values: dict[str, dict[str, float]] = {metric: {} for metric in METRICS}
        for score in table_to_scores(evaluate_run(self.qrels, run, METRICS).table):
            values[score.metric][score.query_id] = score.value or 0.0
        articles = [next(iter(grades)).partition("-")[0] for grades in self.qrels.values()]
        ordered = {metric: [held[i] for i in self.qrels] for metric, held in values.items()}
        return Row(self.code, way, ordered, articles)


def ways(language: str, dense: bool) -> dict[str, Any]:
    """Return the results in a language: name -> retriever as it is written."""
    found: dict[str, Any] = {"bm25": "bm25"}
    if language not in UNSTEMMED:
        found["bm25, stemmed"] = {"name": "bm25", "stemmer": language}
    if language in STOP_WORDS:
        both = {"name": "bm25", "stemmer": language, "stop_words": language}
        found["bm25, stemmed, stop words"] = both
    return found | ({"dense (English MiniLM)": "dense"} if dense else {})


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (headers, ["---"] * len(headers), *rows))


def gaps(rows: Sequence[Row]) -> list[list[str]]:
    """Return the gain of each variant on plain BM25, in nDCG@10."""
    base = {row.language: row for row in rows if row.way == "bm25"}
    others = [row for row in rows if row.way != "bm25"]
    found = []
    for row in others:
        one, other = base[row.language].values["nDCG@10"], row.values["nDCG@10"]
        found.append(paired_difference(one, other, clusters=row.articles))
    lines = []
    for way in dict.fromkeys(row.way for row in others):
        held = [(r, gap) for r, gap in zip(others, found, strict=True) if r.way == way]
        corrected = adjust([gap.p for _, gap in held])
        for (row, gap), p in zip(held, corrected, strict=True):
            low, high = gap.interval or (0.0, 0.0)
            shown = f"{gap.difference:+.3f} [{low:+.3f}, {high:+.3f}]"
            lines.append([row.language, way, shown, f"{p:.4f}"])
    return lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--dense", action="store_true", help="embed the paragraphs too")
    parser.add_argument("--store", type=Path, help="folder of the vectors")
    parser.add_argument("--limit", type=int, help="approximate number of questions per language")
    parser.add_argument("--languages", default=",".join(LANGUAGES), help="separated by commas")
    asked = parser.parse_args()
    store = Store(asked.store) if asked.store else None
    english = Language.read(asked.data, "en", asked.limit).corpus
    rows: list[Row] = []
    for code in asked.languages.split(","):
        language = Language.read(asked.data, code, asked.limit)
        corpus = replace(language.corpus, store=store)
        for way, written in ways(LANGUAGES[code], asked.dense).items():
            rows.append(language.measure(way, written, corpus))
        if code != "en":
            rows.append(language.measure("bm25 in English paragraphs", "bm25", english))
        sys.stderr.write(f"{code}: done\n")
    head = ["language", "retriever", *METRICS]
    print(table(head, [row.shown() for row in rows]))
    print()
    print(table(["language", "less bm25, nDCG@10", "difference", "p (Holm)"], gaps(rows)))


if __name__ == "__main__":
    main()
