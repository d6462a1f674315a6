"""mtRAG's conversations of people beside its synthetic ones: its Tables 8 and 14.

    python benchmarks/compare_mtrag.py ../shared/data

Prints the published figures with ours, the distances of the users, the order of the systems, and
how good the distances are: conversations are drawn from both sets, whose own distances are known.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from published_tables import (  # type: ignore[import-not-found]  # a file beside this one
    TABLE_14,
)

from ragstone.building.set_comparison import SetComparison, compare_sets, distance_counts
from ragstone.building.set_properties import Facts
from ragstone.building.systems_on_both import MetricOnBoth, inspected_scores, systems_on_both
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.readers.inspector_raget import read_inspection
from ragstone.results.wording import interval_text, mean_text, number, signed_interval
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.distribution_distance import Distance, distance
from ragstone.statistics.ranking_agreement import kendall_tau
from ragstone.statistics.summary import Summary

TABLE_8: Final[Mapping[tuple[str, str], tuple[float, float | None]]] = {
    ("conversations", "turns"): (7.7, 5.9),
    ("conversations", "relevant passages"): (16.9, 4.6),
    ("conversations", "edited responses"): (7.3, None),
    ("lengths", "words per query"): (8.6, 13.7),
    ("lengths", "words per answer"): (97.2, 72.4),
    ("lengths", "relevant passages per query"): (2.8, 4.1),
}
"""Group and property -> people's and synthetic conversations, as mtRAG printed them."""
PEOPLE_14: Final = {
    "c4ai-command-r-plus": (0.76, 0.33),
    "gpt-4o-mini": (0.71, 0.27),
    "llama-3.1-405b-instruct": (0.75, 0.33),
    "mixtral_8x22b_instruct": (0.61, 0.29),
    "qwen-2.5-72b-instruct": (0.72, 0.30),
}
"""The column mtRAG of Table 14; its scores are not released."""
METRICS: Final = ("rl_f", "Bert-KPrec")
DRAWS: Final = 400
DRAWN: Final = 50
"""Conversations of a draw."""


def properties(found: SetComparison) -> Iterator[str]:
    """Yield Table 8 with our figures."""
    yield "| property | mtRAG | ours | mtRAG-S | ours | difference |"
    yield "| --- | --- | --- | --- | --- | --- |"
    agree = total = 0
    for (group, name), published in TABLE_8.items():
        one = found.properties[group][name]
        sides = [(p, s) for p, s in zip(published, (one.a, one.b), strict=True) if p is not None]
        agree += sum(s is not None and f"{s.mean:.1f}" == f"{p:.1f}" for p, s in sides)
        total += len(sides)
        cells = [
            cell
            for figure, summary in zip(published, (one.a, one.b), strict=True)
            for cell in (figure if figure is not None else "-", _mean(summary))
        ]
        gap = signed_interval(one.difference, one.interval) or "-"
        yield f"| {name} | {' | '.join(map(str, cells))} | {gap} |"
    yield f"\n{agree} of {total} figures agree to the printed digit"


def users(found: SetComparison) -> Iterator[str]:
    """Yield what users say, and how diverse it is."""
    yield "| queries | people | synthetic | difference |\n| --- | --- | --- | --- |"
    for group in ("dialogue acts", "diversity"):
        for name, one in found.properties[group].items():
            cells = [
                name,
                _mean(one.a),
                _mean(one.b),
                signed_interval(one.difference, one.interval),
            ]
            yield f"| {' | '.join(cells)} |"


def _mean(summary: Summary | None) -> str:
    return "-" if summary is None else mean_text(summary)


def distances(found: SetComparison) -> Iterator[str]:
    """Yield the distances of the users."""
    yield "| distance | value | by chance | p |\n| --- | --- | --- | --- |"
    for name, one in found.distances.items():
        value = f"{one.value:.3f}{interval_text(one.interval)}"
        yield f"| {name} | {value} | {number(one.chance)} | {number(one.p)} |"


def systems(released: Sequence[MetricOnBoth]) -> Iterator[str]:
    """Yield the released scores of shared systems, and the order of Table 14's systems."""
    yield "| metric | system | people | synthetic | difference |\n| --- | --- | --- | --- | --- |"
    for one in released:
        for each in one.systems if one.metric in METRICS else ():
            gap = signed_interval(each.difference, each.interval)
            cells = [one.metric, each.system, mean_text(each.a), mean_text(each.b), gap]
            yield f"| {' | '.join(cells)} |"
    yield "\n| metric | Kendall's tau of Table 14's columns |\n| --- | --- |"
    for place, metric in enumerate(METRICS):
        sides = ([figures[place] for figures in side.values()] for side in (PEOPLE_14, TABLE_14))
        tau = kendall_tau(*(np.array(side) for side in sides))
        yield f"| {metric} | {float(tau):.3f} |"


def coverage(people: Dataset, synthetic: Dataset) -> Iterator[str]:
    """Yield how often intervals contain the distance of both sets, and false alarms."""
    whole = distance_counts((Facts.of(people), Facts.of(synthetic)))
    generator = np.random.default_rng(0)
    yield "| distance | of both sets | intervals that contain it | false alarms |"
    yield "| --- | --- | --- | --- |"
    for name, (measure, (a, b)) in whole.items():
        truth = distance(measure, a, b, resamples=20)
        held = [
            distance(measure, _draw(a, generator), _draw(b, generator), resamples=300)
            for _ in range(DRAWS)
        ]
        null = [
            distance(measure, _draw(a, generator), _draw(a, generator), resamples=300)
            for _ in range(DRAWS)
        ]
        inside = sum(_contains(one, truth.observed) for one in held if one and truth)
        alarms = sum((one.p or 1.0) < 0.05 for one in null if one)
        shares = f"{inside / DRAWS:.3f} | {alarms / DRAWS:.3f}"
        yield f"| {name} | {truth.observed if truth else 0:.3f} | {shares} |"


def _draw(counts: Floats, generator: np.random.Generator) -> Floats:
    drawn: Floats = counts[generator.integers(len(counts), size=DRAWN)]
    return drawn


def _contains(found: Distance, value: float) -> bool:
    return found.interval is not None and found.interval[0] <= value <= found.interval[1]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, help="Folder of the shared data.")
    folder = parser.parse_args().data / "mtrag"
    people = load_dataset(f"mtrag({folder}/conversations/mtrag_human_conversations.jsonl.gz)")
    synthetic = load_dataset(f"mtrag({folder}/synthetic/generation_tasks.jsonl.gz)")
    found = compare_sets(people, synthetic, people="first")
    for side in (found.a, found.b):
        print(f"{side.name}: {side.conversations} conversations, {side.queries:,} queries")
    rated = "human_evaluations/reference_subset_with_human_evaluations.json.gz"
    files = (rated, "synthetic/evaluations.json.gz")
    scores = [inspected_scores(read_inspection(folder / file)) for file in files]
    for lines in (
        properties(found),
        users(found),
        distances(found),
        systems(systems_on_both(scores[0], scores[1])),
        coverage(people, synthetic),
    ):
        print("\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
