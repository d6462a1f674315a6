"""`ragstone mcp`: the results of a store for assistants, read-only, by the Model Context Protocol.

The server reads the store that it is started with. No tool takes a path, runs a step or calls a
model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import FILE
from ragstone.cli.screen import coded_json
from ragstone.core import limits
from ragstone.core.screen_text import message

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from ragstone.core.store import Store
    from ragstone.results.results import Results


@click.command("mcp")
@click.option("--store", type=FILE, default=Path(".ragstone"), help="Folder of the store to read.")
def command(store: Path) -> None:
    """Serve the results of a store to an assistant, over standard input and output.

    The tools list experiments, show the results of one and of a query, and compare two systems.
    They only read.

    \b
    Example:
      ragstone mcp --store .ragstone
    """
    gone = False
    try:
        server_of(store).run("stdio")
    except* BrokenPipeError:
        gone = True
    if gone:
        # The assistant ended before its answer came: that is not a failure.
        raise BrokenPipeError


def server_of(store: Path) -> MCPServer:
    """Return the server of a store; raise `MissingDependency` without the extra `mcp`."""
    from ragstone.core.environment import require
    from ragstone.core.store import Store
    from ragstone.version import __version__

    require("ragstone mcp", "mcp", "mcp")
    from mcp.server import MCPServer

    server = MCPServer("ragstone", version=__version__, log_level="WARNING")
    tools = _Tools(Store(store))
    for tool in (tools.list_experiments, tools.show_results, tools.show_query, tools.compare):
        server.tool(structured_output=False)(tool)
    return server


@dataclass(frozen=True)
class _Tools:
    """The tools of the server; an assistant reads their docstrings."""

    store: Store

    def list_experiments(self) -> str:
        """List the experiments of the store, with their dates."""
        return _answer(self._experiments)

    def show_results(self, experiment: str) -> str:
        """Show the results of an experiment: means with intervals, n, failures, time, tokens."""
        return _answer(lambda: self._results(experiment).to_dict())

    def show_query(self, experiment: str, query_id: str) -> str:
        """Show one query: its gold answers, and each system's context, answer and scores."""
        from ragstone.results.query_page import query_document

        return _answer(lambda: query_document(self._results(experiment), query_id))

    def compare(
        self,
        *,
        experiment: str,
        first: str,
        second: str,
        setting: str = "",
        second_experiment: str = "",
        second_setting: str = "",
        queries: int = 10,
    ) -> str:
        """Compare two systems on their common queries, with tests and intervals.

        The setting is needed if the experiment has several. `second_experiment` and
        `second_setting` are those of the second system, if they differ. `queries` is the number of
        flipped queries whose texts are shown.
        """
        return _answer(
            lambda: self._comparison(
                (experiment, first, setting),
                (second_experiment or experiment, second, second_setting or setting),
                queries,
            )
        )

    def _comparison(
        self, a: tuple[str, str, str], b: tuple[str, str, str], queries: int
    ) -> dict[str, Any]:
        from ragstone.evaluation.compare import compare

        sides = [self._results(name).evaluation(*which) for name, *which in (a, b)]
        names = [a[1], b[1]] if a[1] != b[1] else [" ".join(filter(None, one)) for one in (a, b)]
        found = compare(*sides, names=names).to_dict()
        flipped = list(found["flipped"].items())
        shown = dict(flipped[: max(0, queries)])
        return found | {"flipped": shown, "flipped_in_all": len(flipped)}

    def _experiments(self) -> Any:
        from ragstone.core.store_contents import StoreContents

        return StoreContents.of(self.store).experiments

    def _results(self, name: str) -> Results:
        """Return the results of an experiment that the store lists, so that no name is a path."""
        from ragstone.errors import ConfigError, did_you_mean
        from ragstone.results.results import Results

        names = [one.name for one in self._experiments()]
        if name not in names:
            raise ConfigError(f"the store has no experiment {name!r}{did_you_mean(name, names)}")
        return Results.load(self.store, name)


def _answer(document: Callable[[], object]) -> str:
    """Return a document as JSON; raise `ToolError` for an error of Ragstone and a long answer."""
    import orjson
    from mcp.server.mcpserver.exceptions import ToolError

    from ragstone.errors import RagstoneError

    try:
        text = coded_json(orjson.dumps(document()))
    except RagstoneError as error:
        raise ToolError(message(str(error))) from error
    most = limits.MCP_ANSWER_CHARACTERS
    if len(text) > most:
        raise ToolError(
            f"the answer has {len(text):,} characters, more than {most:,}; ask for a single query "
            "(show_query), or for fewer flipped queries (compare, queries=0)"
        )
    return text
