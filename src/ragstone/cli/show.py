"""`ragstone show`: an experiment's tables in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import (
    experiment_arguments,
    json_option,
    load_all_results,
    load_results,
    print_result,
    print_results,
    warn_of_attempt,
)

if TYPE_CHECKING:
    from ragstone.results.results import Results


@click.command("show")
@experiment_arguments
@click.option("--query", "query_id", help="Show one query: every context, answer and score.")
@click.option("--by", "label", help="Break a metric down by this label: turn, domain, ...")
@click.option("--causes", is_flag=True, help="Show why answers are wrong, and the undecided ones.")
@click.option("--system", help="Show the causes of this system alone.")
@click.option("--setting", help="Show the causes under this context setting alone.")
@click.option("--scan", is_flag=True, help="Compare systems that differ only in text_weight.")
@click.option("--metric", help="Metric of --by (default: correctness) or of --scan (default: R@5).")
@json_option
def command(
    *,
    experiment: Path,
    overrides: tuple[str, ...],
    query_id: str | None,
    label: str | None,
    causes: bool,
    system: str | None,
    setting: str | None,
    scan: bool,
    metric: str | None,
) -> None:
    """Show the results of an experiment: answers, adaptability, retrieval, time and tokens.

    No step is run. KEY=VALUE replaces a value of the file; only `name` and `store` have an effect.

    \b
    Examples:
      ragstone show demo
      ragstone show demo --query ID
      ragstone show demo --json
      ragstone show demo --causes --setting "retrieved(3)"
      ragstone show sweep.yaml --scan --by domain
    """
    if (system or setting) and not causes:
        raise click.UsageError("--system and --setting choose among causes: add --causes")
    if causes:
        _print_causes(load_all_results(experiment, overrides), system, setting)
        return
    from ragstone.results.by_label import label_document, label_table
    from ragstone.results.query_page import query_document
    from ragstone.results.terminal import label_text, query_text, scan_text
    from ragstone.results.weight_scan import require_scan_tables, scan_document

    if not scan and label is None and query_id is None:
        print_results(load_all_results(experiment, overrides))
        return
    results = load_results(experiment, overrides)
    if scan:
        tables = require_scan_tables(results, label, metric)
        print_result(lambda: scan_document(tables), lambda: scan_text(tables))
    elif label is not None:
        table = label_table(results, label, metric or results.record.answer_metric)
        print_result(lambda: label_document(table), lambda: label_text(table))
    elif query_id is not None:
        print_result(
            lambda: query_document(results, query_id), lambda: query_text(results, query_id)
        )


def _print_causes(found: Sequence[Results], system: str | None, setting: str | None) -> None:
    """Print the causes of one experiment, or of each that a file has."""
    from ragstone.results.causes.document import causes_document
    from ragstone.results.causes.found import causes_of
    from ragstone.results.causes.text import causes_text

    for one in found:
        warn_of_attempt(one)
    pairs = [(one, causes_of(one).only(system, setting)) for one in found]
    if len(pairs) == 1:
        print_result(lambda: causes_document(*pairs[0]), lambda: causes_text(*pairs[0]))
        return
    print_result(
        lambda: {"experiments": {one.name: causes_document(one, kept) for one, kept in pairs}},
        lambda: "\n\n".join(f"{one.name}\n{causes_text(one, kept)}" for one, kept in pairs),
    )
