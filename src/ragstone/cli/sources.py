"""Options of the commands that take scores of systems: `compare` and `gate`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from ragstone.cli.options import FILE, failures_option, together
from ragstone.errors import ConfigError

store_option: Final = click.option(
    "--store", type=FILE, default=Path(".ragstone"), help="Folder of the store behind passports."
)
source_options: Final = together(
    click.option("--lower-is-better", help="Comma-separated metrics for which lower is better."),
    failures_option,
    store_option,
    click.option(
        "--clusters",
        help="Groups of dependent queries: a file (query id, tab, cluster), a label of --data, or "
        "'none'.",
    ),
    click.option(
        "--data", help="Data set whose label `conversation` or `document` is the default."
    ),
    click.option("--markdown", type=FILE, metavar="FILE", help="Write Markdown to this file."),
)


def chosen_clusters(written: str | None, data: str | None) -> tuple[str, dict[str, str] | None]:
    """Return the label or file of the clusters, and query id -> cluster; None: read off the ids."""
    from ragstone.data.load import load_dataset
    from ragstone.data.readers.scores import clusters_by_label, read_clusters

    if written == "none":
        return "", {}
    if written and Path(written).is_file():
        return written, read_clusters(Path(written))
    if written and not data:
        raise ConfigError(
            f"--clusters {written!r} is not a file; for a label of the queries name their data "
            "set too: --data FOLDER"
        )
    if not data:
        return "", None
    label, groups = clusters_by_label(load_dataset(data).queries, written or "")
    return label, groups or None
