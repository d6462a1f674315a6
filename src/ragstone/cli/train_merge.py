"""`ragstone train merge`: an adapter and its base as one model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli import options as cli

if TYPE_CHECKING:
    from ragstone.models.merging import FloatType


@click.command("merge")
@click.argument("adapter", type=cli.FILE)
@click.argument("output", type=cli.FILE)
@click.option("--base", default="", help="The base, if it is not where the adapter names it.")
@click.option("--gguf", is_flag=True, help="Write a GGUF file with 16-bit weights, for local.")
@click.option(
    "--dtype",
    type=click.Choice(["float32", "bfloat16", "float16"]),
    default="float32",
    help="Number type of the weights in a folder.",
)
@cli.json_option
def merge_command(adapter: Path, output: Path, base: str, gguf: bool, dtype: FloatType) -> None:
    """Write ADAPTER and its base as one model to OUTPUT.

    OUTPUT is a new folder that `hf` and `vllm` load, or with --gguf a new file that `local` loads.

    \b
    Examples:
      ragstone train merge trained merged
      ragstone train merge trained merged.gguf --gguf
    """
    from ragstone.models.adapters import read_adapter
    from ragstone.models.merging import merge_folder, merge_gguf

    found = read_adapter(adapter, base)
    merged = merge_gguf(found, output, base) if gguf else merge_folder(found, output, base, dtype)
    cli.print_result(
        lambda: merged,
        lambda: f"{merged.base} with the adapter {adapter} is now the model {output}",
    )
