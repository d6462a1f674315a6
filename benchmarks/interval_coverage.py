"""How often intervals and tests are right: python benchmarks/interval_coverage.py ../shared/data.

Prints the coverage of the interval of a share, over all shares from 0.02 to 0.98; coverage, width
and false findings for scores drawn from models of real scores (`interval_simulation.py`), without
and with clusters; how often a 95 % interval of a mean is above and below the true mean (percentile
and BCa bootstrap), the coverage over clusters, and the false positives of the paired test. All
draws are seeded.

The columns of `evalstats` have its default methods, and a dash if the package is not installed.
`means`, `differences` or `clusters` after the folder prints that table of real scores alone.
"""

from __future__ import annotations

import contextlib
import math
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
from interval_simulation import (  # type: ignore[import-not-found]  # a file beside this one
    Model,
    models,
)
from numpy.typing import NDArray

from ragstone.statistics.bootstrap import ratio_interval, sum_of_draws
from ragstone.statistics.paired import paired_difference
from ragstone.statistics.permutation import mcnemar, sign_flip_p
from ragstone.statistics.proportions import proportion
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


SIZES: Final = (10, 13, 25, 45, 100, 500)
DRAWS: Final = 700
PEER_DRAWS: Final = 150
"""Draws of evalstats' bootstrap of a difference, which is slow."""
WITHIN: Final = 0.2
"""Share of the variance, on the normal scale, between clusters."""


def row(*cells: object) -> None:
    """Print a row of a Markdown table."""
    print("| " + " | ".join(map(str, cells)) + " |")


def shares() -> None:
    """Print exact coverage of the interval of a share, over shares from 0.02 to 0.98."""
    from scipy.stats import binom
    from statsmodels.stats.proportion import proportion_confint

    head = ["n", "Ragstone: least, mean", "width", "exact", "width"]
    row(*head, "Wilson (evalstats)", "statsmodels' default")
    row(*["---"] * 7)
    truths = np.linspace(0.02, 0.98, 961)
    for n in SIZES:
        counts = np.arange(n + 1)
        chances = np.array([binom.pmf(counts, n, truth) for truth in truths])
        cells: list[str] = []
        for method in ("ragstone", "exact", "wilson", "normal"):
            if method in {"ragstone", "exact"}:
                found = [proportion(k, n, exact=method == "exact").interval for k in range(n + 1)]
                low, high = np.array(found, dtype=float).T
            else:
                low, high = proportion_confint(counts, n, method=method)
            held = (low <= truths[:, None]) & (truths[:, None] <= high)
            covered = (chances * held).sum(axis=1) * 100
            cells.append(f"{covered.min():.1f} %, {covered.mean():.1f} %")
            if method in {"ragstone", "exact"}:
                cells.append(f"{(chances @ (high - low)).mean():.3f}")
        row(n, *cells)


def label_tests() -> None:
    """Print exact false findings of tests of 0/1 pairs, over shares of pairs that differ."""
    from scipy.stats import binom

    row("n", "score test: most, mean", "mid-p", "exact (statsmodels)")
    row(*["---"] * 4)
    shares_differing = np.linspace(0.02, 0.98, 97)
    for n in SIZES:
        found = np.zeros((3, n + 1))
        for differ in range(n + 1):
            wins = np.arange(differ + 1)
            chances = binom.pmf(wins, differ, 0.5)
            for w, chance in zip(wins.tolist(), chances, strict=True):
                one = np.repeat([1.0, 0.0], [w, differ - w])
                test = mcnemar(1 - one, one)
                z = abs(2 * w - differ) / math.sqrt(max(differ, 1))
                found[:, differ] += chance * np.array(
                    [math.erfc(z / math.sqrt(2)) < 0.05, test.mid_p < 0.05, test.exact_p < 0.05]
                )
        rates = np.array([binom.pmf(np.arange(n + 1), n, s) for s in shares_differing]) @ found.T
        row(n, *(f"{one.max() * 100:.1f} %, {one.mean() * 100:.1f} %" for one in rates.T))


class Peer:
    """The intervals of evalstats; None without the package."""

    def __init__(self) -> None:
        self.package: Any = None
        with contextlib.suppress(ImportError):
            import evalstats  # type: ignore[import-not-found]

            self.package = evalstats

    def mean(self, values: Floats) -> tuple[float, float] | None:
        """Return the interval of a mean."""
        if self.package is None:
            return None
        found = self.package.mean_ci(values, score_range=(0, 1), rng=0)
        return float(found.ci_low), float(found.ci_high)

    def difference(self, a: Floats, b: Floats) -> tuple[float, float] | None:
        """Return the interval of mean(b) - mean(a)."""
        if self.package is None:
            return None
        from evalstats.core.router import (  # type: ignore[import-not-found]
            resolve_auto_robustness_method,
        )

        both = np.stack((b, a))
        method = resolve_auto_robustness_method(both, score_range=(0, 1))[0]
        found = self.package.pairwise_differences(
            both, 0, 1, method=method, score_range=(0, 1), rng=np.random.default_rng(0)
        )
        return float(found.ci_low), float(found.ci_high)


class Tally:
    """How often intervals contain the truth, and how wide they are."""

    def __init__(self) -> None:
        self.found: list[tuple[bool, float]] = []

    def add(self, interval: tuple[float, float] | None, true: float) -> None:
        """Count an interval; None is not counted."""
        if interval is not None:
            low, high = interval
            self.found.append((low <= true <= high, high - low))

    def cells(self) -> tuple[str, str]:
        """Return coverage and mean width."""
        if not self.found:
            return "-", "-"
        covered, width = np.array(self.found, dtype=float).mean(axis=0)
        return f"{covered:.1%}", f"{width:.3f}"


def _t(values: Floats) -> tuple[float, float]:
    from scipy.stats import ttest_1samp

    if np.ptp(values) == 0:
        return float(values[0]), float(values[0])
    low, high = ttest_1samp(values, 0).confidence_interval()
    return float(low), float(high)


def real_means(found: Iterable[Model]) -> None:
    """Print the coverage of intervals of a mean of scores like real ones."""
    peer = Peer()
    head = ["metric", "n", "Ragstone", "width", "exact width", "BCa", "scipy's t", "width"]
    row(*head, "evalstats", "width")
    row(*["---"] * 10)
    for model in found:
        labels = set(model.margins[0]) <= {0.0, 1.0}
        for n in SIZES:
            generator = np.random.default_rng(n)
            true = float(model.margins[0].mean())
            ours, exact, bca, t, theirs = (Tally() for _ in range(5))
            for _ in range(DRAWS):
                values, _ = model.draw(generator, np.ones(n, dtype=np.int64), 0.0, 0)
                ours.add(summarise(values).interval or (0.0, 1.0), true)
                if labels:
                    exact.add(proportion(int(values.sum()), n, exact=True).interval, true)
                bca.add(ratio_interval(values, np.ones(n), 0.95), true)
                t.add(_t(values), true)
                theirs.add(peer.mean(values), true)
            row(
                *(model.metric, n, *ours.cells(), exact.cells()[1], bca.cells()[0]),
                *(*t.cells(), *theirs.cells()),
            )


def real_differences(found: Iterable[Model]) -> None:
    """Print false findings without a difference, and the coverage of a real one."""
    peer = Peer()
    row("metric", "n", "false findings", "scipy's t", "evalstats", "coverage", "width")
    row(*["---"] * 7)
    second = ["metric | n | scipy's t: coverage | width | evalstats: coverage | width"]
    for model in found:
        true = float(model.margins[1].mean() - model.margins[0].mean())
        for n in SIZES:
            ones = np.ones(n, dtype=np.int64)
            generator = np.random.default_rng(n)
            wrong = np.zeros(2)
            ours, t, theirs, theirs_null = (Tally() for _ in range(4))
            for draw in range(3 * DRAWS):
                a, b = model.draw(generator, ones, 0.0, 0)
                low, high = _t(b - a)
                wrong += [_p(a, b) < 0.05, low > 0 or high < 0]
                if draw < PEER_DRAWS:
                    theirs_null.add(peer.difference(a, b), 0.0)
            generator = np.random.default_rng(n + 1)
            for draw in range(DRAWS):
                a, b = model.draw(generator, ones, 0.0, 1)
                ours.add(paired_difference(a, b).interval or (-1.0, 1.0), true)
                t.add(_t(b - a), true)
                if draw < PEER_DRAWS:
                    theirs.add(peer.difference(a, b), true)
            falsely, students = wrong / (3 * DRAWS)
            null = 1 - np.mean([held for held, _ in theirs_null.found]) if theirs.found else None
            theirs_falsely = "-" if null is None else f"{null:.1%}"
            row(model.metric, n, f"{falsely:.1%}", f"{students:.1%}", theirs_falsely, *ours.cells())
            second.append(" | ".join([model.metric, str(n), *t.cells(), *theirs.cells()]))
    print()
    row(second[0])
    row(*["---"] * 6)
    for line in second[1:]:
        row(line)


def _p(a: Floats, b: Floats) -> float:
    """Return the p of `paired_difference`, without its interval."""
    gaps = b - a
    if not ((a == 0) | (a == 1)).all() or not ((b == 0) | (b == 1)).all():
        return sign_flip_p(gaps)
    return math.erfc(abs(float(gaps.sum())) / math.sqrt(2 * max(float(np.abs(gaps).sum()), 1)))


def real_clusters(found: Iterable[Model]) -> None:
    """Print coverage and false findings over clusters of 1 to 7 queries."""
    head = ["metric", "clusters", "coverage of a mean", "ignoring clusters", "width"]
    row(*head, "coverage of a difference", "width", "false findings", "ignoring")
    row(*["---"] * 9)
    for model in found:
        true = float(model.margins[0].mean())
        gap = float(model.margins[1].mean()) - true
        for count in (8, 15, 30, 60):
            generator = np.random.default_rng(count)
            aware, ignoring, differences = Tally(), Tally(), Tally()
            wrong = np.zeros(2)
            for _ in range(DRAWS):
                sizes = generator.integers(1, 8, count)
                names = np.repeat(np.arange(count), sizes).tolist()
                a, b = model.draw(generator, sizes, WITHIN, 0)
                aware.add(summarise(a, clusters=names).interval or (0.0, 1.0), true)
                ignoring.add(summarise(a).interval or (0.0, 1.0), true)
                sums = np.bincount(names, b - a).astype(np.float64)
                wrong += [sign_flip_p(sums) < 0.05, sign_flip_p(b - a) < 0.05]
                a, b = model.draw(generator, sizes, WITHIN, 1)
                differences.add(paired_difference(a, b, clusters=names).interval, gap)
            falsely, ignored = wrong / DRAWS
            row(
                *(model.metric, count, *aware.cells()[:1], ignoring.cells()[0], aware.cells()[1]),
                *(*differences.cells(), f"{falsely:.1%}", f"{ignored:.1%}"),
            )


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
            exact = ratio_interval(values, np.ones(n), 0.95)
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


TABLES: Final = {"means": real_means, "differences": real_differences, "clusters": real_clusters}


def main(folder: str = "", table: str = "") -> None:
    """Print all tables, or one table of real scores."""
    warnings.simplefilter("ignore")
    if table:
        TABLES[table](models(Path(folder)))
        return
    shares()
    label_tests()
    if folder:
        real = models(Path(folder))
        for show in TABLES.values():
            show(real)
    means()
    clusters()
    paired_test()


if __name__ == "__main__":
    main(*sys.argv[1:])
