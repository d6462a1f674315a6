"""The keys of the examples: what they are made of changes on purpose or not at all.

A key that changes makes every kept step of every user look new. To accept a change, raise the
component's `version` where its output changed, and write the file again:
`python tests/golden/test_keys.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.fingerprint import cache_key_parts
from ragstone.experiment.experiment import load_experiment

FOLDER = Path(__file__).parent / "keys"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.yaml"))


def recipes(name: str) -> dict[str, Any]:
    """Return what makes the results of an example: every component as its keys hold it."""
    experiment = load_experiment(EXAMPLES / f"{name}.yaml")
    return {
        "systems": {
            system.name: {name: cache_key_parts(part) for name, part in system.components.items()}
            for system in experiment.systems
        },
        "settings": [cache_key_parts(setting) for setting in experiment.settings],
        "metrics": [
            cache_key_parts(metric) for kind in experiment.metrics for metric in kind.metrics
        ],
    }


@pytest.mark.parametrize("name", NAMES)
def test_the_keys_of_an_example_are_pinned(name: str) -> None:
    """Every component of an example has the name, version, parameters and revision it had."""
    assert recipes(name) == json.loads((FOLDER / f"{name}.json").read_text())


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in NAMES:
        text = json.dumps(recipes(each), indent=1, ensure_ascii=False)
        (FOLDER / f"{each}.json").write_text(f"{text}\n")
