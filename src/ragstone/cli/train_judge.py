"""`ragstone train judge`: a judge, or a classifier of queries, from labels that people gave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli import options as cli

if TYPE_CHECKING:
    from ragstone.training.classifier import Base, LabelledItem, Parts
    from ragstone.training.judge_recipe import JudgeRecipe
    from ragstone.training.judge_report import JudgeReport
    from ragstone.training.record import TrainingRecord


@click.command("judge")
@click.argument("file", type=cli.FILE)
@click.option(
    "--beside",
    multiple=True,
    help="Judge that is compared with the trained one on the test part; may be repeated.",
)
@click.option(
    "--calls",
    type=click.Path(path_type=Path),
    default=Path(".ragstone/calls.sqlite"),
    help="File of the calls of --beside.",
)
@cli.json_option
def judge_command(file: Path, beside: tuple[str, ...], calls: Path) -> None:
    """Train a judge on people's labels, and compare it with people on unseen documents.

    FILE is a training file (docs/train-judge.md). The items are split by source document and by
    near-duplicate query. The judge learns from the training part, is calibrated on the validation
    part, and is compared with people on the test part, beside a judge that always gives the most
    frequent label, the untrained judge of a causal base, and those of --beside. The result is used
    as the judge `trained(model=OUTPUT)`, or by `ragstone data label --model OUTPUT`.

    \b
    Examples:
      ragstone train judge judge.yaml
      ragstone train judge judge.yaml --beside RL_F --json
    """
    from ragstone.cli.read_judge import read_judges
    from ragstone.training.judge_recipe import JudgeRecipe
    from ragstone.training.recipe import read_recipe

    recipe = read_recipe(file, JudgeRecipe)
    rivals = [judge for spec in beside for judge in read_judges(spec, None, {})]
    record, report = trained_judge(recipe, rivals, calls)
    cli.print_result(
        lambda: {
            "loss": list(record.loss),
            "validation": [dict(one) for one in record.validation],
            "output": recipe.output,
            "digest": record.digest,
            "report": report.to_dict(),
            "notes": list(record.notes),
        },
        lambda: "\n".join(_lines(record, report, recipe)),
    )


def trained_judge(
    recipe: JudgeRecipe, rivals: Sequence[Any], calls: Path
) -> tuple[TrainingRecord, JudgeReport]:
    """Train the judge of a recipe, or resume, and compare it with people."""
    from ragstone.training.classifier import classifier_facts, judge_training, known_labels
    from ragstone.training.record import write_record
    from ragstone.training.weights import require_training

    require_training()
    name, items, dataset, usual = read_labelled(recipe)
    items, notes = known_labels(items, recipe.least)
    parts, data, files = _split(recipe, items, dataset)
    facts = classifier_facts(recipe, name, parts, usual)
    base = _base(recipe, facts)
    training = judge_training(recipe, base, facts, parts, data=data, files=files, notes=notes)
    record = training.run()
    report = _report(training.folder, base, parts, rivals, calls)
    record = replace(record, facts={**record.facts, "report": report.to_dict()})
    write_record(training.folder, record)
    return record, report


def read_labelled(recipe: JudgeRecipe) -> tuple[str, list[LabelledItem], Any, str]:
    """Return the label's name, the items, the data set of their queries, and the usual input."""
    from ragstone.training.labelled_data import rated_items
