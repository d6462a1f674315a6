"""`ragstone data agreement`: agreement of annotators, and of models with annotators."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import FILE, json_option, print_result, write_json_lines
from ragstone.core.tables import TextTable
from ragstone.results.wording import interval_text, number

if TYPE_CHECKING:
    from ragstone.statistics.label_agreement import AgainstOthers, Confusion, Labels, Majority
    from ragstone.statistics.resampling import Coefficient

Sets = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Annotator -> item id -> labels."""
Report = tuple[Mapping[str, Any], list[str], dict[str, Any]]
"""Item id -> the majority's label or labels; the lines to print; the same as plain data."""


@click.command("agreement")
@click.argument("sources", nargs=-1, required=True)
@click.option("--model", "models", multiple=True, help="File of a model's labels; may be repeated.")
@click.option("--field", default="label", help="Field with the label; of ratings, the property.")
@click.option("-o", "--output", type=FILE, help="Write the majority's labels to this file.")
@json_option
def agreement_command(
    sources: tuple[str, ...], models: tuple[str, ...], field: str, output: Path | None
) -> None:
    """Measure the agreement between annotators.

    Each SOURCE is a file of one annotator's labels, or a file in the ratings form with those of
    several, such as `ragstone annotate export` writes. Each annotator and each model is compared
    with the majority of the other annotators by Fleiss' kappa (Know Your RAG, section 4). Items
    without a majority are left out. If items have several labels, each label is compared
    separately, as yes or no. With a single SOURCE, the models are compared with its labels; it may
    also be a data set whose queries have the label --field.

    \b
    Examples:
      ragstone data agreement ann.csv ben.csv eve.csv --model labels.jsonl -o majority.jsonl
      ragstone data agreement labels.jsonl --field support
      ragstone data agreement sample --field taxonomy --model labels.jsonl
    """
    people, machines = _by_annotator(sources, field), _by_annotator(models, field)
    every = [labels for held in (people | machines).values() for labels in held.values()]
    several = any(len(labels) > 1 for labels in every)
    agreed, lines, plain = (_several if several else _single)(people, machines)
    if output:
        write_json_lines(output, ({"query_id": i, "label": label} for i, label in agreed.items()))
    print_result(lambda: plain, lambda: "\n".join(lines))


def _by_annotator(sources: tuple[str, ...], field: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return annotator -> labels: a file of one annotator, or ratings of several."""
    from ragstone.building.label_files import label_sets, rater_label_sets

    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for source in sources:
        by_rater = rater_label_sets(source, field) or {Path(source).stem: label_sets(source, field)}
        for name, labels in by_rater.items():
            found[name] = {**found.get(name, {}), **labels}
    return found


def _single(people: Sets, machines: Sets) -> Report:
    """Return the agreement on items with one label each."""
    from ragstone.statistics.label_agreement import confusion

    one, others = (
        {name: {item: labels[0] for item, labels in held.items()} for name, held in sets.items()}
        for sets in (people, machines)
    )
    agreed, plain, table = _compare(one, others)
    matrices = {name: confusion(agreed.labels, held) for name, held in others.items()}
    head = f"{len(agreed.labels):,} items have a majority, {len(agreed.set_aside):,} have none\n"
    lines = [_matrix(name, matrix) for name, matrix in matrices.items()]
    return agreed.labels, [head, table, *lines], plain | {"confusion": matrices}


def _several(people: Sets, machines: Sets) -> Report:
    """Return the agreement on items that may have several labels: label by label."""
    from ragstone.statistics.label_agreement import decisions

    sets = [*people.values(), *machines.values()]
    names = sorted({name for held in sets for labels in held.values() for name in labels})
    human = {person: decisions(held, names) for person, held in people.items()}
    model = {name: decisions(held, names) for name, held in machines.items()}
    found: dict[str, list[str]] = {}
    lines, plain = ["Items have several labels: each is compared separately, as yes or no."], {}
    for name in names:
        agreed, data, table = _compare(
            {person: held[name] for person, held in human.items()},
            {machine: held[name] for machine, held in model.items()},
        )
        for item, word in agreed.labels.items():
            found.setdefault(item, []).extend([name] * (word == "yes"))
        yes = sum(word == "yes" for word in agreed.labels.values())
        lines.append(f"\n{name}: {yes:,} items have it by majority, {len(agreed.set_aside):,} open")
        lines.append(table)
        plain[name] = data | {"yes": yes}
    return {item: labels for item, labels in found.items() if labels}, lines, plain


def _compare(
    people: Mapping[str, Labels], machines: Mapping[str, Labels]
) -> tuple[Majority, dict[str, Any], str]:
    """Return the majority, and each annotator against the others as plain data and as a table."""
    from ragstone.statistics.label_agreement import (
        AgainstOthers,
        against_others,
        kappa_of,
        majority,
    )

    agreed = majority(people, least=min(2, len(people)))
    if len(people) > 1:
        rows = against_others(people, machines)
    else:
        ((name, truth),) = people.items()
        kappas = {machine: kappa_of(held, truth) for machine, held in machines.items()}
        rows = [AgainstOthers(name, kappa_of(truth, {}), kappas)]
    head = ["annotator", "n", "kappa with the others", *(f"{m} in their place" for m in machines)]
    plain = {"majority": len(agreed.labels), "set_aside": agreed.set_aside, "against_others": rows}
    return agreed, plain, str(TextTable(head, [_row(row, machines) for row in rows]))


def _row(row: AgainstOthers, machines: Mapping[str, object]) -> list[str]:
    cells = [row.annotator, str(row.kappa.n), _kappa(row.kappa)]
    for machine in machines:
        share = row.shortfall(machine)
        lower = "" if share is None else f" ({share:.0%} lower)"
        cells.append(_kappa(row.models[machine]) + lower)
    return cells


def _matrix(name: str, matrix: Confusion) -> str:
    title = f"\n{name}: rows are the majority's labels, columns the model's; accuracy "
    rows = [[row, *counts] for row, counts in zip(matrix.rows, matrix.counts, strict=True)]
    return str(TextTable(["", *matrix.columns], rows, title + number(matrix.accuracy)))


def _kappa(agreement: Coefficient) -> str:
    return number(agreement.value) + interval_text(agreement.interval)
