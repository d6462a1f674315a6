"""`ragstone show`: an experiment's tables in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragstone.cli.options import (
    experiment_arguments,
    json_option,
    load_all_results,
    load_results,
    print_result,
    print_results,
    reveal_option,
)
from ragstone.cli.show_after import after_options, print_after
from ragstone.cli.show_causes import CausesWanted, causes_options, print_causes
from ragstone.cli.show_languages import print_languages


@click.command("show")
@experiment_arguments
@click.option("--query", "query_id", help="Show one query: every context, answer and score.")
@click.option("--by", "label", help="Break a metric down by this label: turn, domain, ...")
@causes_options
@after_options
@click.option(
    "--languages",
    is_flag=True,
    help="Show the languages of retrieved passages, and the same queries across languages.",
)
@click.option("--scan", is_flag=True, help="Compare systems that differ only in text_weight.")
@click.option("--metric", help="Metric of --by (default: correctness) or of --scan (default: R@5).")
@reveal_option
@json_option
def command(
    *,
    experiment: Path,
    overrides: tuple[str, ...],
    query_id: str | None,
    label: str | None,
    languages: bool,
    scan: bool,
    metric: str | None,
    reveal: bool,
    after: str | None,
    date_label: str,
    **of_causes: Any,
) -> None:
    """Show the results of an experiment: answers, adaptability, retrieval, time and tokens.

    No step is run without --decide, which asks some queries again. KEY=VALUE replaces a value of
    the file; without --decide only `name` and `store` have an effect.

    \b
    Examples:
      ragstone show demo
      ragstone show demo --query ID
      ragstone show demo --json
      ragstone show e.yaml --reveal
      ragstone show demo --causes --setting "retrieved(3)"
      ragstone show demo --causes --decide --max-calls 200
      ragstone show sweep.yaml --scan --by domain
      ragstone show e.yaml --after 2024-05
      ragstone show e.yaml --languages
    """
    wanted = CausesWanted(**of_causes)
    if wanted.causes and reveal:
        raise click.UsageError("--causes are of the open queries: leave --reveal out")
    if wanted.causes:
        print_causes(experiment, overrides, wanted)
        return
    if not (languages or scan) and label is None and query_id is None and after is None:
        print_results(load_all_results(experiment, overrides, reveal=reveal))
        return
    from ragstone.results.by_label import label_document, label_table
    from ragstone.results.query_page import query_document
    from ragstone.results.terminal import label_text, query_text, scan_text
    from ragstone.results.weight_scan import require_scan_tables, scan_document

    results = load_results(experiment, overrides, reveal=reveal)
    if after is not None:
        print_after(results, experiment, overrides, after, date_label)
    elif languages:
        print_languages(results)
    elif scan:
        tables = require_scan_tables(results, label, metric)
        print_result(lambda: scan_document(tables), lambda: scan_text(tables))
    elif label is not None:
        table = label_table(results, label, metric or results.record.answer_metric)
        print_result(lambda: label_document(table), lambda: label_text(table))
    elif query_id is not None:
        print_result(
            lambda: query_document(results, query_id), lambda: query_text(results, query_id)
        )
