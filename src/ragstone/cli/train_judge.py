"""`ragstone train judge`: a judge, or a classifier of queries, from labels that people gave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli import options as cli
from ragstone.cli.train_generator import plan_option, print_plan, record_document, record_text
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.models.text_classifier import ClassifierFacts
    from ragstone.protocols import Judge
    from ragstone.training.classifier import Base, ItemToLearn, Parts
    from ragstone.training.judge_recipe import JudgeRecipe
    from ragstone.training.judge_report import JudgeReport
    from ragstone.training.record import TrainingRecord
    from ragstone.training.training import Training


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
@plan_option
@cli.json_option
def judge_command(*, file: Path, beside: tuple[str, ...], calls: Path, plan: bool) -> None:
    """Train a judge on people's labels, and compare it with people on unseen documents.

    FILE is a training file (docs/train-judge.md). The items are split by source document and by
    near-duplicate query. The judge learns from the training part, is calibrated on the validation
    part, and is compared with people on the test part, beside a judge that always gives the most
    frequent label, the untrained judge of a causal base, and those of --beside. The result is used
    as the judge `trained(model=OUTPUT)`, or by `ragstone data label --model OUTPUT`.

    \b
    Examples:
      ragstone train judge judge.yaml
      ragstone train judge judge.yaml --plan        memory, time and disk; nothing is trained
      ragstone train judge judge.yaml --beside support --json
    """
    from ragstone.cli.read_judge import read_judges
    from ragstone.training.judge_recipe import JudgeRecipe
    from ragstone.training.recipe import read_recipe

    recipe = read_recipe(file, JudgeRecipe)
    if plan:
        print_plan(_prepared(recipe)[0])
        return
    rivals = [judge for spec in beside for judge in read_judges(spec, None, {})]
    record, report = trained_judge(recipe, rivals, calls)
    cli.print_result(
        lambda: {**record_document(record, recipe.output), "report": report.to_dict()},
        lambda: "\n".join([record_text(record, recipe.output), *_lines(report, recipe.output)]),
    )


def trained_judge(
    recipe: JudgeRecipe, rivals: Sequence[Judge], calls: Path
) -> tuple[TrainingRecord, JudgeReport]:
    """Train the judge of a recipe, or resume, and compare it with people on the test part.

    Raises:
        ConfigError: a key is wrong, or there are too few labels.
        MissingDependency: a package of the extra `train` is missing.
    """
    from ragstone.training.card import with_results
    from ragstone.training.record import write_record

    training, base, parts = _prepared(recipe)
    record = training.run()
    report = _report(training.folder, base, parts, rivals, calls)
    record = replace(record, facts={**record.facts, "report": report.to_dict()})
    write_record(training.folder, record)
    with_results(training.folder, report.table)
    return record, report


def _prepared(recipe: JudgeRecipe) -> tuple[Training[Any], Base, Parts]:
    """Return the training of a judge, its base, and the items of each part; nothing is trained."""
    from ragstone.cli.labelled_data import read_labelled
    from ragstone.training.classifier import classifier_facts, judge_training, known_labels
    from ragstone.training.judge_bases import base_of
    from ragstone.training.splits import PARTS, split
    from ragstone.training.weights import require_training

    require_training()
    data = read_labelled(recipe)
    items, notes = known_labels(data.items, recipe.least)
    kept = {one.item_id: one for one in items}
    splits = split(data.dataset, recipe.validation, recipe.test, recipe.seed)
    parts = {p: [kept[i] for i in getattr(splits, p) if i in kept] for p in PARTS}
    if not parts["test"]:
        raise ConfigError("the test part has no item; raise the share `test`", key="test")
    facts = classifier_facts(recipe, data.name, parts, data.usual)
    base = base_of(recipe, facts)
    sizes = {p: len(own) for p, own in parts.items()}
    about = {"name": data.dataset.name, **splits.facts(), **sizes, "digest": _digest(parts)}
    training = judge_training(
        recipe, base, facts, parts, data=about, files=splits.files(), notes=notes
    )
    return training, base, parts


def _digest(parts: Parts) -> str:
    """Return the digest of all texts and labels: other labels are another training."""
    from ragstone.components.judges.trained import INPUTS, input_texts
    from ragstone.core.fingerprint import fingerprint

    rows = [
        [part, one.item_id, one.label, *input_texts(one.item, INPUTS)]
        for part, items in parts.items()
        for one in items
    ]
    return fingerprint(rows)


def _report(
    folder: Path, base: Base, parts: Parts, rivals: Sequence[Judge], calls: Path
) -> JudgeReport:
    from ragstone.models.text_classifier import read_facts
    from ragstone.training.judge_report import judge_report, untrained_labels

    facts, test = read_facts(folder), parts["test"]
    others = untrained_labels(facts, base, parts)
    others |= _labels_of(rivals, test, facts, calls) if rivals else {}
    return judge_report(facts, test, base.scores(folder, test), others)


def _labels_of(
    rivals: Sequence[Judge], items: Sequence[ItemToLearn], facts: ClassifierFacts, calls: Path
) -> dict[str, list[str]]:
    """Return the name of each other judge -> its label per item."""
    from ragstone.calls.client import Calls
    from ragstone.components.judges.verdict import verdicts_of
    from ragstone.protocols import Services
    from ragstone.training.judge_report import verdict_label

    judged = [one.item for one in items]
    with Calls.at(calls) as opened:
        services = Services(calls=opened)
        return {
            str(judge): [verdict_label(v, facts) for v in verdicts_of(judge, judged, services)]
            for judge in rivals
        }


def _lines(report: JudgeReport, output: str) -> Iterator[str]:
    """Yield the lines of the report."""
    shown = ", ".join(f"{label} {count:,}" for label, count in report.labels.items())
    yield f"{report.items:,} test items of unseen documents: {shown}"
    yield from report.sentences
    error = report.calibration.error
    if error is not None:
        yield f"The stated probabilities differ from the shares of right labels by {error:.2f}."
    if report.people is not None and report.people.value is not None:
        yield f"People agree among themselves with alpha {report.people.value:.2f}."
    yield f"Use it as the judge trained(model={output}), or: ragstone data label --model {output}"
