"""`ragstone train generator`: fine-tuning of a generator on the contexts of a setting."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli import options as cli

if TYPE_CHECKING:
    from ragstone.training.record import TrainingRecord


@click.command("generator")
@click.argument("file", type=cli.FILE)
@cli.json_option
def generator_command(file: Path) -> None:
    """Train the generator of FILE: the gold answer after the prompt with its contexts.

    \b
    Examples:
      ragstone train generator t.yaml
      ragstone train generator t.yaml --json
    """
    raise NotImplementedError(file)


def record_document(record: TrainingRecord, output: str) -> dict[str, Any]:
    """Return what `train --json` prints of a training."""
    return {
        "loss": list(record.loss),
        "validation": [dict(one) for one in record.validation],
        "output": output,
        "digest": record.digest,
    }
