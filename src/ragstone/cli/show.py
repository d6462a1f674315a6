"""`ragstone show`: an experiment's tables in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import experiment_arguments, json_option, load_results, print_json

if TYPE_CHECKING:
    from ragstone.results.results import Results


@click.command(
    "show",
    epilog="""\b
Examples:
  ragstone show examples/demo.yaml
  ragstone show examples/demo.yaml --query ID
  ragstone show examples/demo.yaml --json
  ragstone show sweep.yaml --scan --by domain
""",
)
@experiment_arguments
@click.option("--query", "query_id", help="Show one query: every context, answer and score.")
@click.option("--by", "label", help="Take a metric apart by this label: turn, domain, ...")
@click.option("--scan", is_flag=True, help="Compare systems that differ in text_weight alone.")
@click.option(
    "--metric",
    help="The metric of --by, by default the one that says what is right; of --scan, R@5.",
)
@json_option
def command(
    experiment: Path,
    overrides: tuple[str, ...],
    *,
    query_id: str | None,
    label: str | None,
    scan: bool,
    metric: str | None,
    as_json: bool,
) -> None:
    """Show what EXPERIMENT found: answers, adaptability, retrieval, time and tokens.

    Nothing is run; of the key=value OVERRIDES only `name` and `store` matter.
    """
    from ragstone.results.by_label import label_document, label_table
    from ragstone.results.query_page import query_document
    from ragstone.results.terminal import label_text, query_text

    results = load_results(experiment, overrides)
    if scan:
        _show_scan(results, label, metric, as_json=as_json)
        return
    if label is not None:
        table = label_table(results, label, metric or results.record.correctness_metric)
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
        print_json(results.to_dict())
    else:
        click.echo(str(results))


def _show_scan(results: Results, label: str | None, metric: str | None, *, as_json: bool) -> None:
    from ragstone.results.terminal import scan_text
    from ragstone.results.weight_scan import require_scan_tables, scan_document

    tables = require_scan_tables(results, label, metric)
    if as_json:
        print_json(scan_document(tables))
    else:
        click.echo(scan_text(tables))
