"""The page of annotation: every task, key, option, form and shape is on it."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import yaml

from ragstone.annotation.events import Event
from ragstone.annotation.export_forms import WRITERS
from ragstone.annotation.import_labels import ImportCounts
from ragstone.annotation.project import Settings
from ragstone.annotation.schemes import Option, Question, Scheme
from ragstone.annotation.tasks import OWN, own_scheme, scheme_of
from ragstone.cli.annotate_make import making_options
from ragstone.web import limits

PAGE = (Path(__file__).parents[2] / "docs" / "annotate.md").read_text("utf-8")


def section(title: str) -> str:
    """Return the text of a section."""
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_every_task_has_its_row_with_scheme_and_properties() -> None:
    """The table has what exports contain."""
    for task, name in OWN.items():
        scheme = own_scheme(name)
        (row,) = [line for line in section("Tasks").splitlines() if line.startswith(f"| `{task}`")]
        assert f"`{scheme.name}`" in row
        if task not in ("conversation", "validation"):
            assert [one for one in scheme.questions if f"`{one.name}`" not in row] == []


def test_every_key_is_described() -> None:
    """Keys of projects, schemes, questions, options and events."""
    for title, kinds in (
        ("project.yaml", (Settings,)),
        ("Schemes", (Scheme, Question, Option)),
        ("Shapes", (Event, ImportCounts)),
    ):
        names = [one.name for kind in kinds for one in fields(kind)]
        text = section(title)
        assert [one for one in names if f"`{one}`" not in text and f'"{one}"' not in text] == []
    assert f"at most {limits.SCHEME_OPTIONS}" in section("Schemes")


def test_every_option_and_form_is_described() -> None:
    """What makes a project, and what leaves it."""

    @making_options
    def command() -> None:
        """Carry the options."""

    options = [name for one in command.__click_params__ for name in one.opts]  # type: ignore[attr-defined]
    assert [one for one in options if one.startswith("--") and one not in PAGE] == []
    assert [form for form in WRITERS if f"`{form}`" not in section("Exports")] == []


def test_the_scheme_of_the_page_is_one(tmp_path: Path) -> None:
    """It can be copied into a file."""
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "mine.yaml").write_text(block)

    assert yaml.safe_load(block)["name"] == scheme_of("labels", "mine.yaml", tmp_path).name
