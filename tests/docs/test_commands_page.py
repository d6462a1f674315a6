"""The pages on commands and experiment files: extras, and the keys of the JSON that is printed."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.cli import root
from ragstone.core.builtins import BUILT_IN
from ragstone.core.describe import describe_kind

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "commands.md").read_text("utf-8")
FILE = """\
data: sample
sample: {limit: 3}
systems: {bm25: {retriever: bm25, generator: gold}}
settings: [none, retrieved(3)]
metrics: [Match, "nDCG@10"]
"""


def printed(page: str, heading: str) -> dict[str, Any]:
    """Return the JSON object that a page shows below a heading."""
    found = re.search(rf"^#+ {heading}\n.*?```json\n(.*?)```", page, re.DOTALL | re.MULTILINE)
    assert found, heading
    shown: dict[str, Any] = json.loads(found[1])
    return shown


def _shown(package: str) -> str:
    """Return a requirement as the table has it."""
    extra = re.fullmatch(r"ragstone\[(\w+)\]", package)
    return f"the extra {extra[1]}" if extra else re.split(r"[><=\[]", package)[0]


def test_the_table_of_extras_is_that_of_the_package() -> None:
    """Every extra with its packages, in the order of pyproject.toml."""
    rows = re.findall(r"^\| `(\w+)` \| ([\w, -]+) \|", PAGE.partition("## Extras")[2], re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {
        name: [_shown(package) for package in packages]
        for name, packages in project["optional-dependencies"].items()
    }
    assert {name: packages.split(", ") for name, packages in rows} == extras


def test_components_and_models_have_the_keys_shown() -> None:
    """`ragstone components --json`, `ragstone models --json` and `ragstone doctor --json`."""
    shown = printed(PAGE, "ragstone components")
    found = next(e for e in describe_kind(shown["kind"]) if e["name"] == shown["name"])
    assert found.keys() == shown.keys()
    assert found["parameters"][0].keys() == shown["parameters"][0].keys()
    for command in ("models", "doctor"):
        output = json.loads(CliRunner().invoke(root, [command, "--json"]).output)
        assert list(output[0]) == list(printed(PAGE, f"ragstone {command}")), command


@pytest.mark.parametrize("kind", BUILT_IN)
def test_every_parameter_of_a_component_has_a_help_text(kind: str) -> None:
    """Each component has a summary, and each of its parameters a description."""
    entries = describe_kind(kind)
    assert not [entry["name"] for entry in entries if not entry["summary"]]
    helps = {(e["name"], p["name"]): p["help"] for e in entries for p in e["parameters"]}
    assert not [place for place, text in helps.items() if not text]


def test_a_plan_has_the_keys_shown(tmp_path: Path) -> None:
    """`ragstone run --plan --json` and its steps."""
    (tmp_path / "e.yaml").write_text(f"{FILE}store: {tmp_path / 'store'}\n")
    page = (ROOT / "docs" / "experiment-file.md").read_text("utf-8")
    result = CliRunner().invoke(root, ["run", str(tmp_path / "e.yaml"), "--plan", "--json"])
    found, shown = json.loads(result.output), printed(page, "Before anything runs")
    assert list(found) == list(shown)
    assert list(found["steps"][0]) == list(shown["steps"][0])
