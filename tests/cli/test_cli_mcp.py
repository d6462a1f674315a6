"""`ragstone mcp`: a client of the SDK reads a store over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from tests.fakes.made_results import HOSTILE, made_results

from ragstone.cli.mcp import server_of
from ragstone.core import limits

COMPARE = {"experiment": "made", "first": "old", "second": "new", "setting": "retrieved(3)"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with one experiment of two systems."""
    root = tmp_path_factory.mktemp("mcp") / "store"
    made_results(root, systems=("old", "new"), texts=HOSTILE, queries=20)
    return root


def asked(server: Any, *calls: tuple[str, dict[str, Any]]) -> list[tuple[bool, str]]:
    """Return whether each call failed, and its text."""

    async def run() -> list[tuple[bool, str]]:
        async with Client(server) as client:
            replies = [await client.call_tool(name, values) for name, values in calls]
            return [(bool(one.is_error), one.content[0].text) for one in replies]  # type: ignore[union-attr]

    return asyncio.run(run())


def test_an_assistant_reads_a_store_over_stdio(store: Path) -> None:
    """Every tool answers with the JSON of its command; nothing but the protocol is printed."""
    arguments = ["-c", "from ragstone.cli import main; main()", "mcp", "--store", str(store)]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    listed, shown, compared = asked(
        stdio_client(server),  # the client of 2.0.0 starts no server itself
        ("list_experiments", {}),
        ("show_results", {"experiment": "made"}),
        ("compare", {**COMPARE, "queries": 2}),
    )
    found = json.loads(compared[1])

    assert [one["name"] for one in json.loads(listed[1])] == ["made"]
    assert json.loads(shown[1])["name"] == "made"
    assert found["systems"] == ["old", "new"]
    assert len(found["flipped"]) == 2 < found["flipped_in_all"]
    assert found["metrics"]["Match"]["pairs"][0]["verdict"]


def test_an_assistant_that_ends_before_its_answer_is_no_failure(store: Path) -> None:
    """Nothing is on standard error, and the exit code is 0."""
    command = [sys.executable, "-c", "from ragstone.cli import main; main()"]
    command += ["mcp", "--store", str(store)]
    pipe = subprocess.PIPE
    client: dict[str, Any] = {"protocolVersion": "2024-11-05", "capabilities": {}}
    client |= {"clientInfo": {"name": "a", "version": "1"}}
    asked: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "list_experiments", "arguments": {}}},
    ]
    lines = [json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in asked]
    with subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe, stderr=pipe) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdin.write(lines[0])
        server.stdin.flush()
        assert server.stdout.readline()
        server.stdout.close()
        server.stdin.write("".join(lines[1:]))
        server.stdin.close()
        told = server.stderr.read()

    assert (server.returncode, told) == (0, "")


def test_hostile_texts_are_codes(tmp_path: Path) -> None:
    """The same values, of marks of direction too; a client that prints an answer prints no mark."""
    made_results(tmp_path, systems=("old", "\u202enew"), texts=HOSTILE, queries=20)
    shown, failed = asked(
        server_of(tmp_path),
        ("show_results", {"experiment": "made"}),
        ("show_results", {"experiment": "made\x9b\u202e"}),
    )
    assert "\u202e" not in shown[1] + failed[1]
    assert json.loads(shown[1])["systems"]
    assert r"made\x9b\u202e" in failed[1]


def test_one_query_and_one_system_under_two_settings(store: Path) -> None:
    """A query is shown by its id; a system may be compared with itself under another setting."""
    found = json.loads(asked(server_of(store), ("compare", COMPARE))[0][1])
    query_id = next(iter(found["flipped"]))
    same = {**COMPARE, "second": "old", "second_setting": "gold"}
    query, two = asked(
        server_of(store),
        ("show_query", {"experiment": "made", "query_id": query_id}),
        ("compare", same),
    )

    assert json.loads(query[1])["id"] == query_id
    assert json.loads(two[1])["systems"] == ["made old retrieved(3)", "made old gold"]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("show_results", {"experiment": "../made"}, "no experiment '../made'"),
        ("show_results", {"experiment": "/etc/passwd"}, "no experiment"),
        ("show_query", {"experiment": "made", "query_id": "nobody"}, "no answered query 'nobody'"),
        ("compare", {**COMPARE, "setting": ""}, "choose one"),
        ("compare", {**COMPARE, "first": "older"}, "no system 'older'"),
    ],
)
def test_an_error_is_an_answer(
    store: Path, tool: str, arguments: dict[str, Any], said: str
) -> None:
    """No name leads out of the store, and a wrong one is named."""
    [(failed, text)] = asked(server_of(store), (tool, arguments))

    assert failed
    assert said in text


def test_a_long_answer_is_an_error_with_a_way_out(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message has both sizes and a smaller question."""
    monkeypatch.setattr(limits, "MCP_ANSWER_CHARACTERS", 100)
    [(failed, text)] = asked(server_of(store), ("show_results", {"experiment": "made"}))

    assert failed
    assert "more than 100; ask for a single query" in text
