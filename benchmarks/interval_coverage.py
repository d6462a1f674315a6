"""How often intervals and tests are right, by simulation: python benchmarks/interval_coverage.py.

Prints how often a 95 % interval of a mean is above and below the true mean (percentile and BCa
bootstrap), the coverage over clusters, the false positives of the paired test, and coverage and
width of a mean calibrated by a few labels (prediction-powered inference). All draws are seeded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ragstone.statistics.bootstrap import sum_of_draws
from ragstone.statistics.paired import paired_difference
from ragstone.statistics.prediction_powered import calibrated_mean
from ragstone.statistics.summary import summarise

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]


def _ndcg_like(generator: np.random.Generator, n: int) -> Floats:
    """Return values of which 20 % are 0, 30 % are 1 and the others are drawn from beta(2, 1)."""
    part = generator.random(n)
    return np.where(part < 0.2, 0.0, np.where(part < 0.5, 1.0, generator.beta(2, 1, n)))


MEANS: Final = 1500
OTHERS: Final = 1000
CASES: Final[list[tuple[str, int, float, Draw]]] = [
    ("labels, 90 % right", 100, 0.9, lambda g, n: (g.random(n) < 0.9).astype(float)),
    ("labels, 97 % right", 300, 0.97, lambda g, n: (g.random(n) < 0.97).astype(float)),
    ("nDCG-like", 20, 0.5 * 2 / 3 + 0.3, _ndcg_like),
    ("beta(5, 1)", 50, 5 / 6, lambda g, n: g.beta(5, 1, n)),
    ("lognormal (latencies)", 100, float(np.exp(0.5)), lambda g, n: g.lognormal(0, 1, n)),
    ("differences of labels", 100, 0.1, lambda g, n: g.choice([-1.0, 0, 1], n, p=[0.1, 0.7, 0.2])),
]
JUDGES: Final = [
    (0.6, 0.1, 0.2, 100),
    (0.6, 0.4, 0.4, 100),
    (0.8, 0.02, 0.05, 60),
    (0.3, 0.05, 0.3, 200),
    (0.05, 0.1, 0.1, 50),
]


def means() -> None:
    """Print the table of intervals of a mean."""
    print("| values | n | percentile: above, below | BCa: above, below |\n|---|---|---|---|")
    for name, n, true, draw in CASES:
        generator = np.random.default_rng(0)
        outside = np.zeros(4)
        for _ in range(MEANS):
            values = draw(generator, n)
            total = sum_of_draws(values)
            plain = total.quantile(0.025) / n, total.quantile(0.975) / n
            exact = summarise(values.tolist()).interval or (-np.inf, np.inf)
            outside += [plain[0] > true, plain[1] < true, exact[0] > true, exact[1] < true]
        a, b, c, d = outside / MEANS * 100
        print(f"| {name} | {n} | {a:.1f} %, {b:.1f} % | {c:.1f} %, {d:.1f} % |")


def _clustered(generator: np.random.Generator, count: int) -> tuple[Floats, list[int], Floats]:
    """Return labels with chances that differ by cluster, sizes 1 to 7, for two systems."""
    clusters = np.repeat(np.arange(count), generator.integers(1, 8, count))
    labels = (generator.random(len(clusters)) < generator.beta(2, 2, count)[clusters]).astype(float)
    other = (generator.random(len(clusters)) < generator.beta(2, 2, count)[clusters]).astype(float)
    return labels, clusters.tolist(), other


def clusters() -> None:
    """Print the coverage over clusters of unequal sizes, and with the clusters ignored."""
    for count in (15, 30, 60):
        generator = np.random.default_rng(count)
        covered = np.zeros(2)
        for _ in range(OTHERS):
            labels, names, _ = _clustered(generator, count)
            for place, given in enumerate((names, None)):
                low, high = summarise(labels.tolist(), clusters=given).interval or (0.0, 1.0)
                covered[place] += low <= 0.5 <= high
        aware, ignored = covered / OTHERS * 100
        print(f"{count} clusters: {aware:.1f} %, clusters ignored: {ignored:.1f} %")


def paired_test() -> None:
    """Print how often the paired test over 15 clusters finds a difference that does not exist."""
    generator = np.random.default_rng(1)
    found = np.zeros(2)
    for _ in range(OTHERS):
        labels, names, other = _clustered(generator, 15)
        for place, given in enumerate((names, None)):
            found[place] += paired_difference(labels, other, clusters=given).p < 0.05
    aware, ignored = found / OTHERS * 100
    print(f"false positives: {aware:.1f} %, clusters ignored: {ignored:.1f} %")


def calibrated() -> None:
    """Print coverage and mean width of calibrated means, and the width from the labels alone."""
    for truth, missed, invented, count in JUDGES:
        generator = np.random.default_rng(0)
        covered, width, alone = 0, 0.0, 0.0
        for _ in range(OTHERS):
            right = generator.random(count + 1000) < truth
            flips = generator.random(len(right))
            said = np.where(right, flips >= missed, flips < invented).astype(float)
            human = right[:count].astype(float).tolist()
            got = calibrated_mean(human, said[:count].tolist(), said[count:].tolist())
            covered += got.interval[0] <= truth <= got.interval[1]
            width += got.interval[1] - got.interval[0]
            alone += got.human_interval[1] - got.human_interval[0]
        print(
            f"mean {truth}, judge misses {missed:.0%}, invents {invented:.0%}, {count} labels: "
            f"covered {covered / OTHERS:.1%}, width {width / OTHERS:.3f}, "
            f"labels alone {alone / OTHERS:.3f}"
        )


if __name__ == "__main__":
    means()
    clusters()
    paired_test()
    calibrated()
