"""`ragstone show`: an experiment's tables in the terminal."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.cli.options import experiment_arguments, json_option, load_results, print_json


@click.command(
    "show",
    epilog="""\b
Examples:
  ragstone show examples/demo.yaml
  ragstone show examples/demo.yaml --query ID
  ragstone show examples/demo.yaml --json
""",
)
@experiment_arguments
@click.option("--query", "query_id", help="Show one query: every context, answer and score.")
@click.option("--by", "label", help="Take a metric apart by this label: turn, domain, ...")
@click.option("--metric", help="The metric of --by; by default the one that says what is right.")
@json_option
def command(
    experiment: Path,
    overrides: tuple[str, ...],
    *,
    query_id: str | None,
    label: str | None,
    metric: str | None,
    as_json: bool,
) -> None:
    """Show what EXPERIMENT found: answers, adaptability, retrieval, time and tokens.

    Nothing is run; of the key=value OVERRIDES only `name` and `store` matter.
    """
    from ragstone.label_views import label_document, label_table
    from ragstone.query_pages import query_document
    from ragstone.tables import label_text, leaderboard_text, query_text
    from ragstone.views import results_document

    results = load_results(experiment, overrides)
    if label is not None:
        table = label_table(results, label, metric or str(results.record["file"]["correct"]))
        if as_json:
            print_json(label_document(table))
        else:
            click.echo(label_text(table))
        return
    if query_id is not None and as_json:
        print_json(query_document(results, query_id))
    elif query_id is not None:
        click.echo(query_text(results, query_id))
    elif as_json:
        print_json(results_document(results))
    else:
        click.echo(leaderboard_text(results))
