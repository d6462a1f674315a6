"""`ragstone judge`: check, compare, calibrate and correlate judges."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ragstone.cli.judge_battle import command as battle
from ragstone.cli.judge_calibrate import command as calibrate
from ragstone.cli.judge_check_causes import print_cause_check
from ragstone.cli.judge_checks import FORMS, CheckRequest, print_checks
from ragstone.cli.judge_compare import command as compare
from ragstone.cli.judge_correlate import command as correlate
from ragstone.cli.judge_qrels import command as qrels
from ragstone.cli.options import FILE, POSITIVE, AliasCommand, json_option


@click.group("judge", commands=[correlate, calibrate, compare, battle, qrels])
def command() -> None:
    """Check, compare, calibrate and correlate judges: language models that grade.

    \b
    Examples:
      ragstone judge check equivalence --data ../truthfulqa --limit 100
      ragstone judge compare experiment.yaml
      ragstone judge correlate --data ../mtrag --rating win-rate
      ragstone judge calibrate experiment.yaml --metric equivalence --labels labels.jsonl
      ragstone judge battle experiment.yaml --judge "pairwise(model=local)"
      ragstone judge qrels my-data -o qrels.tsv --run bm25.trec --plan
    """


@command.command(
    "check", cls=AliasCommand, former={"--on": "--data", "--attack": "--prompt-injection"}
)
@click.argument("configs", nargs=-1, metavar="[CONFIG]...")
@click.option(
    "--data",
    help="Folder of answers graded by people: truthfulqa, ragchecker, begin, nq_open or mtrag.",
)
@click.option(
    "--causes",
    type=FILE,
    help="Instead of --data: people's causes of the wrong answers of the experiment CONFIG.",
)
@click.option("--judge", "name", help="Name of the only judge to check, if CONFIG has several.")
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
    help="Also measure how often instructions in an answer change the verdict.",
)
@click.option("--language", help="Language of truthfulqa: en or es.")
@click.option("--rating", help="Rating of mtrag: faithfulness, win-rate, ...")
@click.option("--store", type=FILE, default=Path(".ragstone"), help="Folder of kept model replies.")
@json_option
def check(
    *,
    configs: tuple[str, ...],
    data: str | None,
    causes: Path | None,
    limit: int | None,
    seed: int,
    language: str | None,
    rating: str | None,
    **asked: Any,
) -> None:
    """Compare judges with people's grades.

    Reports the uses that a judge is fit for, and where it agrees with people less. Several judges
    are shown side by side. CONFIG is a YAML file with a judge or several, an experiment file with
    judges, or a judge's name. With --causes, the causes of an experiment's wrong answers are
    compared with people's labels.

    \b
    Examples:
      ragstone judge check judge.yaml --data ../truthfulqa
      ragstone judge check equivalence --data ../truthfulqa --limit 100 --form both
      ragstone judge check exp.yaml --judge RB_llm --data mtrag:../mtrag --rating completeness
      ragstone judge check RL_F RB_llm --stored --data ../mtrag --leaderboard --by answerability
      ragstone judge check exp.yaml --causes labels.jsonl
    """
    if (data is None) == (causes is None):
        raise click.UsageError("give one of --data, with graded answers, and --causes, with labels")
    if not configs and not asked["stored"]:
        raise click.UsageError("name a judge or a file with judges, or check --stored scores")
    if data is None or causes is not None:
        print_cause_check(_one_file(configs), Path(causes or ""), seed)
        return
    from ragstone.evaluation.human_grades import read_human_set

    options = {"language": language, "rating": rating}
    graded = read_human_set(data, **{key: value for key, value in options.items() if value})
    if limit is not None:
        graded = graded.sample(limit, seed)
    print_checks(graded, CheckRequest(configs, seed=seed, **asked))


def _one_file(configs: Sequence[str]) -> Path:
    if len(configs) != 1:
        raise click.UsageError(f"--causes takes one experiment file, found {len(configs)}")
    return Path(configs[0])
