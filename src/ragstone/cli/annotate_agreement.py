"""`ragstone annotate agreement`: agreement of people, also with a model's suggestions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.annotate_project import opened, project_options
from ragstone.cli.options import json_option, print_result
from ragstone.core.tables import TextTable
from ragstone.results.wording import ABSENT, interval_text, number

if TYPE_CHECKING:
    from ragstone.annotation.influence import ModelLabels, ShownGroup
    from ragstone.annotation.label_forecast import QuestionForecast
    from ragstone.annotation.live_numbers import ProjectNumbers
    from ragstone.statistics.labels_needed import WidthForecast
    from ragstone.statistics.resampling import Coefficient
    from ragstone.statistics.summary import Summary
    from ragstone.statistics.unpaired import UnpairedDifference


@click.command("agreement")
@project_options
@json_option
def agreement_command(*, folder: Path, database: str) -> None:
    """Show how far the people of a project agree, also with the model's labels.

    The numbers are those of the pages of progress and agreement: Krippendorff's alpha and Cohen's
    kappas as `ragstone data ratings` computes them on the export, the labels that the wanted
    intervals still need, each person against the model, and the effect of showing suggestions.

    \b
    Examples:
      ragstone annotate agreement my-labels
      ragstone annotate agreement my-labels --json
    """
    from ragstone.annotation.live_numbers import project_numbers
    from ragstone.annotation.site import Site

    with opened(folder, database, items=True) as (project, held):
        found = project_numbers(Site(project, held))
    wanted = project.settings.wanted_half_width
    print_result(lambda: _plain(found), lambda: "\n\n".join(map(str, _tables(found, wanted))))


def _plain(found: ProjectNumbers) -> dict[str, Any]:
    return {
        "made": found.made,
        "questions": found.questions,
        "needed": found.needed,
        "model": found.model,
        "sides": found.sides,
    }


def _tables(found: ProjectNumbers, wanted: float) -> Iterator[TextTable]:
    """Yield the tables with a row; the first one is always there."""
    alphas = [
        [
            one.question,
            f"{one.agreement.ratings:,}",
            f"{one.two:,}",
            _coefficient(one.agreement.alpha),
            number(one.agreement.equal_pairs.mean),
        ]
        for one in found.questions
    ]
    head = ["question", "labels", "items with two labels", "alpha", "equal pairs"]
    yield TextTable(head, alphas, "Agreement of people")
    pairs = [
        [one.question, f"{pair.a}, {pair.b}", pair.kappa.n, _coefficient(pair.kappa)]
        for one in found.questions
        for pair in one.agreement.pairwise
    ]
    if pairs:
        title = "Pairs of people (Cohen's kappa, quadratic for numbers)"
        yield TextTable(["question", "people", "n", "kappa"], pairs, title)
    if found.needed:
        rows = [_needed(one) for one in found.needed]
        title = f"More labels for an interval of +-{wanted:g}"
        yield TextTable(["question", "value", "+-", "more", "with the model"], rows, title)
    sides = [[one.question, _summary(one.left), _summary(one.ties)] for one in found.sides]
    if sides:
        yield TextTable(["question", "left answer", "ties"], sides, "Choices of sides")
    yield from _model_tables(found.model)


def _model_tables(found: Sequence[ModelLabels]) -> Iterator[TextTable]:
    people = [
        [one.question, person.person, _summary(person.equal), _coefficient(person.kappa)]
        for one in found
        for person in one.people
    ]
    if people:
        yield TextTable(["question", "person", "equal", "kappa"], people, "People and the model")
    groups = [
        [one.question, *_group(group)] for one in found if one.was_shown for group in one.groups
    ]
    if groups:
        head = ["question", "shown", "equal to the model", "difference", "equal pairs"]
        below = [
            f"{one.question}: {one.changed:,} of {one.after:,} labels were changed after the "
            f"suggestion was shown, {one.to_model:,} to the model's label."
            for one in found
            if one.after
        ]
        yield TextTable([*head, "difference"], groups, "Influence of the suggestions", below)


def _group(one: ShownGroup) -> list[str]:
    return [
        one.shown,
        _summary(one.with_model),
        _difference(one.model_difference),
        _summary(one.with_others),
        _difference(one.others_difference),
    ]


def _needed(one: QuestionForecast) -> list[str]:
    of = one.needed
    if of.alone is None:
        return [one.question, one.value, ABSENT, f"{of.missing:,}, then it can be known", ABSENT]
    return [
        one.question,
        one.value or "mean",
        number(of.alone.half_width),
        _more(of.alone),
        _more(of.with_model) if of.with_model else ABSENT,
    ]


def _more(one: WidthForecast) -> str:
    return f"all items give +-{number(one.at_most)}" if one.more is None else f"{one.more:,}"


def _coefficient(one: Coefficient) -> str:
    return f"{number(one.value)}{interval_text(one.interval)}"


def _summary(one: Summary) -> str:
    return f"{number(one.mean)}{interval_text(one.interval)}"


def _difference(one: UnpairedDifference | None) -> str:
    if one is None:
        return ABSENT
    return f"{number(one.difference)}{interval_text(one.interval)}"
