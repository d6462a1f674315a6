"""`ragstone doctor`: what is missing on this machine and how to get it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from ragstone.cli.options import json_option, print_json

MARKS = {"ok": "ok", "warning": "!!", "missing": "--"}


@click.command(
    "doctor",
    epilog="""\b
Examples:
  ragstone doctor
  ragstone doctor --store /big/disk/ragstone --json
""",
)
@click.option(
    "--store", type=click.Path(path_type=Path), default=Path(".ragstone"), show_default=True
)
@json_option
def command(store: Path, as_json: bool) -> None:
    """Look at Python, extras, models, disk and store; exit code 1 where something is missing."""
    from ragstone.cli.diagnostics import examine

    findings = examine(store)
    if as_json:
        print_json([dataclasses.asdict(finding) for finding in findings])
    else:
        for finding in findings:
            advice = f"  -> {finding.advice}" if finding.advice else ""
            click.echo(f"[{MARKS[finding.state]}] {finding.subject}: {finding.detail}{advice}")
    if any(finding.state == "missing" for finding in findings):
        raise click.exceptions.Exit(1)
