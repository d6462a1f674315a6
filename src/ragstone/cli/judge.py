"""`ragstone judge`: check, probe, compare, calibrate and correlate judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.judge_battle import command as battle
from ragstone.cli.judge_calibrate import command as calibrate
from ragstone.cli.judge_check_causes import print_cause_check
from ragstone.cli.judge_checks import FORMS, CheckRequest, print_checks
from ragstone.cli.judge_compare import command as compare
from ragstone.cli.judge_correlate import command as correlate
from ragstone.cli.judge_labels import (
    FORMER_RATING,
    judge_source,
    labelled_answers,
    labels_option,
    rating_options,
)
from ragstone.cli.judge_next import command as next_labels
from ragstone.cli.judge_probe import command as probe
from ragstone.cli.judge_qrels import command as qrels
from ragstone.cli.model_calls import store_option
from ragstone.cli.options import FILE, POSITIVE, AliasCommand, json_option, load_results
from ragstone.cli.screen import tell

if TYPE_CHECKING:
    from ragstone.evaluation.human_grades import HumanSet

_RATED = ("language", "rating", "scale", "combine")
"""Options of the ratings that are read, and of their values."""


@click.group("judge", commands=[probe, compare, correlate, calibrate, next_labels, battle, qrels])
def command() -> None:
    """Check, probe, compare, calibrate and correlate judges: language models that grade.

    `next` proposes the answers that people should label.

    \b
    Examples:
      ragstone judge check equivalence --data ../truthfulqa --limit 100
      ragstone judge probe equivalence --data ../truthfulqa --limit 30
      ragstone judge compare experiment.yaml
      ragstone judge correlate --data ../mtrag --property win-rate
      ragstone judge calibrate experiment.yaml --metric equivalence --labels labels.jsonl
      ragstone judge next experiment.yaml --metric equivalence --labels 50 -o next.jsonl
      ragstone judge battle experiment.yaml --judge "pairwise(model=local)"
      ragstone judge qrels my-data -o qrels.tsv --run bm25.trec --plan
    """


@command.command(
    "check",
    cls=AliasCommand,
    former={"--on": "--data", "--attack": "--prompt-injection", **FORMER_RATING},
)
@click.argument("configs", nargs=-1, metavar="[CONFIG]...")
@click.option(
    "--data",
    help="File or folder of answers graded by people: truthfulqa, ragchecker, begin, nq_open or "
    "mtrag; LAYOUT:PATH names the layout.",
)
@labels_option
@click.option(
    "--causes",
    type=FILE,
    help="Instead of --data: people's causes of the wrong answers of the experiment CONFIG.",
)
@click.option(
    "--judge",
    "name",
    help="Name of the only judge to check, if CONFIG has several; with --labels also a judge "
    "outside of CONFIG.",
)
@click.option(
    "--stored",
    is_flag=True,
    help="Check scores that the graded data contains, named by CONFIG (default: all); no calls.",
)
@click.option(
    "--leaderboard",
    is_flag=True,
    help="Also show how far the judge orders systems as people do.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="LABEL",
    help="Show agreement by this label, `system` or `length` (default: labels with few values).",
)
@click.option("--prices", type=FILE, help="Price table, for the cost per judged item.")
@click.option("--limit", type=POSITIVE, help="Use a random sample of this many answers.")
@click.option("--seed", default=0, help="Seed of the random sample and of the intervals.")
@click.option(
    "--repeats",
    type=POSITIVE,
    help="Number of repeats, to measure self-consistency (default: as in CONFIG).",
)
@click.option(
    "--form",
    type=click.Choice(sorted(FORMS)),
    default="auto",
    help="Form of the replies: free text, JSON schema, both in turn, or auto as in CONFIG.",
)
@click.option(
    "--prompt-injection",
    is_flag=True,
    hidden=True,
    help="Also run the probes with orders in answers: now ragstone judge probe.",
)
@click.option("--language", help="Language of truthfulqa's file in a folder: en or es.")
@rating_options
@store_option
@json_option
def check(
    *,
    configs: tuple[str, ...],
    data: str | None,
    labels: Path | None,
    causes: Path | None,
    name: str | None,
    limit: int | None,
    seed: int,
    **options: Any,
) -> None:
    """Compare judges with people's grades.

    Reports the uses that a judge is fit for, and where it agrees with people less. Several judges
    are shown side by side. CONFIG is a YAML file with a judge or several, an experiment file with
    judges, or a judge's name. With --labels, the kept answers of the experiment CONFIG are judged
    and compared with people's ratings of them. With --causes, the causes of an experiment's wrong
    answers are compared with people's labels.

    \b
    Examples:
      ragstone judge check judge.yaml --data ../truthfulqa
      ragstone judge check equivalence --data ../truthfulqa --limit 100 --form both
      ragstone judge check exp.yaml --judge RB_llm --data mtrag:../mtrag --property completeness
      ragstone judge check RL_F RB_llm --stored --data ../mtrag --leaderboard --by answerability
      ragstone judge check exp.yaml --labels ratings.jsonl --property helpfulness --scale 1-5
      ragstone judge check exp.yaml --causes labels.jsonl
    """
    _check_sources(data, labels, causes)
    if not configs and not options["stored"]:
        raise click.UsageError("name a judge or a file with judges, or check --stored scores")
    if causes is not None:
        print_cause_check(_one_file(configs), causes, seed)
        return
    if options["prompt_injection"]:
        shown = " ".join(configs)
        tell(f"note: --prompt-injection is now: ragstone judge probe {shown}")
    rated = {key: value for key in _RATED if (value := options.pop(key))}
    graded = _graded(configs, data, labels, rated)
    if limit is not None:
        graded = graded.sample(limit, seed)
    if labels is not None and not options["stored"]:
        source, name = judge_source(str(_one_file(configs)), name)
        configs = (source,)
    print_checks(graded, CheckRequest(configs, name, seed=seed, **options))


def _check_sources(data: str | None, labels: Path | None, causes: Path | None) -> None:
    if sum(one is not None for one in (data, labels, causes)) != 1:
        raise click.UsageError(
            "give one of --data, with graded answers, --labels, with ratings of the experiment's "
            "answers, and --causes, with labels"
        )


def _one_file(configs: Sequence[str]) -> Path:
    if len(configs) != 1:
        raise click.UsageError(
            f"--labels and --causes take one experiment file, found {len(configs)}"
        )
    return Path(configs[0])


def _graded(
    configs: Sequence[str], data: str | None, labels: Path | None, given: Mapping[str, Any]
) -> HumanSet:
    """Return the graded answers of a data set, or of the experiment that is labelled."""
    from ragstone.evaluation.human_grades import read_human_set

    if labels is None:
        return read_human_set(data or "", **given)
    if "language" in given:
        raise click.UsageError("--language is an option of --data truthfulqa")
    graded = labelled_answers(load_results(_one_file(configs), ()), labels, **given)
    answered = graded.answered()
    if failed := len(graded.items) - len(answered.items):
        tell(f"note: rated answers that failed are left out: {failed:,}")
    return answered
