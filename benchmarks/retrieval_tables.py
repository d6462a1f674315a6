r"""Any retrievers, fusions and rerankers on any data: means with intervals, paired differences.

    python benchmarks/retrieval_tables.py bm25 dense \
        "{name: fusion, retrievers: [bm25, dense]}" \
        "{name: fusion, retrievers: [bm25, dense], text_weight: [0.05, 0.1, 0.2, 0.5]}" \
        --data ../shared/data/nq_singlehop --store STORE --by kind
    python benchmarks/retrieval_tables.py bm25 "{retriever: bm25, reranker: {...}}" ...

A system is written as in an experiment file: a retriever, or a mapping with `retriever`, `reranker`
and `query`; lists sweep. Several `--data` are joined, each searched in its own corpus. The systems
named by `--against` (the first two) are what all others are compared with, query by query, by the
first metric; p is corrected by Holm over the comparisons on the same queries. Conversations, or
else questions on one document, are drawn whole.

If a text weight is swept, one more system represents the sweep in the comparison: on every tenth
of the queries the weight that is best, by the first metric, on the other nine. Everything is kept
in the store; a second run searches nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import yaml

from ragstone.experiment.config import parse_experiment
from ragstone.experiment.experiment import Experiment
from ragstone.results.results import Results
from ragstone.results.weight_scan import sweeps
from ragstone.statistics.breakdown import groups_of
from ragstone.statistics.paired import adjust, paired_difference
from ragstone.statistics.summary import summarise
from ragstone.types import Query

ALL: Final = "all"
FOLDS: Final = 10


@dataclass
class Measured:
    """What the systems scored, over all data."""

    scores: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    """System -> metric -> query id -> value."""
    clusters: dict[str, str] = field(default_factory=dict)
    queries: dict[str, Query] = field(default_factory=dict)
    swept: set[str] = field(default_factory=set)
    """Systems that another represents in comparisons."""

    def add(self, results: Results) -> None:
        """Take the results of one data set."""
        for ranking in results.rankings:
            held = self.scores.setdefault(ranking.system, {})
            for metric, scores in ranking.scores.items():
                values = {i: s.value for i, s in scores.items() if s.value is not None}
                held.setdefault(metric, {}).update(values)
        self.clusters |= results.clusters
        self.queries |= results.ranked

    def choose(self, name: str, systems: Sequence[str]) -> None:
        """Add a system that is, for every tenth of the clusters, the best one of the others."""
        metrics = list(self.scores[systems[0]])
        ids = list(self.scores[systems[0]][metrics[0]])
        values = np.array([[self.scores[s][metrics[0]][i] for s in systems] for i in ids])
        named = list(dict.fromkeys(self.clusters[i] for i in ids))
        order = np.random.default_rng(0).permutation(len(named))
        fold_of = {name: place % FOLDS for name, place in zip(named, order.tolist(), strict=True)}
        folds = np.array([fold_of[self.clusters[i]] for i in ids])
        best = {n: systems[values[folds != n].mean(axis=0).argmax()] for n in range(FOLDS)}
        chosen = {i: best[n] for i, n in zip(ids, folds.tolist(), strict=True)}
        self.swept |= set(systems)
        self.scores[name] = {m: {i: self.scores[chosen[i]][m][i] for i in ids} for m in metrics}

    def groups(self, label: str) -> dict[str, list[str]]:
        """Return value -> query ids, all of them first."""
        every = {ALL: list(self.queries)}
        return every | (groups_of(self.queries.values(), label) if label else {})


def measure(asked: argparse.Namespace) -> Measured:
    """Run the systems on every data set."""
    systems = [_entry(yaml.safe_load(written), asked.query) for written in asked.systems]
    measured = Measured()
    chosen: dict[str, list[str]] = {}
    for written in asked.data:
        data = yaml.safe_load(written)
        document = {
            "name": f"table-{len(measured.queries)}",
            "data": data,
            "store": asked.store,
            "sample": {"limit": asked.limit, "retrieval": "sample" if asked.limit else "all"},
            "systems": systems,
            "metrics": asked.metrics,
        }
        results = Experiment(parse_experiment(document, where="the command line")).run()
        measured.add(results)
        for sweep in sweeps(results):
            chosen[f"{sweep.name}, weight chosen on other queries"] = list(sweep.systems.values())
        sys.stderr.write(f"{data}: done\n")
    for name, members in chosen.items():
        measured.choose(name, members)
    return measured


def _entry(written: Any, query: str) -> Mapping[str, Any]:
    is_system = isinstance(written, dict) and "retriever" in written
    return {"query": query, **(written if is_system else {"retriever": written})}


def means(measured: Measured, metrics: Sequence[str], label: str) -> Iterator[list[str]]:
    """Yield a row per system: every metric over all queries, the first one by label."""
    groups = measured.groups(label)
    columns = [(m, ALL) for m in metrics] + [(metrics[0], v) for v in groups if v != ALL]
    yield ["", *(m if v == ALL else f"{m}, {v}" for m, v in columns)]
    for system, scores in measured.scores.items():
        cells = []
        for metric, value in columns:
            ids = [i for i in groups[value] if i in scores[metric]]
            names = [measured.clusters[i] for i in ids]
            found = summarise([scores[metric][i] for i in ids], clusters=names)
            low, high = found.interval or (0.0, 0.0)
            cells.append(f"{found.mean or 0:.3f} [{low:.3f}, {high:.3f}]")
        yield [system, *cells]


def differences(
    measured: Measured, metric: str, label: str, against: Sequence[str]
) -> Iterator[list[str]]:
    """Yield a row per system, system that it is compared with, and value of the label."""
    yield [metric, "less", "over", "n", "difference", "p", "p (Holm)"]
    compared = [name for name in measured.scores if name not in measured.swept]
    pairs = [
        (system, base)
        for base in against
        for system in compared
        if system not in against[: against.index(base) + 1]
    ]
    for value, members in measured.groups(label).items():
        found = []
        for system, base in pairs:
            one, other = (measured.scores[name][metric] for name in (base, system))
            ids = [i for i in members if i in one]
            names = [measured.clusters[i] for i in ids]
            first, second = [one[i] for i in ids], [other[i] for i in ids]
            if ids:
                found.append((system, base, paired_difference(first, second, clusters=names)))
        corrected = adjust([gap.p for *_, gap in found])
        for (system, base, gap), p in zip(found, corrected, strict=True):
            low, high = gap.interval or (0.0, 0.0)
            shown = f"{gap.difference:+.3f} [{low:+.3f}, {high:+.3f}]"
            yield [system, base, value, str(gap.n), shown, f"{gap.p:.4f}", f"{p:.4f}"]


def table(lines: Iterator[list[str]]) -> str:
    """Return a Markdown table, its first line the head."""
    head, *rows = lines
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("systems", nargs="+")
    parser.add_argument("--data", action="append", required=True)
    parser.add_argument("--store", required=True)
    parser.add_argument("--query", default="as-given", help="what forms the search texts")
    parser.add_argument("--metrics", nargs="+", default=["nDCG@10", "R@5", "R@1"])
    parser.add_argument("--by", default="", help="a label")
    parser.add_argument("--limit", type=int, help="random sample of this many queries per data set")
    parser.add_argument("--against", nargs="*", help="systems by name; the first two")
    asked = parser.parse_args()
    measured = measure(asked)
    against = asked.against or list(measured.scores)[:2]
    unknown = [name for name in against if name not in measured.scores]
    if unknown:
        parser.error(f"--against {unknown[0]!r}: the systems are {', '.join(measured.scores)}")
    print(table(means(measured, asked.metrics, asked.by)))
    print()
    print(table(differences(measured, asked.metrics[0], asked.by, against)))


if __name__ == "__main__":
    main()
