"""`ragstone train generator`: fine-tuning of a generator on the contexts of a setting."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli import options as cli

if TYPE_CHECKING:
    from ragstone.experiment.experiment import Experiment
    from ragstone.training.examples import Example
    from ragstone.training.recipe import GeneratorRecipe
    from ragstone.training.record import TrainingRecord
    from ragstone.training.training import Training
    from ragstone.types import Task

plan_option = click.option(
    "--plan", is_flag=True, help="Print memory, time, disk and steps; train nothing."
)


@click.command("generator")
@click.argument("file", type=cli.FILE)
@plan_option
@cli.json_option
def generator_command(*, file: Path, plan: bool) -> None:
    """Train the generator of FILE: it learns the gold answer after the prompt with its contexts.

    \b
    Examples:
      ragstone train generator t.yaml
      ragstone train generator t.yaml --plan        memory, time and disk; nothing is trained
      ragstone train generator t.yaml --json
    """
    from ragstone.training.recipe import GeneratorRecipe, read_recipe

    recipe = read_recipe(file, GeneratorRecipe)
    training = _training(recipe, file.parent)
    if plan:
        print_plan(training)
        return
    record = training.run()
    cli.print_result(
        lambda: record_document(record, recipe.output),
        lambda: record_text(record, recipe.output),
    )


def _training(recipe: GeneratorRecipe, folder: Path) -> Training[Example]:
    from ragstone.training.generator import drawn_settings, generator_training
    from ragstone.training.record import data_facts
    from ragstone.training.splits import split

    experiment = _experiment(recipe, recipe.data, folder)
    splits = split(experiment.dataset, recipe.validation, recipe.test, recipe.seed, folder)
    settings = [setting.setting for setting in experiment.settings]
    parts = {}
    for name in ("train", "validation"):
        own = splits.data[name] is experiment.dataset
        of = experiment if own else _experiment(recipe, recipe.validation, folder)
        parts[name] = _tasks(of, drawn_settings(getattr(splits, name), settings, recipe.seed))
    facts = {**data_facts(experiment.dataset), **splits.facts()}
    return generator_training(recipe, parts, facts, files=splits.files())


def _experiment(recipe: GeneratorRecipe, data: Any, folder: Path) -> Experiment:
    """Return the experiment on a data set whose contexts are learned; its answers are not made."""
    from ragstone.experiment.config import parse_experiment
    from ragstone.experiment.experiment import Experiment

    settings = recipe.setting if isinstance(recipe.setting, list) else [recipe.setting]
    system = {"retriever": recipe.retriever, "reranker": recipe.reranker, "generator": "gold"}
    document = {
        "name": "training",
        "data": data,
        "systems": [{name: part for name, part in system.items() if part is not None}],
        "settings": settings,
        # No metric is computed; this one needs nothing of the data.
        "metrics": ["refusal"],
    }
    made = Experiment(parse_experiment(document, where="the training file"), folder=folder)
    made.check()
    return made


def _tasks(experiment: Experiment, drawn: dict[str, str]) -> list[Task]:
    """Return the queries with the context of the setting that each one has."""
    from ragstone.experiment.contexts import tasks_under

    found: dict[str, Task] = {}
    for setting in dict.fromkeys(drawn.values()):
        own = [query_id for query_id, given in drawn.items() if given == setting]
        found |= tasks_under(experiment, setting, own)
    return [found[query_id] for query_id in drawn if query_id in found]


def print_plan(training: Training[Any]) -> None:
    """Print what a training takes, with the time of one step that is run and dropped."""
    found = training.plan(timed=True)
    cli.print_result(found.document, lambda: found)


def record_document(record: TrainingRecord, output: str) -> dict[str, Any]:
    """Return what `train --json` prints of a training."""
    from ragstone.training.record import notes_of

    return {
        "loss": list(record.loss),
        "validation": [dict(one) for one in record.validation],
        "output": output,
        "digest": record.digest,
        "notes": notes_of(record),
        "data": dict(record.data),
    }


def record_text(record: TrainingRecord, output: str) -> str:
    """Return what `train` prints of a training."""
    from ragstone.training.record import notes_of

    lines = [f"{len(record.loss):,} steps in {record.seconds:,.0f} s"]
    if record.validation:
        first, kept = record.validation[0], record.kept
        lines.append(
            f"validation loss {first['loss']:.3f} before, {kept['loss']:.3f} after step "
            f"{kept['step']:,}, whose weights are kept"
        )
    return "\n".join([*lines, *notes_of(record), f"{output}: digest {record.digest[:12]}"])
