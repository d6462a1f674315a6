"""`ragstone components`: the parts of an experiment file, with every parameter."""

from __future__ import annotations

import click

from ragstone.cli.options import json_option, print_json
from ragstone.core.builtins import BUILT_IN, FORMER_KINDS


class _Kind(click.Choice[str]):
    """A kind of component; former names are accepted and not shown."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name of today."""
        plain = value.lower().replace("-", "_").replace(" ", "_")
        return super().convert(FORMER_KINDS.get(plain, plain), param, ctx)


@click.command(
    "components",
    epilog="""\b
Examples:
  ragstone components
  ragstone components retrievers
  ragstone components metrics --json
""",
)
@click.argument("kind", required=False, type=_Kind(list(BUILT_IN)))
@json_option
def command(kind: str | None, as_json: bool) -> None:
    """List the components of every KIND, or of one, with their parameters and defaults."""
    from ragstone.core.describe import describe_kind

    found = [entry for name in ([kind] if kind else BUILT_IN) for entry in describe_kind(name)]
    if as_json:
        print_json(found)
        return
    shown = ""
    for entry in found:
        if entry["kind"] != shown:
            shown = entry["kind"]
            click.secho(f"\n{shown.replace('_', ' ')}", bold=True)
        needs = "" if entry["installed"] else f" (not installed: {', '.join(entry['requires'])})"
        click.echo(f"  {entry['name']:<16} {entry['summary']}{needs}")
        for parameter in entry["parameters"]:
            default = "(required)" if parameter["default"] is None else parameter["default"]
            click.echo(f"      {parameter['name']} = {default}")
