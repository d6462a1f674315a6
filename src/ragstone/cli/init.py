"""`ragstone init`: write a first experiment file."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from ragstone.cli.options import documents_option, metrics_option, output_quiet, starter_options
from ragstone.cli.screen import say


@click.command("init")
@click.option("--system", help="Your system: my_rag.py:answer, an address, or recorded answers.")
@click.option("--data", help="Questions with gold answers (CSV, JSON lines), or any data set.")
@documents_option
@metrics_option
@starter_options("experiment.yaml")
def command(
    *,
    system: str | None,
    data: str | None,
    documents: str | None,
    metrics: str | None,
    output: Path,
    force: bool,
) -> None:
    """Write a commented experiment file for your own system.

    In a terminal, missing options are asked for. The file is checked before it is written; nothing
    is run.

    \b
    Examples:
      ragstone init
      ragstone init --system my_rag.py:answer --data qa.csv -o mine.yaml
    """
    from ragstone.core.spec import split_specs
    from ragstone.experiment.starter import Starter

    system = system or _asked("--system", "Your system (my_rag.py:answer, or an address)", "")
    data = data or _asked("--data", "Your questions (qa.csv, or a folder)", "sample")
    made_by = "Written by: ragstone init"
    starter = Starter(system, data, output, made_by=made_by, documents=documents or "")
    if metrics is None and _is_terminal():
        metrics = _asked("--metrics", "Metrics", ", ".join(starter.usual_metrics))
    if metrics:
        starter = replace(starter, metrics=tuple(split_specs(metrics, where="--metrics")))
    if not force:
        starter.require_free_path()
    with output_quiet():
        starter.checked()
    say(f"{starter.write()} is written; run it: ragstone run {output}")


def _is_terminal() -> bool:
    return sys.stdin.isatty()


def _asked(option: str, question: str, default: str) -> str:
    """Return the answer of the person at the terminal; without one, the option is required."""
    if not _is_terminal():
        raise click.UsageError(f"{option} is missing, and there is no terminal to ask at")
    answer: str = click.prompt(question, default=default or None)
    return answer
