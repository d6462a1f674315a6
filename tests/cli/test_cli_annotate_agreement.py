"""`ragstone annotate agreement`: the numbers of the pages, in the terminal and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner
from tests.fakes.labelled_project import made_site
from tests.fakes.mirage_labels import mirage_site

from ragstone.annotation.agreement import agreements
from ragstone.annotation.label_columns import label_columns
from ragstone.cli.annotate import command


def test_the_same_numbers_as_text_and_as_json(tmp_path: Path) -> None:
    """Alpha, pairs, labels needed, people and the model, influence."""
    with mirage_site(tmp_path / "p", done=0.2, shown=True) as site:
        (wanted,) = agreements(label_columns(site))
    text = CliRunner().invoke(command, ["agreement", str(tmp_path / "p")])
    found = CliRunner().invoke(command, ["agreement", str(tmp_path / "p"), "--json"])
    assert (text.exit_code, found.exit_code) == (0, 0), text.output
    assert f"{wanted.agreement.alpha.value:.3f}" in text.stdout
    for title in ("Pairs of people", "More labels", "People and the model", "Influence"):
        assert title in text.stdout
    data = json.loads(found.stdout)
    alpha = data["questions"][0]["agreement"]["alpha"]
    assert alpha["value"] == wanted.agreement.alpha.value
    assert [one["person"] for one in data["model"][0]["people"]] == ["ann", "ben", "eve"]


def test_a_project_without_labels(tmp_path: Path) -> None:
    """The table of agreement has no row; nothing fails."""
    with made_site(tmp_path / "p", 2):
        pass
    done = CliRunner().invoke(command, ["agreement", str(tmp_path / "p")])
    assert done.exit_code == 0, done.output
    assert "Agreement of people" in done.stdout
