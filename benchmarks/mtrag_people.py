"""mtRAG's stored responses: people's win rates and ratings, and systems ranked by each metric.

    python benchmarks/mtrag_people.py ../shared/data/mtrag

Prints Markdown: the human subset's table 6 under several rules, the significance of every
difference between systems (paired over tasks, signs of whole conversations permuted, Holm's
correction), agreement of the annotators, and correlation of metrics with people.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from ragstone.data.readers.inspector_raget import Inspection, read_inspection
from ragstone.statistics.agreement import high_agreement, krippendorff_alpha
from ragstone.statistics.breakdown import breakdown, groups_of
from ragstone.statistics.correlation import spearman
from ragstone.statistics.failures import Scale
from ragstone.statistics.human_ratings import (
    consolidated,
    preferences_of,
    ratings_by_item,
    win_rates,
)
from ragstone.statistics.paired import adjust, paired_difference
from ragstone.statistics.summary import summarise

HUMAN = "human_evaluations/reference_subset_with_human_evaluations.json.gz"
SYNTHETIC = "synthetic/evaluations.json.gz"
FANC = ("faithfulness", "appropriateness", "naturalness", "completeness")
METRICS = ("RougeL", "Bert-Rec", "Bert-KPrec", "rb_agg", "rb_llm", "rl_f", "conditional_idk")


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def main() -> None:
    """Print everything."""
    folder = Path(sys.argv[1])
    human, synthetic = read_inspection(folder / HUMAN), read_inspection(folder / SYNTHETIC)
    parts = [
        "### Table 6 of the paper",
        table6(human),
        "### Agreement of the annotators (477 answers)",
        agreement(human),
        "### Spearman with people (318 answers of the two models)",
        correlation(human),
        "### Human subset: systems by metric",
        ranked(human),
        "### rb_agg by label, human subset",
        by_label(human),
        "### Synthetic: systems by metric",
        ranked(synthetic),
    ]
    sys.stdout.write("\n\n".join(parts) + "\n")


def clusters_of(held: Inspection) -> dict[str, str]:
    """Return query id -> conversation."""
    return {q.query_id: str(q.labels["conversation"]) for q in held.dataset.queries}


def table6(held: Inspection) -> str:
    """Return win rates by several rules, and the medians of the four properties."""
    answerability = {q.query_id: q.labels["answerability"] for q in held.dataset.queries}
    subsets: dict[str, set[Any]] = {
        "answerable, partial (150)": {"answerable", "partial"},
        "those and conversational (152)": {"answerable", "partial", "conversational"},
        "all (159)": set(answerability.values()),
    }
    rows = []
    for name, wanted in subsets.items():
        ratings = [r for r in held.ratings if answerability[r.query_id] in wanted]
        preferences = preferences_of(ratings, "win-rate")
        for rule, rates in (
            ("mean of annotators", _means(consolidated(ratings, "win-rate", "mean"))),
            ("median of annotators", _means(consolidated(ratings, "win-rate", "median"))),
            ("pairs, tie 1/2", _percent(win_rates(preferences, clusters_of(held)))),
            ("pairs, tie 0", _percent(win_rates(preferences, clusters_of(held), tie=0.0))),
        ):
            rows.append([name, rule, *(f"{rates[system]:.1f}" for system in held.systems)])
        for metric in FANC:
            medians = _means(consolidated(ratings, metric, "median"))
            rows.append([name, metric, *(f"{medians[s]:.2f}" for s in held.systems)])
    return table(["tasks", "rule", *held.systems], rows)


def _means(values: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {system: statistics.fmean(held.values()) for system, held in values.items()}


def _percent(rates: Mapping[str, object]) -> dict[str, float]:
    return {system: 100 * getattr(found, "mean", 0.0) for system, found in rates.items()}


def agreement(held: Inspection) -> str:
    """Return Krippendorff's alpha and the paper's absolute-or-high agreement, with intervals."""
    clusters = clusters_of(held)
    rows = []
    for metric in (*FANC, "win-rate"):
        items = ratings_by_item(held.ratings, metric)
        given = [list(values.values()) for values in items.values()]
        names = [clusters[query_id] for query_id, _ in items]
        alpha = krippendorff_alpha(given, level="interval", clusters=names, resamples=2000)
        high = high_agreement(given, clusters=names)
        rows.append([metric, f"{alpha.value:.3f} {_between(alpha.interval)}", f"{high.mean:.3f}"])
    return table(["property", "alpha", "absolute or high"], rows)


def correlation(held: Inspection) -> str:
    """Return how the metrics go with people's means, intervals over conversations."""
    clusters = clusters_of(held)
    models = [system for system in held.systems if system != "reference"]
    rows = []
    for metric in ("RougeL", "Bert-KPrec", "rb_agg", "rb_llm", "rl_f"):
        cells = []
        for prop in (*FANC, "win-rate"):
            people = consolidated(held.ratings, prop, "mean")
            pairs = [
                (score.value, people[system][score.query_id], clusters[score.query_id])
                for system in models
                for score in held.scores(system, metric)
            ]
            x, y, names = zip(*pairs, strict=True)
            found = spearman(x, y, clusters=names, resamples=1000)
            cells.append(f"{found.value:.2f} {_between(found.interval)}")
        rows.append([metric, *cells])
    return table(["metric", *FANC, "win-rate"], rows)


def ranked(held: Inspection) -> str:
    """Return every system's mean by every metric, best first, and the significant differences."""
    clusters = clusters_of(held)
    return table(
        ["metric", "systems, best first: mean [95 %]", "not different (Holm, p >= 0.05)"],
        [list(_ranked(held, metric, clusters)) for metric in METRICS if metric in held.metrics],
    )


def _ranked(held: Inspection, metric: str, clusters: Mapping[str, str]) -> Iterator[str]:
    values = {
        system: {s.query_id: s.value for s in held.scores(system, metric) if s.value is not None}
        for system in held.systems
    }
    means = {
        system: summarise(list(found.values()), clusters=[clusters[q] for q in found])
        for system, found in values.items()
    }
    order = sorted(means, key=lambda system: -(means[system].mean or 0.0))
    yield metric
    yield "; ".join(f"{s} {means[s].mean:.3f} {_between(means[s].interval)}" for s in order)
    pairs = list(combinations(order, 2))
    p_values = [_p(values[a], values[b], clusters) for a, b in pairs]
    same = [
        f"{a} = {b} (p {p:.2f})"
        for (a, b), p in zip(pairs, adjust(p_values), strict=True)
        if p >= 0.05
    ]
    yield "; ".join(same) or "none: all differ"


def _p(a: Mapping[str, float], b: Mapping[str, float], clusters: Mapping[str, str]) -> float:
    both = [query_id for query_id in a if query_id in b]
    names = [clusters[query_id] for query_id in both]
    return paired_difference([a[q] for q in both], [b[q] for q in both], clusters=names).p


def by_label(held: Inspection) -> str:
    """Return rb_agg by answerability, turn, domain and multi-turn type, with intervals."""
    clusters, queries = clusters_of(held), held.dataset.queries
    scores = {s: {x.query_id: x for x in held.scores(s, "rb_agg")} for s in held.systems}
    rows = []
    for label in ("answerability", "first_turn", "turn", "domain", "multi_turn"):
        groups = groups_of(queries, label)
        found = {
            s: {g.value: g.summary for g in breakdown(scores[s], groups, clusters, Scale())}
            for s in scores
        }
        for value, ids in groups.items():
            cells = [found[s][value] for s in held.systems]
            shown = [f"{c.mean:.3f} {_between(c.interval)}" for c in cells]
            rows.append([label, value, len(ids), *shown])
    return table(["label", "value", "n", *held.systems], rows)


def _between(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"[{interval[0]:.2f}, {interval[1]:.2f}]"


if __name__ == "__main__":
    main()
