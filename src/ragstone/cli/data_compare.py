"""`ragstone data compare`: two data sets side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli import options as cli
from ragstone.core.tables import TextTable
from ragstone.results.wording import ABSENT, interval_text, mean_text, number, signed_interval

if TYPE_CHECKING:
    from ragstone.building.set_comparison import ComparedProperty, People, SetComparison
    from ragstone.building.systems_on_both import MetricOnBoth, SystemScores
    from ragstone.results.charts.parts import Spec
    from ragstone.statistics.summary import Summary


@click.command("compare")
@click.argument("first", metavar="FIRST")
@click.argument("second", metavar="SECOND")
@click.option(
    "--people",
    type=click.Choice(["first", "second", "both", "none"]),
    default=None,
    help="The data sets whose queries people wrote (default: not known).",
)
@click.option(
    "--experiments",
    nargs=2,
    metavar="E1 E2",
    help="Compare the same systems on both sets: an experiment that has run on each (e.yaml, "
    "e.yaml#DATA), or files of InspectorRAGet (.json).",
)
@click.option(
    "--embedder",
    default="",
    help="Measure the spread of the queries with this embedder, such as minilm.",
)
@click.option("--seed", default=0, help="Seed of the resampled intervals.")
@cli.chart_option
@cli.json_option
def compare_command(
    *,
    first: str,
    second: str,
    people: People | None,
    experiments: tuple[str, str] | None,
    embedder: str,
    seed: int,
    chart: Path | None,
) -> None:
    """Compare the data sets FIRST and SECOND, such as conversations of people and of a model.

    Prints turns, passages, lengths, dialogue acts, labels, languages and diversity of both sets
    with their differences, how far their users are apart, and their overlap.
    Intervals are 95 % over conversations, or else over documents or queries.

    \b
    Examples:
      ragstone data compare my-real-set my-generated-set --people first
      ragstone data compare people.jsonl simulated.jsonl --people first --chart shares.svg
      ragstone data compare real simulated --people first --experiments real.yaml simulated.yaml
    """
    from ragstone.building.set_comparison import compare_sets
    from ragstone.building.systems_on_both import systems_on_both
    from ragstone.data.load import load_dataset
    from ragstone.results.charts.render import write_chart

    # Scores are read first: an error in them comes before the work.
    scores = [_scores(one) for one in experiments or ()]
    systems = systems_on_both(scores[0], scores[1], seed=seed) if scores else None
    sets = load_dataset(first), load_dataset(second)
    found = compare_sets(*sets, people=people or "", embedder=embedder, seed=seed)
    if chart:
        write_chart(_chart(found), chart)
    cli.print_result(
        lambda: {**found.to_dict(), "experiments": systems},
        lambda: "\n\n".join(_parts(found, systems)),
    )


def _scores(source: str) -> SystemScores:
    """Return the scores of a file of InspectorRAGet, or of an experiment that has run."""
    from ragstone.building.systems_on_both import experiment_scores, inspected_scores
    from ragstone.data.readers.inspector_raget import read_inspection
    from ragstone.data.readers.rows import has_end
    from ragstone.experiment.joined_sources import read_joined

    path = Path(source)
    if has_end(path, ".json"):
        return inspected_scores(read_inspection(path))
    return experiment_scores(read_joined([source]))


def _names(found: SetComparison) -> tuple[str, str]:
    """Return the names of both sets, with their places if they are equal."""
    a, b = found.a.name, found.b.name
    return (f"1. {a}", f"2. {b}") if a == b else (a, b)


def _parts(found: SetComparison, systems: Sequence[MetricOnBoth] | None) -> Iterator[str]:
    """Yield the tables and the notes."""
    names = _names(found)
    yield str(TextTable(["", *names], list(_size_rows(found))))
    for group, means in found.properties.items():
        rows = [[name, *_property(one)] for name, one in means.items()]
        yield str(TextTable([group, *names, "difference"], rows))
    yield _count_line([one for means in found.properties.values() for one in means.values()])
    rows = [
        [
            name,
            f"{number(one.value)}{interval_text(one.interval)}",
            *map(number, (one.observed, one.chance, one.p)),
        ]
        for name, one in found.distances.items()
    ]
    head = ["distance of users", "distance", "observed", "by chance", "p"]
    if rows:
        yield str(TextTable(head, rows, below=[_UNITS]))
    shared = [
        [name, *(ABSENT if one is None else mean_text(one) for one in (o.a, o.b))]
        for name, o in found.overlap.items()
    ]
    if shared:
        yield str(TextTable(["share that the other set has too", *names], shared))
    if systems is not None:
        yield from _system_tables(systems, names)
    if found.notes:
        yield "\n".join(f"note: {note}" for note in found.notes)


_UNITS = (
    "Dialogue acts and words: Jensen-Shannon divergence in bits (0 to 1). Turn length: earth "
    "mover's distance in words; largest gap: Kolmogorov-Smirnov. Conversations that are dealt out "
    "at random exceed `by chance` with probability 5 %."
)


def _size_rows(found: SetComparison) -> Iterator[list[str]]:
    for name in ("queries", "conversations", "passages", "judgements"):
        yield [name, *(f"{getattr(side, name):,}" for side in (found.a, found.b))]
    made = {True: "people", False: "not people", None: "not known"}
    yield ["queries by", *(made[side.people] for side in (found.a, found.b))]


def _property(one: ComparedProperty) -> list[str]:
    return [*map(_mean, (one.a, one.b)), signed_interval(one.difference, one.interval) or ABSENT]


def _mean(summary: Summary | None) -> str:
    return ABSENT if summary is None else f"{mean_text(summary)} (n={summary.n:,})"


def _count_line(compared: Sequence[ComparedProperty]) -> str:
    """Return how many properties differ, and how many would by chance."""
    with_interval = [one for one in compared if one.interval is not None]
    differ = sum(one.differs for one in with_interval)
    return (
        f"{differ} of {len(with_interval)} differences have an interval without 0; of equal sets, "
        "about 1 in 20 would."
    )


def _system_tables(systems: Sequence[MetricOnBoth], names: tuple[str, str]) -> Iterator[str]:
    head = ["metric", "setting", "system", *names, "difference"]
    rows = [
        [
            *(one.metric, one.setting or ABSENT, each.system, _mean(each.a), _mean(each.b)),
            signed_interval(each.difference, each.interval) or ABSENT,
        ]
        for one in systems
        for each in one.systems
    ]
    yield str(TextTable(head, rows, "The same systems on both sets"))
    orders = [
        [
            *(one.metric, one.setting or ABSENT, found.systems),
            f"{number(found.tau)}{interval_text(found.tau_interval)}",
            f"{found.swapped} of {found.systems * (found.systems - 1) // 2}",
        ]
        for one in systems
        if (found := one.agreement)
    ]
    if orders:
        head = ["metric", "setting", "systems", "Kendall's tau", "pairs in opposite order"]
        yield str(TextTable(head, orders, "Agreement of the order of the systems"))
    else:
        yield "The sets share one system, so there is no order to compare."


def _chart(found: SetComparison) -> Spec:
    """Return the shares of both sets, of dialogue acts and of labels, one row per value."""
    from ragstone.building.set_comparison import MEANS
    from ragstone.results.charts.means import rows_chart
    from ragstone.results.charts.parts import mean_fields

    shares: Mapping[str, Mapping[str, ComparedProperty]] = {
        group: means for group, means in found.properties.items() if group not in MEANS
    }
    points = [
        {"row": f"{group}: {value}", "name": name, **mean_fields(summary)}
        for group, means in shares.items()
        for value, one in means.items()
        for name, summary in zip(_names(found), (one.a, one.b), strict=True)
        if summary and summary.mean is not None
    ]
    title = "Shares of queries"
    return rows_chart(points, {"row": "Value", "name": "Data set"}, title) | {"title": title}
