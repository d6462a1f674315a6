"""`ragstone why`: how a system came to its answer to one query, and why it is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import (
    FILE,
    POSITIVE,
    json_option,
    output_quiet,
    print_result,
    warn_of_attempt,
)
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.results.chain import QueryChain
    from ragstone.results.influence import AnswerInfluence


@click.command("why")
@click.argument("query_id", metavar="QUERY")
@click.argument("experiment", type=FILE, metavar="[EXPERIMENT.yaml]", required=False)
@click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--system", help="Show this system alone.")
@click.option("--setting", help="Show this context setting alone.")
@click.option(
    "--influence",
    is_flag=True,
    help="Ask again without each shown passage; needs the file, and one system and setting.",
)
@click.option(
    "--max-calls",
    type=click.IntRange(min=0),
    metavar="N",
    help="With --influence: maximum number of model calls.",
)
@click.option(
    "--repeats",
    type=POSITIVE,
    metavar="N",
    help="With --influence: answers per context of a system that samples.",
)
@json_option
def command(
    *,
    query_id: str,
    experiment: Path | None,
    overrides: tuple[str, ...],
    system: str | None,
    setting: str | None,
    influence: bool,
    max_calls: int | None,
    repeats: int | None,
) -> None:
    """Show how a query was answered: search text, ranks of gold, context, answers, cause.

    QUERY is the id of an answered query. Without a file, the experiment is the one of the store
    .ragstone that ran last and has the query. Without --setting, the settings are those that show
    passages among others; the answers under all settings are listed. Only --influence calls
    a model; earlier replies are kept.

    \b
    Examples:
      ragstone why q7
      ragstone why q7 e.yaml --system bm25 --setting "retrieved(5)"
      ragstone why q7 e.yaml --json
      ragstone why q7 e.yaml --influence --max-calls 20
    """
    if not influence and (max_calls is not None or repeats is not None):
        raise click.UsageError("--max-calls and --repeats belong to --influence: add it")
    if influence and experiment is None:
        raise click.UsageError("--influence asks the system of an experiment: name its file")
    from ragstone.experiment.asked_query import results_with
    from ragstone.results.chain import query_chains
    from ragstone.results.chain_text import chains_document, chains_text

    results = results_with(query_id, experiment, overrides)
    warn_of_attempt(results)
    chains = query_chains(results, query_id, system, setting)
    found = None
    if influence and experiment is not None:
        found = _ask(experiment, overrides, chains, max_calls, repeats)
    print_result(
        lambda: chains_document(results, chains, found),
        lambda: chains_text(results, chains, found),
    )


def _ask(
    file: Path,
    overrides: Sequence[str],
    chains: Sequence[QueryChain],
    max_calls: int | None,
    repeats: int | None,
) -> AnswerInfluence:
    """Ask without each passage; raise `ConfigError` without a maximum or with several chains."""
    from ragstone.experiment.influence import ask_influence, planned_calls
    from ragstone.experiment.load import load_experiment

    if len(chains) > 1:
        names = ", ".join(f"{one.system} under {one.setting}" for one in chains)
        raise ConfigError(f"--influence is of one answer; add --system and --setting: {names}")
    experiment = load_experiment(file, overrides)
    with output_quiet():
        if max_calls is None:
            most = planned_calls(experiment, chains[0], repeats)
            raise ConfigError(
                f"to leave out each passage takes at most {most:,} calls; add --max-calls {most}"
            )
        return ask_influence(experiment, chains[0], max_calls=max_calls, repeats=repeats)
