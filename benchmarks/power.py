"""Asked and obtained power of `ragstone plan power`: python benchmarks/power.py ../shared/data.

Scores are drawn from models of real runs (`interval_simulation.py`), whose true difference is
known. The plan gets a pilot of these scores and the true difference. The obtained power is the
share of drawn comparisons of the planned size in which the product's own test finds the difference.
The second table has pilots of 100 queries or 25 conversations: their size makes the number of
queries uncertain. All draws are seeded.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import numpy as np
from interval_simulation import (  # type: ignore[import-not-found]  # a file beside this one
    Model,
    models,
)
from numpy.typing import NDArray

from ragstone.statistics.difference_intervals import label_test
from ragstone.statistics.permutation import sign_flip_p
from ragstone.statistics.power import (
    Gaps,
    population,
    sample_size,
    simulated_power,
)

Floats = NDArray[np.float64]
PILOT: Final = 20_000
"""Queries of a pilot without sampling error."""
DRAWS: Final = 2000
PILOTS: Final = 60
WITHIN: Final = 0.2
"""Share of the variance, on the normal scale, between clusters."""


def row(*cells: object) -> None:
    """Print a row of a Markdown table."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def draw(
    model: Model, generator: np.random.Generator, clusters: int, second: int, *, grouped: bool
) -> tuple[Floats, Floats, list[int] | None]:
    """Return both systems' scores of clusters of 1 to 7 queries, or of single queries."""
    sizes = generator.integers(1, 8, clusters) if grouped else np.ones(clusters, dtype=np.int64)
    a, b = model.draw(generator, sizes, WITHIN if grouped else 0.0, second)
    return a, b, np.repeat(np.arange(clusters), sizes).tolist() if grouped else None


def finds(a: Floats, b: Floats, names: list[int] | None) -> bool:
    """Return whether the test of `paired_difference` finds a difference."""
    gaps = b - a
    if names is not None:
        return sign_flip_p(np.bincount(names, gaps).astype(np.float64)) < 0.05
    if ((a == 0) | (a == 1)).all() and ((b == 0) | (b == 1)).all():
        wins, losses = int((gaps > 0).sum()), int((gaps < 0).sum())
        return label_test(wins, losses, len(gaps), 0.95)[0] < 0.05
    return sign_flip_p(gaps) < 0.05


def pilot_of(model: Model, seed: int, clusters: int, second: int, *, grouped: bool) -> Gaps:
    """Return the differences of a pilot."""
    a, b, names = draw(model, np.random.default_rng(seed), clusters, second, grouped=grouped)
    return population(a, b, names)


def obtained(model: Model, clusters: int, *, grouped: bool) -> float:
    """Return the share of drawn comparisons that find the true difference."""
    generator = np.random.default_rng(clusters)
    return float(
        np.mean(
            [finds(*draw(model, generator, clusters, 1, grouped=grouped)) for _ in range(DRAWS)]
        )
    )


def calibration(found: list[Model]) -> None:
    """Print asked and obtained power, from a pilot with the difference and from one without."""
    row(
        "metric", "kind", "difference", "asked", "queries", "obtained", "pilot without a difference"
    )
    row(*["---"] * 7)
    for model in found:
        true = abs(float(model.margins[1].mean() - model.margins[0].mean()))
        kind = "0/1" if set(model.margins[0]) <= {0.0, 1.0} else "graded"
        for grouped in (False, True):
            count = PILOT // 4 if grouped else PILOT
            pilots = [pilot_of(model, 1, count, second, grouped=grouped) for second in (1, 0)]
            for asked in (0.8, 0.9):
                sizes = [sample_size(one, true, power=asked) for one in pilots]
                shares = [
                    f"{obtained(model, size.clusters, grouped=grouped):.1%}" if size else "-"
                    for size in sizes
                ]
                queries = sizes[0].queries if sizes[0] else "-"
                name = f"{kind}, clustered" if grouped else kind
                row(model.metric, name, f"{true:.3f}", f"{asked:.0%}", queries, *shares)


def small_pilots(found: list[Model]) -> None:
    """Print the obtained power if the pilot has 100 queries, or 25 conversations."""
    row("metric", "kind", "planned queries: 10 to 90 % of pilots", "obtained: mean", "10 to 90 %")
    row(*["---"] * 5)
    for model in found:
        true = abs(float(model.margins[1].mean() - model.margins[0].mean()))
        for grouped in (False, True):
            truth = pilot_of(model, 1, PILOT // 4 if grouped else PILOT, 1, grouped=grouped)
            planned, powers = [], []
            for seed in range(PILOTS):
                pilot = pilot_of(model, seed + 2, 25 if grouped else 100, 1, grouped=grouped)
                size = sample_size(pilot, true, draws=1000)
                if size is not None:
                    planned.append(size.queries)
                    powers.append(simulated_power(truth, size.clusters, 0.05, draws=1000))
            low, high = np.quantile(planned, (0.1, 0.9))
            least, most = np.quantile(powers, (0.1, 0.9))
            row(
                model.metric,
                "25 conversations" if grouped else "100 queries",
                f"{low:.0f} to {high:.0f}",
                f"{np.mean(powers):.1%}",
                f"{least:.0%} to {most:.0%}",
            )


if __name__ == "__main__":
    real = models(Path(sys.argv[1]))
    calibration(real)
    print()
    small_pilots(real)
