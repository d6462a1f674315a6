"""Projects appear whole, are never overwritten, and grow by new items alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.annotation.create import ProjectPlan, add_items, check_same, make_project
from ragstone.annotation.items import AnnotationItem
from ragstone.annotation.project import Project
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Passage, Query

ITEMS = [
    AnnotationItem(f"q{n}", Query(f"q{n}", "When does it sail?"), (Passage("p1", "At six."),))
    for n in range(3)
]
PLAN = ProjectPlan("support", {"data": "ferry"}, {"people_per_item": 3}, made={"ragstone": "1"})
SCHEME = """name: mood
questions: [{name: mood, options: [{value: calm}, {value: angry}]}]
"""


def test_a_project_is_made_and_opened_with_the_same_options(tmp_path: Path) -> None:
    """All keys that were chosen are in its file; the items are equal after reading."""
    made = make_project(tmp_path / "ferry", PLAN, ITEMS)

    assert (made.name, made.task, made.settings.people_per_item) == ("ferry", "support", 3)
    assert list(made.items.values()) == ITEMS
    check_same(Project.open(tmp_path / "ferry"), "support", PLAN)
    other = make_project(tmp_path / "other", PLAN, ITEMS)
    assert len({"", made.settings.blind_key, other.settings.blind_key}) == 3


@pytest.mark.parametrize(
    ("changed", "key", "said"),
    [
        (replace(PLAN, source={"data": "other"}), "source.data", "'ferry', but 'other'"),
        (replace(PLAN, source={"experiment": "e"}), "source.experiment", "nothing, but 'e'"),
        (replace(PLAN, settings={"people_per_item": 2}), "people_per_item", "3, but 2"),
        (replace(PLAN, settings={"repeats": 0.1}), "repeats", "0.0, but 0.1"),
        (replace(PLAN, scheme="relevance"), "scheme", "'support', but 'relevance'"),
    ],
)
def test_other_options_name_what_differs(
    tmp_path: Path, changed: ProjectPlan, key: str, said: str
) -> None:
    """Nothing is written; the error has the key, both values and the way out."""
    project = make_project(tmp_path / "ferry", PLAN, ITEMS)
    before = {path: path.read_bytes() for path in project.folder.iterdir()}

    with pytest.raises(ConfigError, match=f"{said}.*another name") as caught:
        check_same(project, "support", changed)

    assert caught.value.key == key
    assert {path: path.read_bytes() for path in project.folder.iterdir()} == before


def test_another_task_is_an_error(tmp_path: Path) -> None:
    """A project has one task."""
    project = make_project(tmp_path / "ferry", PLAN, ITEMS)

    with pytest.raises(ConfigError, match="task: 'support', but 'ratings'"):
        check_same(project, "ratings", PLAN)


def test_a_folder_with_files_and_a_failure_leave_nothing(tmp_path: Path) -> None:
    """No other folder is touched, and half a project never appears."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(ConfigError, match="not an annotation project; choose another name"):
        make_project(tmp_path / "mine", PLAN, ITEMS)
    with pytest.raises(ConfigError, match="no item"):
        make_project(tmp_path / "empty", PLAN, [])
    with pytest.raises(DatasetError, match="two items with the id 'q0'"):
        make_project(tmp_path / "twice", PLAN, [ITEMS[0], ITEMS[0]])
    with pytest.raises(ConfigError, match="people_per_item"):
        make_project(tmp_path / "bad", replace(PLAN, settings={"people_per_item": "x"}), ITEMS)

    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_own_schemes_and_guidelines_are_copied(tmp_path: Path) -> None:
    """A project is complete in its folder; the same files again differ in nothing."""
    (tmp_path / "mood.yaml").write_text(SCHEME)
    (tmp_path / "how.md").write_text("Read the whole query.")
    plan = ProjectPlan("labels", scheme=str(tmp_path / "mood.yaml"), guidelines=tmp_path / "how.md")
    project = make_project(tmp_path / "moods", plan, ITEMS)
    check_same(project, None, plan)

    (tmp_path / "mood.yaml").write_text(SCHEME.replace("angry", "cross"))
    with pytest.raises(ConfigError, match=r"has scheme: 'scheme.yaml'"):
        check_same(project, None, plan)

    assert project.scheme.guidelines == "Read the whole query."
    assert [one.name for one in project.scheme.questions] == ["mood"]


def test_new_items_are_added_and_known_ones_stay(tmp_path: Path) -> None:
    """An item that people may have labelled never changes."""
    project = make_project(tmp_path / "ferry", PLAN, ITEMS)
    changed = replace(ITEMS[0], query=Query("q0", "Changed?"))
    new = replace(ITEMS[0], item_id="q9")

    assert add_items(project, [changed, new]) == 1
    assert add_items(project, [changed, new]) == 0

    items = Project.open(project.folder).items
    assert list(items) == ["q0", "q1", "q2", "q9"]
    assert items["q0"] == ITEMS[0]
