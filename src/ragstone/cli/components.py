"""`ragstone components`: the parts of an experiment file, with every parameter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import click

from ragstone.cli.options import json_option, print_result
from ragstone.core.builtins import BUILT_IN, FORMER_KINDS


class _Kind(click.Choice[str]):
    """A kind of component; former names are accepted and not shown."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name of today."""
        plain = value.lower().replace("-", "_").replace(" ", "_")
        return super().convert(FORMER_KINDS.get(plain, plain), param, ctx)


@click.command("components")
@click.argument("kind", required=False, type=_Kind(list(BUILT_IN)))
@json_option
def command(kind: str | None) -> None:
    """List the components of one kind, or of all, with their parameters and defaults.

    \b
    Examples:
      ragstone components
      ragstone components retrievers
      ragstone components metrics --json
    """
    from ragstone.core.describe import describe_kind

    found = [entry for name in ([kind] if kind else BUILT_IN) for entry in describe_kind(name)]
    print_result(lambda: found, lambda: "\n".join(_lines(found)))


def _lines(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for kind, entries in groupby(found, key=itemgetter("kind")):
        yield "\n" + click.style(kind.replace("_", " "), bold=True)
        for entry in entries:
            needs = f" (not installed: {', '.join(entry['requires'])})"
            yield f"  {entry['name']:<16} {entry['summary']}{'' if entry['installed'] else needs}"
            for parameter in entry["parameters"]:
                default = "(required)" if parameter["default"] is None else parameter["default"]
                yield f"      {parameter['name']} = {default}"
