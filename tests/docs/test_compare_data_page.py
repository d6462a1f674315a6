"""docs/compare-data.md describes what the command prints."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.cli.test_cli_data_compare import INSPECTED

from ragstone.cli import root

PAGE = (Path(__file__).parents[2] / "docs" / "compare-data.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the JSON of the command, with experiments."""
    path = tmp_path_factory.mktemp("rated") / "rated.json"
    path.write_text(json.dumps(INSPECTED))
    arguments = ["data", "compare", "sample", "sample", "--experiments", str(path), str(path)]
    result = CliRunner().invoke(root, [*arguments, "--json"], catch_exceptions=False)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_the_json_has_the_keys_shown(printed: dict[str, Any]) -> None:
    """The example has every key but those of a summary, of which it has some."""
    match = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert match
    shown = json.loads(match[1])
    assert list(shown) == list(printed)
    assert list(shown["a"]) == list(printed["a"])
    turns = (one["properties"]["conversations"]["turns"] for one in (shown, printed))
    mine, theirs = turns
    assert list(mine) == list(theirs)
    assert mine["a"].keys() <= theirs["a"].keys()
    assert list(shown["distances"]["turn length"]) == list(printed["distances"]["turn length"])
    assert list(shown["overlap"]["passages"]) == list(printed["overlap"]["passages"])
    one, other = shown["experiments"][0], printed["experiments"][0]
    assert list(one) == list(other)
    assert list(one["systems"][0]) == list(other["systems"][0])
    assert list(one["agreement"]) == list(other["agreement"])


def test_every_group_distance_and_option_is_explained(printed: dict[str, Any]) -> None:
    """In a table of the page."""
    names = [name for name in printed["properties"] if not name.startswith("label ")]
    for name in (*names, *printed["distances"]):
        assert f"| `{name}` |" in PAGE, name
    for property_name in ("turns", "relevant passages", "words per query", "distinct-1"):
        assert f"`{property_name}`" in PAGE
    usage = CliRunner().invoke(root, ["data", "compare", "--help"]).stdout
    options = set(re.findall(r"--[a-z]+", usage)) - {"--json", "--help"}
    assert [option for option in sorted(options) if f"`{option}" not in PAGE] == []
