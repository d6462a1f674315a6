"""`ragstone why`: how a system came to its answer to one query, and why it is wrong."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.cli.options import (
    FILE,
    json_option,
    print_result,
    warn_of_attempt,
)


@click.command("why")
@click.argument("query_id", metavar="QUERY")
@click.argument("experiment", type=FILE, metavar="[EXPERIMENT.yaml]", required=False)
@click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--system", help="Show this system alone.")
@click.option("--setting", help="Show this context setting alone.")
@json_option
def command(
    *,
    query_id: str,
    experiment: Path | None,
    overrides: tuple[str, ...],
    system: str | None,
    setting: str | None,
) -> None:
    """Show how a query was answered: search text, ranks of gold, context, answers, cause.

    QUERY is the id of an answered query. Without a file, the experiment is the one of the store
    .ragstone that ran last and has the query. Without --setting, the settings are those that show
    passages among others; the answers under all settings are listed. No model is called.

    \b
    Examples:
      ragstone why q7
      ragstone why q7 e.yaml --system bm25 --setting "retrieved(5)"
      ragstone why q7 e.yaml --json
    """
    from ragstone.experiment.asked_query import results_with
    from ragstone.results.chain import query_chains
    from ragstone.results.chain_text import chains_document, chains_text

    results = results_with(query_id, experiment, overrides)
    warn_of_attempt(results)
    chains = query_chains(results, query_id, system, setting)
    print_result(lambda: chains_document(results, chains), lambda: chains_text(results, chains))
