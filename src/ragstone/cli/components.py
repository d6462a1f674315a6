"""`ragstone components`: what can stand in an experiment file, with every parameter."""

from __future__ import annotations

import click

from ragstone.cli.options import json_option, print_json
from ragstone.core.builtins import BUILT_IN


@click.command(
    "components",
    epilog="""\b
Examples:
  ragstone components
  ragstone components retrievers
  ragstone components generators --json
""",
)
@click.argument("kind", required=False, type=click.Choice(list(BUILT_IN)))
@json_option
def command(kind: str | None, as_json: bool) -> None:
    """List the components of every KIND, or of one, with their parameters and defaults."""
    from ragstone.core.describe import describe_kind

    described = {name: describe_kind(name) for name in ([kind] if kind else BUILT_IN)}
    if as_json:
        print_json(described)
        return
    for name, components in described.items():
        click.secho(name, bold=True)
        for component in components:
            click.echo(f"  {component['name']:<16} {component['summary']}")
            for parameter in component["parameters"]:
                click.echo(f"      {parameter['name']} = {parameter['default']}")
        click.echo()
