"""The page on published data sets: its table is that of the package, and its examples are read.

To write the table again after a change of the sets: `python -m tests.docs.test_published_page`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tools.shown_blocks import read_blocks

from ragstone.cli.data import command
from ragstone.core.tables import TextTable
from ragstone.data.load import load_dataset
from ragstone.data.published.presets import Preset, presets

PAGE = Path(__file__).resolve().parents[2] / "docs" / "published-data.md"
START, END = "<!-- sets -->\n", "<!-- end of sets -->"


def generated() -> str:
    """Return the table of the sets, their notes and their citations, as Markdown."""
    rows = [_row(preset) for preset in presets().values()]
    headers = ["name", "set", "split", "queries", "passages", "licence", "files", "hub"]
    noted: dict[str, list[str]] = {}
    cited: dict[str, list[str]] = {}
    for preset in presets().values():
        noted.setdefault(preset.note, []).append(f"`{preset.name}`")
        cited.setdefault(preset.citation, []).append(f"`{preset.name}`")
    notes = [f"- {', '.join(names)}: {note}" for note, names in noted.items() if note]
    citations = [f"- {', '.join(names)}: {citation}" for citation, names in cited.items()]
    table = TextTable(headers, rows).markdown()
    parts = [table, "Notes:", "\n".join(notes), "Citations:", "\n".join(citations)]
    return "\n\n".join(["", *parts, ""])


def _row(preset: Preset) -> list[str]:
    facts = preset.facts()
    split = f"{preset.split}: {preset.subset}" if preset.subset else preset.split
    return [
        *(preset.name, preset.title, split, f"{preset.n:,}"),
        f"{preset.passages:,}" if preset.passages else "",
        *(preset.licence, "; ".join(facts["files"]), ", ".join(facts["hub"])),
    ]


def test_the_table_is_that_of_the_package() -> None:
    """With every set, in the order of `ragstone data list`."""
    shown = PAGE.read_text("utf-8").partition(START)[2].partition(END)[0]
    assert shown == generated()


def test_the_keys_of_the_json_are_documented() -> None:
    """Each key of `data list --json` is in the page's table."""
    listed = json.loads(CliRunner().invoke(command, ["list", "nq", "--json"]).output)
    table = PAGE.read_text("utf-8").partition("data list --json` prints")[2]

    assert [key for key in listed[0] if f"`{key}`" not in table] == []


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write every file that the page shows into the current folder."""
    for block in read_blocks(PAGE):
        if block.title:
            path = tmp_path / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("examples")
def test_the_pages_of_the_example() -> None:
    """Every passage of a judged page is judged."""
    dataset = load_dataset({"name": "nq", "path": "kilt", "n": 2, "corpus": "kilt/corpus.jsonl"})
    assert dataset.qrels == {"7": {"12_0": 1, "12_1": 1}, "8": {"14_0": 1}}


if __name__ == "__main__":
    whole = PAGE.read_text("utf-8")
    before, _, rest = whole.partition(START)
    PAGE.write_text(before + START + generated() + END + rest.partition(END)[2], "utf-8")
