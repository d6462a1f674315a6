"""`ragstone data agreement`: how far annotators, and models in their place, label alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import json_option, print_json, text_table
from ragstone.results.wording import interval_text, number

if TYPE_CHECKING:
    from ragstone.statistics.label_agreement import AgainstOthers, Confusion, Majority
    from ragstone.statistics.resampling import Coefficient

Sets = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Annotator -> item id -> labels."""


@click.command("agreement")
@click.argument("sources", nargs=-1, required=True)
@click.option(
    "--model",
    "models",
    multiple=True,
    help="A file of labels given by a model; may be repeated.",
)
@click.option("--field", default="label", show_default=True, help="The field that holds the label.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write the majority's labels there."
)
@json_option
def agreement_command(
    sources: tuple[str, ...],
    models: tuple[str, ...],
    field: str,
    output: Path | None,
    *,
    as_json: bool,
) -> None:
    """Say how far annotators agree: SOURCES are files with one annotator's labels each.

    Each annotator, and each model, is compared with the majority of the other annotators by
    Fleiss' kappa (Know Your RAG, section 4); items without a majority are set aside. Where an item
    has several labels, each label is a yes or no of its own. A single source is the truth for the
    models; it may be a data set, whose label --field names.

    \b
    Examples:
      ragstone data agreement ann.csv ben.csv eve.csv --model labels.jsonl -o majority.jsonl
      ragstone data agreement sample --field taxonomy --model labels.jsonl
    """
    import orjson

    from ragstone.building.label_files import label_sets

    people = {Path(source).stem: label_sets(source, field) for source in sources}
    machines = {Path(source).stem: label_sets(source, field) for source in models}
    every = [labels for held in (people | machines).values() for labels in held.values()]
    if any(len(labels) > 1 for labels in every):
        names = sorted({name for labels in every for name in labels})
        agreed, told, plain = _decided(people, machines, names)
    else:
        agreed, told, plain = _chosen(people, machines)
    if output:
        lines = ({"query_id": item, "label": label} for item, label in agreed.items())
        output.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    if as_json:
        print_json(plain)
    else:
        click.echo("\n".join(told))


def _chosen(people: Sets, machines: Sets) -> tuple[Mapping[str, Any], list[str], Mapping[str, Any]]:
    """Return the majority's labels, the lines to print and the same for machines."""
    from ragstone.statistics.label_agreement import confusion, majority

    one, others = _single(people), _single(machines)
    agreed = majority(one, least=min(2, len(one)))
    rows = _rows(one, others)
    matrices = {name: confusion(agreed.labels, held) for name, held in others.items()}
    told = [
        f"{len(agreed.labels):,} items have a majority, {len(agreed.set_aside):,} have none\n",
        _against("annotator", rows, list(others)),
    ]
    for name, matrix in matrices.items():
        told += ["", *_matrix(name, matrix)]
    return agreed.labels, told, _plain(agreed, rows) | {"confusion": matrices}


def _rows(
    people: Mapping[str, Mapping[str, str]], machines: Mapping[str, Mapping[str, str]]
) -> list[AgainstOthers]:
    """Compare each annotator with the others; one alone is the truth for the models."""
    from ragstone.statistics.label_agreement import AgainstOthers, against_others, kappa_of

    if len(people) > 1:
        return against_others(people, machines)
    ((name, truth),) = people.items()
    kappas = {machine: kappa_of(held, truth) for machine, held in machines.items()}
    return [AgainstOthers(name, kappa_of(truth, {}), kappas)]


def _single(sets: Sets) -> dict[str, dict[str, str]]:
    return {n: {item: labels[0] for item, labels in held.items()} for n, held in sets.items()}


def _plain(agreed: Majority, rows: Sequence[AgainstOthers]) -> dict[str, Any]:
    return {
        "majority": len(agreed.labels),
        "set_aside": list(agreed.set_aside),
        "against_others": rows,
    }


def _decided(
    people: Sets, machines: Sets, names: Sequence[str]
) -> tuple[Mapping[str, Any], list[str], Mapping[str, Any]]:
    """Do as `_chosen` does for labels of which an item may have several: label by label."""
    from ragstone.statistics.label_agreement import decisions, majority

    human = {person: decisions(held, names) for person, held in people.items()}
    model = {name: decisions(held, names) for name, held in machines.items()}
    labels: dict[str, list[str]] = {}
    told, plain = ["Several labels an item: each label is a yes or no of its own."], {}
    for name in names:
        ours = {person: held[name] for person, held in human.items()}
        theirs = {machine: held[name] for machine, held in model.items()}
        agreed = majority(ours, least=min(2, len(ours)))
        rows = _rows(ours, theirs)
        said = [item for item, word in agreed.labels.items() if word == "yes"]
        for item in agreed.labels:
            labels.setdefault(item, [])
        for item in said:
            labels[item].append(name)
        told += [
            f"\n{name}: {len(said):,} items have it by majority, {len(agreed.set_aside):,} open",
            _against("annotator", rows, list(theirs)),
        ]
        plain[name] = _plain(agreed, rows) | {"yes": len(said)}
    return {item: held for item, held in labels.items() if held}, told, plain


def _against(title: str, rows: Sequence[AgainstOthers], machines: Sequence[str]) -> str:
    head = [title, "n", "kappa with the others", *(f"{m} in their place" for m in machines)]
    return text_table(
        head,
        [
            [row.annotator, str(row.kappa.n), _kappa(row.kappa)]
            + [_kappa(row.models[m]) + _lower(row.shortfall(m)) for m in machines]
            for row in rows
        ],
    )


def _matrix(name: str, matrix: Confusion) -> Iterator[str]:
    accuracy = number(matrix.accuracy)
    yield f"{name}: rows are the majority's labels, columns the model's; accuracy {accuracy}"
    yield text_table(
        ["", *matrix.columns],
        [[row, *map(str, c)] for row, c in zip(matrix.rows, matrix.counts, strict=True)],
    )


def _kappa(agreement: Coefficient) -> str:
    return number(agreement.value) + interval_text(agreement.interval)


def _lower(share: float | None) -> str:
    return "" if share is None else f" ({share:.0%} lower)"
