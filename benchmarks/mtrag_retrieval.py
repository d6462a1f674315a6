"""Retrieval over mtRAG's conversations: query forms by retriever, domain, turn and dependence.

    python benchmarks/mtrag_retrieval.py ../shared/data/mtrag --store STORE
    ... --retriever bm25 --retriever "{name: fusion, retrievers: [bm25, dense]}" --domains govt
    ... --retriever sparse --forms "last turn,user turns,rewrite"

A retriever is written as in an experiment file; the rankings of a fusion's parts are made again.
Prints Markdown tables: nDCG and recall at 1, 3, 5, 10 per domain, weighted by tasks and macro over
the domains; recall@5 by first and later turns and by standalone; the paired difference between
forms, clustered by conversation. The corpora are those of the shared data (41,788 passages), not
the full ones: figures cannot be compared with the paper's.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from ragstone.core.registry import create
from ragstone.core.schemas import table_to_scores
from ragstone.core.store import Store
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.readers.mtrag import MtragReader
from ragstone.evaluation.evaluation import Evaluation
from ragstone.evaluation.score_files import average, evaluate_run
from ragstone.protocols import Retriever, Services
from ragstone.statistics.breakdown import breakdown, differences_by, groups_of
from ragstone.statistics.failures import Scale
from ragstone.types import Query, Ranking, Score, Search

DOMAINS = ("clapnq", "cloud", "fiqa", "govt")
FORMERS = {
    "last turn": "as-given",
    "user turns": "user-turns",
    "last 2 turns": "last-turns(2)",
    "conversation": "conversation",
    "rewrite": "rewrite",
    "last turn, tagged": "as-given(variant=paper)",
    "user turns, tagged": "user-turns(variant=paper)",
}
METRICS = [f"{name}@{k}" for name in ("nDCG", "R") for k in (1, 3, 5, 10)]


@dataclass(frozen=True)
class Found:
    """One retriever with one query form on one domain."""

    retriever: str
    former: str
    domain: str
    evaluation: Evaluation
    queries: Sequence[Query]

    def scores(self, metric: str) -> dict[str, Score]:
        """Return query id -> score."""
        scores = table_to_scores(self.evaluation.table)
        return {score.query_id: score for score in scores if score.metric == metric}


def ranked(retriever: Retriever, searches: Sequence[Search], corpus: Corpus) -> list[Ranking]:
    """Return one ranking per search; a fusion's parts are ranked one by one."""
    if retriever.parts:
        return list(retriever.fuse([ranked(part, searches, corpus) for part in retriever.parts]))
    found = retriever.retrieve(searches, Services(corpus=corpus))
    return [outcome.value or Ranking() for outcome in found]


def measure(
    dataset: Dataset, domain: str, retriever: str, formers: Mapping[str, str]
) -> Iterator[Found]:
    """Yield the results of each query form in one domain."""
    queries = [query for query in dataset.queries if query.query_id in dataset.qrels]
    made = create("retrievers", yaml.safe_load(retriever), where="retriever")
    for name, written in formers.items():
        formed = create("query_formers", written, where="query").form(queries, Services())
        searches = [Search(q.query_id, o.value) for q, o in zip(queries, formed, strict=True)]
        rankings = ranked(made, searches, dataset.corpus)
        run = {s.query_id: r for s, r in zip(searches, rankings, strict=True)}
        yield Found(retriever, name, domain, evaluate_run(dataset.qrels, run, METRICS), queries)


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--retriever", action="append", help="as in an experiment file; bm25")
    parser.add_argument("--domains", default=",".join(DOMAINS), help="separated by commas")
    parser.add_argument("--forms", help="separated by commas; all")
    asked = parser.parse_args()
    formers = {name: FORMERS[name] for name in (asked.forms.split(",") if asked.forms else FORMERS)}
    wanted = asked.retriever or ["bm25"]
    found: list[Found] = []
    for domain in asked.domains.split(","):
        dataset = MtragReader(asked.data, domains=domain).read()
        corpus = replace(dataset.corpus, store=Store(asked.store))
        for retriever in wanted:
            started = time.perf_counter()
            found += measure(replace(dataset, corpus=corpus), domain, retriever, formers)
            seconds = time.perf_counter() - started
            sys.stderr.write(f"{retriever} {domain}: {seconds:.0f} s\n")
    sys.stdout.write("\n\n".join(report(found, retriever) for retriever in wanted) + "\n")


def report(found: Sequence[Found], retriever: str) -> str:
    """Return the tables of one retriever."""
    held = [one for one in found if one.retriever == retriever]
    domains = list(dict.fromkeys(one.domain for one in held))
    parts = [f"## {retriever} ({', '.join(domains)})"]
    forms = list(dict.fromkeys(one.former for one in held))
    by_form = {f: [one for one in held if one.former == f] for f in forms}
    rows = []
    for former, ones in by_form.items():
        for kind in ("weighted", "macro"):
            means = average([one.evaluation for one in ones], kind)
            rows.append([former, kind, *(f"{means[m]:.3f}" for m in METRICS)])
        for one in ones:
            means = {m: one.evaluation[m].mean or 0.0 for m in METRICS}
            rows.append([former, one.domain, *(f"{means[m]:.3f}" for m in METRICS)])
    parts.append(table(["query form", "over", *METRICS], rows))
    parts.append(table(["R@5 by", "value", "n", *forms], list(_parts(by_form))))
    parts.append(
        table(
            ["form minus last turn, R@5", "over", "n", "difference", "p (Holm)"],
            list(_gaps(by_form)),
        )
    )
    return "\n\n".join(parts)


def _parts(by_form: Mapping[str, Sequence[Found]]) -> Iterator[list[object]]:
    for label in ("first_turn", "standalone", "answerability"):
        cells: dict[str, list[str]] = {}
        sizes: dict[str, int] = {}
        for ones in by_form.values():
            scores, queries, clusters = _joined(ones)
            if label == "standalone":
                queries = [query for query in queries if query.labels["turn"] != 1]
            for group in breakdown(scores, groups_of(queries, label), clusters, Scale()):
                low, high = group.summary.interval or (0.0, 0.0)
                cell = f"{group.summary.mean:.3f} [{low:.3f}, {high:.3f}]"
                cells.setdefault(group.value, []).append(cell)
                sizes[group.value] = group.summary.n
        for value, shown in cells.items():
            yield [label, value, sizes[value], *shown]


def _gaps(by_form: Mapping[str, Sequence[Found]]) -> Iterator[list[object]]:
    base, queries, clusters = _joined(by_form["last turn"])
    groups = {"all": [query.query_id for query in queries], **groups_of(queries, "domain")}
    for former in by_form:
        if former not in ("rewrite", "user turns", "conversation"):
            continue
        other, _, _ = _joined(by_form[former])
        for group in differences_by(base, other, groups, clusters, Scale()):
            gap = group.difference
            low, high = gap.interval or (0.0, 0.0)
            shown = f"{gap.difference:+.3f} [{low:+.3f}, {high:+.3f}]"
            yield [former, group.value, gap.n, shown, f"{group.p_adjusted:.4f}"]


def _joined(ones: Sequence[Found]) -> tuple[dict[str, Score], list[Query], dict[str, str]]:
    scores = {q: score for one in ones for q, score in one.scores("R@5").items()}
    queries = [query for one in ones for query in one.queries]
    return scores, queries, {q.query_id: str(q.labels["conversation"]) for q in queries}


if __name__ == "__main__":
    main()
