"""A list of answers as a project."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.made_results import made_results

from ragstone.annotation.from_list import annotate_list
from ragstone.annotation.project import Project
from ragstone.errors import ConfigError
from ragstone.view.query_filter import QueryFilter, found_queries


def test_the_answers_of_a_list_are_rated(tmp_path: Path) -> None:
    """Only the listed answers; the file says what the list was; a second time is an error."""
    results = made_results(tmp_path / "store", queries=12)
    found = found_queries(results, QueryFilter(setting="gold", system="bm25 + small"))
    answers = [answer for one in found for answer in one.answers]
    count = annotate_list(tmp_path / "p", results, {"setting": "gold"}, answers)
    project = Project.open(tmp_path / "p")

    assert count == sum(one.answer is not None for one in answers)
    parts = {one.part for item in project.items.values() for one in item.answers}
    assert parts == {"bm25 + small · gold"}
    assert project.settings.source["filter"] == {"setting": "gold"}
    with pytest.raises(ConfigError, match="choose another name"):
        annotate_list(tmp_path / "p", results, {}, answers)
