"""Coverage of the intervals of Bradley-Terry strengths: python benchmarks/battles.py [--draws 400].

Systems have known, equally spaced strengths. All pairs fight on each query, a tenth of the battles
are ties, and each query shifts the strengths by its own normal effects of deviation 0.5, so that
the battles of a query depend on each other. An interval of ranks must contain the true rank.
"""

from __future__ import annotations

import argparse
import json
from itertools import combinations
from pathlib import Path
from typing import Final

import numpy as np

from ragstone.statistics.bradley_terry import Battle, bradley_terry
from ragstone.statistics.resampling import Bootstrap

DESIGNS: Final = ((3, 10, 0.5), (4, 30, 0.3), (4, 100, 0.3), (6, 50, 0.2), (6, 100, 0.5))
"""Systems, queries, and the difference of neighbouring strengths in logits."""
TIES: Final = 0.1
EFFECT: Final = 0.5


def draw(systems: int, queries: int, gap: float, seed: int) -> list[Battle]:
    """Return the battles of one draw; the first system is the strongest."""
    generator = np.random.default_rng(seed)
    strengths = -gap * np.arange(systems)
    found = []
    for query in range(queries):
        own = strengths + generator.normal(0, EFFECT, systems)
        for a, b in combinations(range(systems), 2):
            is_won = generator.random() < 1 / (1 + np.exp(own[b] - own[a]))
            value = 0.5 if generator.random() < TIES else float(is_won)
            found.append(Battle(str(query), str(a), str(b), value))
    return found


def row(systems: int, queries: int, gap: float, draws: int) -> list[float]:
    """Return the share of rank intervals with the true rank, their mean width, and ranks right."""
    inside, widths, right = [], [], []
    for seed in range(draws):
        made = bradley_terry(draw(systems, queries, gap, seed), Bootstrap(resamples=500, seed=seed))
        for one in made.strengths:
            low, high = one.rank_interval or (0, 0)
            inside.append(low <= int(one.system) + 1 <= high)
            widths.append(high - low)
            right.append(one.rank == int(one.system) + 1)
    return [float(np.mean(inside)), float(np.mean(widths)), float(np.mean(right))]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    print("| systems | queries | gap in logits | rank in its interval | mean width | rank right |")
    print("| --- | --- | --- | --- | --- | --- |")
    rows = []
    for systems, queries, gap in DESIGNS:
        inside, width, right = row(systems, queries, gap, arguments.draws)
        rows.append([systems, queries, gap, inside, width, right])
        shown = f"{inside:.1%} | {width:.2f} | {right:.1%}".replace("%", " %")
        print(f"| {systems} | {queries} | {gap:.1f} | {shown} |", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
