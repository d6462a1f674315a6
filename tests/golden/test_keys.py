"""The cache keys of the examples are pinned: kind, name, parameters and inputs of every step.

A changed key makes every stored step of every user look new. A key also has the digest of the code
that computes the step, `source`, which every edit of that code changes by design. It is masked: a
pinned digest would fail with each edit and show nothing. Whether a component has one is pinned. To
accept a change, write the files again: `python tests/golden/test_keys.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.schemas import QUERIES, queries_to_table
from ragstone.core.stored_table import StoredTable
from ragstone.experiment.load import load_experiment
from ragstone.experiment.steps import Step
from ragstone.experiment.system import SharedInputs
from ragstone.types import Query

FOLDER = Path(__file__).parent / "keys"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.yaml"))


def recipes(name: str) -> dict[str, Any]:
    """Return the cache key parts of an example's components, and the inputs of every step."""
    experiment = load_experiment(EXAMPLES / f"{name}.yaml")
    # The data may not be on this machine, and only the names of the tables count here.
    tables: dict[str, Any] = {role: StoredTable(role) for role in ("passages", "labelled", "qrels")}
    for role in ("answered", "ranked"):
        tables[role] = StoredTable(role, memory=queries_to_table([Query(role, "")]))
    experiment.__dict__["shared"] = SharedInputs(**tables, noise=experiment.noise)
    found = {
        "systems": {
            system.name: {name: cache_key_parts(part) for name, part in system.components.items()}
            for system in experiment.systems
        },
        "settings": [cache_key_parts(setting) for setting in experiment.settings],
        "metrics": [
            cache_key_parts(metric) for kind in experiment.metrics for metric in kind.metrics
        ],
        "steps": list(_inputs(list(experiment.steps()))),
    }
    masked: dict[str, Any] = _masked(found)
    return masked


def _masked(value: Any) -> Any:
    """Return key parts with `*` for each digest of code and for the version of llama.cpp."""
    if isinstance(value, str):
        return re.sub(r"xllamacpp:\S+", "xllamacpp:*", value)
    if isinstance(value, list):
        return [_masked(item) for item in value]
    if isinstance(value, dict):
        is_part = "component" in value
        return {k: "*" if is_part and k == "source" else _masked(v) for k, v in value.items()}
    return value


def _inputs(steps: list[Step]) -> Iterator[str]:
    """Yield each step with its inputs: tables by name, steps by number."""
    for number, step in enumerate(steps):
        given = (
            f"{role}={steps.index(source) if isinstance(source, Step) else _name(source)}"
            for role, source in step.inputs.items()
        )
        component = cache_key_parts(step.component)["component"]
        yield f"{number} {step.name} {component}({', '.join(given)})"


def _name(table: StoredTable) -> str:
    """Return the name of a table of the data set, with the columns that a step does not read."""
    if table.memory is None:
        return table.digest
    missing = [f"-{name}" for name in QUERIES.names if name not in table.memory.column_names]
    return "".join([table.memory.column("query_id")[0].as_py(), *missing])


@pytest.mark.parametrize("name", NAMES)
def test_the_keys_of_an_example_are_pinned(name: str) -> None:
    """No component and no input of an example's steps has changed."""
    assert recipes(name) == json.loads((FOLDER / f"{name}.json").read_text())


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in NAMES:
        text = json.dumps(recipes(each), indent=1, ensure_ascii=False)
        (FOLDER / f"{each}.json").write_text(f"{text}\n")
