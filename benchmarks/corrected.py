"""Numbers of judges corrected by people: python benchmarks/corrected.py ../shared/data [DRAWS].

How often intervals of corrected means, differences, ranks and ranking metrics contain the truth,
and how wide they are relative to those of the labels alone: in simulations with a known truth, and
on answers graded by people whose grades are hidden at random. Then the intervals of the labels
that `ragstone judge next` draws, against random ones. All draws are seeded. Without a folder only
the simulations are printed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ragstone.components.metrics.ranking_batch import Run
from ragstone.components.metrics.score import score_answers, score_rankings
from ragstone.core.schemas import table_to_scores
from ragstone.data.readers.trec import read_qrels, read_run
from ragstone.evaluation.human_grades import Labelled, read_human_set
from ragstone.statistics.corrected_difference import (
    GradedSystem,
    adjusted,
    all_differences,
    corrected_difference,
    corrected_ranks,
)
from ragstone.statistics.label_design import drawn, expected_residuals, inclusion_probabilities
from ragstone.statistics.paired import paired_difference
from ragstone.statistics.prediction_powered import calibrated, calibrated_mean
from ragstone.statistics.summary import summarise
from ragstone.types import Context, ContextPassage, Prediction, Query

Floats = NDArray[np.float64]
PROPOSED: Final = ("mtRAG faithfulness", "mtRAG completeness", "mtRAG win-rate", "TruthfulQA")
"""The sets for which labels are proposed."""
Draw = Callable[[np.random.Generator, int], tuple[Floats, Floats]]
"""People's and the judge's values (query, system) of some queries."""

LABELS: Final = 30
QUERIES: Final = 500
DRAWS: Final = 500
LARGE: Final = 400_000
JUDGES: Final = [
    (0.6, 0.1, 0.2, 100),
    (0.6, 0.4, 0.4, 100),
    (0.8, 0.02, 0.05, 60),
    (0.3, 0.05, 0.3, 200),
    (0.05, 0.1, 0.1, 50),
]
"""Mean of people, shares that the judge misses and invents, and labels."""


@dataclass
class Tally:
    """Coverage and width of corrected intervals, and of those of the labels alone."""

    rows: list[tuple[float, ...]] = field(default_factory=list)

    def add(
        self, truth: float, found: tuple[float, float], alone: tuple[float, float] | None
    ) -> None:
        """Count a pair of intervals."""
        low, high = alone or (-1.0, 1.0)
        held = (found[0] <= truth <= found[1], low <= truth <= high)
        self.rows.append((*map(float, held), found[1] - found[0], high - low))

    def cells(self) -> list[str]:
        """Return coverage and width, the same of the labels alone, and the ratio of the widths."""
        covered, plain, width, alone = np.array(self.rows).mean(axis=0)
        ratio = f"{width / alone:.2f}"
        return [f"{covered:.1%}", f"{width:.3f}", f"{plain:.1%}", f"{alone:.3f}", ratio]


COLUMNS: Final = ("coverage", "width", "labels alone: coverage", "width", "ratio")


def row(*cells: object) -> None:
    """Print a row of a Markdown table."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def head(*names: str) -> None:
    """Print the head of a Markdown table."""
    print()
    row(*names)
    row(*["---"] * len(names))


def labels(shares: Sequence[float], right: float, alike: float = 0.4) -> Draw:
    """Return 0/1 values; the judge is right with a probability."""
    from statistics import NormalDist

    marks = np.array([NormalDist().inv_cdf(one) for one in shares])

    def draw(generator: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        shared = np.sqrt(alike) * generator.normal(size=(n, 1))
        own = np.sqrt(1 - alike) * generator.normal(size=(n, len(marks)))
        people = shared + own < marks
        return people.astype(float), (people == (generator.random(people.shape) < right)).astype(
            float
        )

    return draw


def ratings(means: Sequence[float], noise: float) -> Draw:
    """Return ratings in four steps; the judge is too kind by 0.1 and has noise."""

    def draw(generator: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        shape = (n, len(means))
        latent = 0.3 * generator.normal(size=(n, 1)) + 0.3 * generator.normal(size=shape)
        latent = latent + np.array(means)
        people = np.clip(np.round(3 * latent) / 3, 0, 1)
        return people, np.clip(latent + 0.1 + noise * generator.normal(size=shape), 0, 1)

    return draw


SIMULATED: Final[Mapping[str, Draw]] = {
    "0/1": labels((0.7, 0.6), 0.885),
    "0/1, rare errors": labels((0.95, 0.9), 0.96, 0.6),
    "ratings": ratings((0.7, 0.6), 0.23),
    "ratings, weak judge": ratings((0.7, 0.6), 0.60),
}
RANKED: Final[Mapping[str, Draw]] = {
    "0/1, 4 systems": labels((0.85, 0.65, 0.6, 0.4), 0.885),
    "ratings, 4 systems": ratings((0.8, 0.7, 0.6, 0.4), 0.23),
}


def hidden(
    people: Floats, judge: Floats, labelled: NDArray[np.int64], probability: Floats | None = None
) -> list[GradedSystem]:
    """Return the systems with people's values of some queries alone."""
    kept = np.full(people.shape, np.nan)
    kept[labelled] = people[labelled]
    return [GradedSystem(judge[:, i], kept[:, i], probability) for i in range(people.shape[1])]


def simulated_means(draws: int) -> None:
    """Print means of 0/1 values, by judges that miss and invent, of labels and 1,000 others."""
    head("mean", "judge misses", "invents", "labels", *COLUMNS)
    for truth, missed, invented, count in JUDGES:
        tally = Tally()
        generator = np.random.default_rng(0)
        for _ in range(2 * draws):
            right = generator.random(count + 1000) < truth
            flips = generator.random(len(right))
            said = np.where(right, flips >= missed, flips < invented).astype(float)
            human = right[:count].astype(float)
            found = calibrated_mean(human.tolist(), said[:count].tolist(), said[count:].tolist())
            tally.add(truth, found.interval, summarise(human).interval)
        row(truth, f"{missed:.0%}", f"{invented:.0%}", count, *tally.cells())


def simulated_differences(draws: int) -> None:
    """Print differences of two simulated systems, with 30 labelled queries of 500."""
    head("values", "correlation of differences", *COLUMNS)
    for name, draw in SIMULATED.items():
        people, judge = draw(np.random.default_rng(1), LARGE)
        gaps, judged = people[:, 0] - people[:, 1], judge[:, 0] - judge[:, 1]
        tally, truth = Tally(), float(gaps.mean())
        for seed in range(draws):
            tally.add(truth, *one_difference(draw, seed))
        row(name, f"{np.corrcoef(gaps, judged)[0, 1]:.2f}", *tally.cells())


def one_difference(draw: Draw, seed: int) -> tuple[tuple[float, float], tuple[float, float] | None]:
    """Return the corrected interval of a drawn difference, and that of the labels alone."""
    people, judge = draw(np.random.default_rng(seed), QUERIES)
    found = corrected_difference(*hidden(people, judge, np.arange(LABELS))).interval
    known = people[:LABELS]
    return found or (-1.0, 1.0), paired_difference(known[:, 1], known[:, 0]).interval


def simulated_ranks(draws: int) -> None:
    """Print how often all true ranks are in their ranges, and how wide these are (0: known)."""
    head(
        "values", "all ranks covered", "mean width", "labels alone: covered", "mean width", "ratio"
    )
    for name, draw in RANKED.items():
        truth = draw(np.random.default_rng(1), LARGE)[0].mean(axis=0)
        ranks = (np.argsort(np.argsort(-truth)) + 1).tolist()
        rows = []
        for seed in range(draws):
            people, judge = draw(np.random.default_rng(seed), QUERIES)
            systems = hidden(people, judge, np.arange(LABELS))
            alone = [GradedSystem(one.human[:LABELS], one.human[:LABELS]) for one in systems]
            rows.append((*ranked(systems, ranks), *ranked(alone, ranks)))
        covered, width, plain, other = np.array(rows, dtype=float).mean(axis=0)
        row(
            name,
            f"{covered:.1%}",
            f"{width:.2f}",
            f"{plain:.1%}",
            f"{other:.2f}",
            f"{width / other:.2f}",
        )


def ranked(systems: Sequence[GradedSystem], true: Sequence[int]) -> tuple[bool, float]:
    """Return whether all true ranks are in the corrected ranges, and the mean width of these."""
    named = {str(place): one for place, one in enumerate(systems)}
    means = {name: calibrated(one.items(None, None)).mean for name, one in named.items()}
    found = corrected_ranks(adjusted(all_differences(named)), means)
    spans = [found[name].rank for name in named]
    held = all(low <= rank <= high for (low, high), rank in zip(spans, true, strict=True))
    return held, float(np.mean([high - low for low, high in spans]))


def hidden_labels(name: str, people: Floats, judge: Floats, draws: int) -> None:
    """Print means and differences with 30 labelled queries, the others' labels hidden at random.

    The truth is the mean over these queries, so that conversations are not drawn.
    """
    means, differences = Tally(), Tally()
    for seed in range(draws):
        known = np.random.default_rng(seed).permutation(len(people))[:LABELS]
        systems = hidden(people, judge, known)
        for place, one in enumerate(systems):
            found = calibrated(one.items(None, None))
            alone = summarise(people[known, place]).interval
            means.add(float(people[:, place].mean()), found.interval, alone)
        for i, j in combinations(range(len(systems)), 2):
            gap = corrected_difference(systems[i], systems[j]).interval
            a, b = people[known, j], people[known, i]
            alone = paired_difference(a, b).interval
            truth = float((people[:, i] - people[:, j]).mean())
            differences.add(truth, gap or (-1.0, 1.0), alone)
    systems_count = people.shape[1]
    close = np.mean([np.corrcoef(people[:, i], judge[:, i])[0, 1] for i in range(systems_count)])
    row(name, "mean", len(people), f"{close:.2f}", *means.cells())
    if systems_count > 1:
        pairs = [
            np.corrcoef(people[:, i] - people[:, j], judge[:, i] - judge[:, j])[0, 1]
            for i, j in combinations(range(systems_count), 2)
        ]
        size = len(people)
        row(name, "difference", size, f"{np.mean(pairs):.2f}", *differences.cells())


def graded_sets(folder: Path) -> Iterator[tuple[str, Floats, Floats]]:
    """Yield a name, and people's and a judge's values (query, system), of real sets."""
    for rating, metric in (
        ("faithfulness", "RL_F"),
        ("completeness", "RL_F"),
        ("appropriateness", "RL_F"),
        ("win-rate", "RB_agg"),
    ):
        found = read_human_set(f"mtrag:{folder / 'mtrag'}", rating=rating)
        columns: dict[str, dict[str, tuple[float, float]]] = {}
        for one, value in zip(found.items, found.values[metric], strict=True):
            if value is not None:
                of = columns.setdefault(one.system, {})
                of[one.item.query.query_id] = (one.value, value)
        first, *others = columns.values()
        shared = [q for q in first if all(q in other for other in others)]
        table = np.array([[[of[q][k] for of in columns.values()] for q in shared] for k in (0, 1)])
        yield f"mtRAG {rating} by {metric}", table[0], table[1]
    found = read_human_set(str(folder / "truthfulqa"))
    by_system: dict[str, dict[str, tuple[float, float]]] = {}
    values = lexical(found.items, "ROUGE-L")
    for one, value in zip(found.items, values, strict=True):
        by_system.setdefault(one.system, {})[one.cluster] = (one.value, value)
    shared = list(next(iter(by_system.values())))
    table = np.array([[[of[q][k] for of in by_system.values()] for q in shared] for k in (0, 1)])
    yield "TruthfulQA by ROUGE-L", table[0], table[1]
    found = read_human_set(str(folder / "begin"))
    values = lexical(found.items, "K-precision")
    people = np.array([[one.value] for one in found.items])
    yield "BEGIN by K-precision", people, np.array(values)[:, None]
    found = read_human_set(str(folder / "ragchecker"))
    people = np.array([[one.value] for one in found.items])
    own = np.array([[value] for value in found.values["RAGChecker"]], dtype=float)
    yield "RAGChecker's preference by its own", people, (own + 100) / 200


def lexical(items: Sequence[Labelled], metric: str) -> list[float]:
    """Return a metric of each answer, as a judge."""
    queries = [
        Query(str(n), one.item.query.text, one.item.query.gold_answers)
        for n, one in enumerate(items)
    ]
    answers = [Prediction(str(n), one.item.answer) for n, one in enumerate(items)]
    contexts = [
        Context(
            str(n),
            "",
            tuple(
                ContextPassage(f"p{k}", text, "gold") for k, text in enumerate(one.item.passages)
            ),
        )
        for n, one in enumerate(items)
    ]
    scores = table_to_scores(score_answers([metric], queries, answers, contexts))
    return [score.value or 0.0 for score in scores]


def ranking_metrics(folder: Path, draws: int) -> None:
    """Print ranking metrics of real runs by people's grades, with a judge that errs at random."""
    head("values", "of", "queries", "correlation", *COLUMNS)
    runs, people = mtrag_runs(folder)
    generator = np.random.default_rng(0)
    judge = {
        q: {p: int(generator.random() < (KEPT if grade else INVENTED)) for p, grade in of.items()}
        for q, of in people.items()
    }
    for metric in ("nDCG@5", "R@5", "MRR"):
        tables = [
            np.array(
                [
                    [
                        np.nan if s.value is None else s.value
                        for s in table_to_scores(score_rankings([metric], qrels, run, list(people)))
                    ]
                    for run in runs.values()
                ]
            ).T
            for qrels in (people, judge)
        ]
        whole = ~np.isnan(tables[0] + tables[1]).any(axis=1)
        hidden_labels(metric, tables[0][whole], tables[1][whole], draws)


KEPT: Final = 0.85
"""Share of the relevant passages that the judge of passages calls relevant."""
INVENTED: Final = 0.05
"""Share of the other passages that it calls relevant."""


def mtrag_runs(folder: Path) -> tuple[dict[str, Run], dict[str, dict[str, int]]]:
    """Return retriever -> rankings of mtRAG's rewritten queries, and people's grades.

    Passages of the rankings that people did not grade are not relevant.
    """
    runs: dict[str, Run] = {}
    people: dict[str, dict[str, int]] = {}
    for domain in ("clapnq", "cloud", "fiqa"):
        qrels = read_qrels(folder / "mtrag" / "qrels" / f"human_{domain}.tsv")
        for retriever in ("bm25", "bge", "elser"):
            found = read_run(folder / "mtrag" / "runs" / f"{retriever}.{domain}.rewrite.trec.gz")
            runs[retriever] = {**runs.get(retriever, {}), **found}
        for query_id, grades in qrels.items():
            rankings = [run[query_id] for run in runs.values() if query_id in run]
            ranked = [p for one in rankings for p in getattr(one, "passage_ids", ())]
            people[query_id] = {**dict.fromkeys(ranked, 0), **grades}
    return runs, people


def proposed(name: str, people: Floats, judge: Floats, count: int, draws: int) -> None:
    """Print the differences from the best system, by three ways to choose the labels."""
    queries, systems = people.shape
    best = int(judge.mean(axis=0).argmax())
    others = [i for i in range(systems) if i != best]
    each = count // systems
    found: dict[str, list[tuple[bool, float]]] = {}

    def add(way: str, graded: Sequence[GradedSystem]) -> None:
        for i in others:
            gap = corrected_difference(graded[i], graded[best]).interval or (-1.0, 1.0)
            truth = float((people[:, i] - people[:, best]).mean())
            found.setdefault(way, []).append((gap[0] <= truth <= gap[1], gap[1] - gap[0]))

    unknown = np.full(people.shape, np.nan)
    sizes = expected_residuals(judge, unknown, best)
    for seed in range(draws):
        generator = np.random.default_rng(seed)
        probabilities = inclusion_probabilities(sizes, each)
        first = drawn(probabilities, seed)
        add("next", hidden(people, judge, first, probabilities))
        add("random queries", hidden(people, judge, generator.permutation(queries)[:each]))
        flat = np.full(people.size, np.nan)
        answers = generator.permutation(people.size)[:count]
        flat[answers] = people.ravel()[answers]
        kept = flat.reshape(people.shape)
        add("random answers", [GradedSystem(judge[:, i], kept[:, i]) for i in range(systems)])
        known = unknown.copy()
        known[first] = people[first]
        free = np.setdiff1d(np.arange(queries), first)
        more = expected_residuals(judge, known, best)[free]
        second_probabilities = inclusion_probabilities(more, min(each, len(free)))
        second = free[drawn(second_probabilities, seed + 1)]
        both, rounds = probabilities.copy(), np.ones(queries, dtype=np.int64)
        both[free], rounds[free] = second_probabilities, 2
        graded = hidden(people, judge, np.concatenate([first, second]), both)
        add("next, twice", [replace(one, rounds=rounds) for one in graded])
        twice = generator.permutation(queries)[: 2 * each]
        add("random queries, twice", hidden(people, judge, twice))
    for way, rows in found.items():
        covered, width = np.array(rows, dtype=float).mean(axis=0)
        row(name, queries, systems, way, f"{covered:.1%}", f"{width:.3f}")


def main(folder: str = "", draws: str = str(DRAWS)) -> None:
    """Print all tables."""
    number = int(draws)
    simulated_means(number)
    simulated_differences(number)
    simulated_ranks(number)
    if not folder:
        return
    data = Path(folder)
    ranking_metrics(data, number)
    head("values", "of", "queries", "correlation", *COLUMNS)
    sets = list(graded_sets(data))
    for one in sets:
        hidden_labels(*one, number)
    head("values", "queries", "systems", "50 labels of", "coverage", "width")
    for name, people, judge in sets:
        if name.startswith(PROPOSED):
            proposed(name, people, judge, 50, number)
    for name in ("0/1", "0/1, rare errors"):
        people, judge = SIMULATED[name](np.random.default_rng(2), QUERIES)
        proposed(f"simulated {name}", people, judge, 50, number)


if __name__ == "__main__":
    main(*sys.argv[1:])
