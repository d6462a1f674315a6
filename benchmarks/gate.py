"""Error rates and power of the gate: python benchmarks/gate.py [--draws 2000] [--json FILE].

Two versions answer the same 500 queries; the true change is known. There are three kinds of scores:
0/1 labels of which 20 % differ between the versions, graded scores in tenths, and 0/1 labels in
conversations of 1 to 6 turns whose changes are correlated. The gate is `ragstone.gate` with a
margin of 5 points. A change of 0 must not exit 1, and a change of exactly the margin must not exit
0, in more than 6 % of the draws. All draws are seeded.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ragstone.evaluation.gate import gate
from ragstone.types import Score

Floats = NDArray[np.float64]
QUERIES: Final = 500
MARGIN: Final = 0.05
CHANGES: Final = (0.0, -0.03, -0.05, -0.1)
"""True changes: none, and drops of 3, 5 and 10 points."""
LOOKS: Final = (1, 5)
KINDS: Final = ("labels", "graded", "conversations")
DIFFERING: Final = 0.2
"""Share of queries whose score differs between the versions."""
SHARED: Final = 0.5
"""Probability that a turn has its conversation's direction of change."""


def directions(generator: np.random.Generator, change: float, n: int) -> Floats:
    """Return -1, 0 or 1 per query, with this mean."""
    gains, losses = (DIFFERING + change) / 2, (DIFFERING - change) / 2
    drawn = generator.random(n)
    signs = (drawn < gains) * 1.0 - ((drawn >= gains) & (drawn < gains + losses))
    return signs.astype(np.float64)


def draw(kind: str, change: float, seed: int) -> tuple[list[Score], list[Score], dict[str, str]]:
    """Return the scores of both versions, and the conversation of each query."""
    generator = np.random.default_rng(seed)
    names = np.arange(QUERIES)
    signs = directions(generator, change, QUERIES)
    if kind == "conversations":
        sizes = generator.integers(1, 7, QUERIES)
        names = np.repeat(np.arange(QUERIES), sizes)[:QUERIES]
        common = directions(generator, change, QUERIES)[names]
        signs = np.where(generator.random(QUERIES) < SHARED, common, signs)
    before = np.where(signs == 0, generator.random(QUERIES) < 0.6, signs < 0).astype(np.float64)
    after = before + signs
    if kind == "graded":
        # The size of a change has a mean of a half, so its direction has twice the change.
        signs = directions(generator, 2 * change, QUERIES)
        size = generator.integers(1, 10, QUERIES) / 10
        low = np.floor(generator.random(QUERIES) * (11 - 10 * size)) / 10
        before, after = low + size * (signs < 0), low + size * (signs > 0)
    sides = [
        [Score(str(place), "EM", float(value)) for place, value in enumerate(values)]
        for values in (before, after)
    ]
    clusters = {str(place): str(name) for place, name in enumerate(names)}
    return sides[0], sides[1], clusters if kind == "conversations" else {}


def decision(task: tuple[str, float, int, int]) -> tuple[str, int]:
    """Return the verdict on one draw, and the queries that it used."""
    kind, change, looks, seed = task
    old, new, clusters = draw(kind, change, seed)
    found = gate(
        new, baseline=old, metrics="EM", margin=MARGIN, clusters=clusters, looks=looks, seed=seed
    )
    return found.verdict, found.used


def row(kind: str, change: float, looks: int, found: list[tuple[str, int]]) -> dict[str, Any]:
    """Return the shares of the verdicts, and of the queries that were not needed."""
    counts, draws = Counter(verdict for verdict, _ in found), len(found)
    used = sum(queries for _, queries in found) / draws
    return {
        "scores": kind,
        "change": change,
        "looks": looks,
        **{verdict: counts[verdict] / draws for verdict in ("pass", "worse", "undecided")},
        "saved": 1 - used / QUERIES,
    }


def rows(draws: int) -> Iterator[dict[str, Any]]:
    """Yield one row per kind of scores, true change and number of looks."""
    with ProcessPoolExecutor(2) as pool:
        for kind in KINDS:
            # Conversations take three times as long, so only their error rates are measured.
            for change in (0.0, -MARGIN) if kind == "conversations" else CHANGES:
                for looks in LOOKS:
                    tasks = [(kind, change, looks, seed) for seed in range(draws)]
                    yield row(kind, change, looks, list(pool.map(decision, tasks, chunksize=50)))


def main() -> None:
    """Print a Markdown table, and write the rows as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print("| scores | true change | looks | pass | worse | undecided | calls saved |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    found = []
    for one in rows(options.draws):
        found.append(one)
        shares = " | ".join(f"{one[k]:.1%}" for k in ("pass", "worse", "undecided", "saved"))
        print(f"| {one['scores']} | {one['change']:+.2f} | {one['looks']} | {shares} |", flush=True)
    equal = max(one["worse"] for one in found if one["change"] == 0)
    at_margin = max(one["pass"] for one in found if one["change"] == -MARGIN)
    print(f"equal systems exit 1: at most {equal:.1%}; worse by the margin exit 0: {at_margin:.1%}")
    if options.json:
        document = {"rows": found, "equal_worse": equal, "margin_pass": at_margin}
        options.json.write_text(json.dumps(document, indent=1))
    if max(equal, at_margin) > 0.06:
        raise SystemExit("an error rate is above 6 %")


if __name__ == "__main__":
    main()
