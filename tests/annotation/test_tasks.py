"""The schemes of the tasks, and schemes by name and from files."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from ragstone.annotation.schemes import TaskName
from ragstone.annotation.tasks import (
    OWN,
    own_scheme,
    scheme_file,
    scheme_names,
    scheme_of,
    scheme_schema,
)
from ragstone.causes.order import CAUSES as ORDER
from ragstone.components.judges.critiques import CRITIQUES
from ragstone.data.readers.rated_inspection import MTRAG_RATINGS
from ragstone.data.taxonomy import load_taxonomy, own_taxonomies
from ragstone.errors import ConfigError


def test_every_task_has_a_scheme() -> None:
    """The properties of ratings are those of mtRAG's file."""
    assert set(OWN) == set(get_args(TaskName))
    ratings = scheme_of("ratings", "", Path()).questions
    assert tuple(one.name for one in ratings) == MTRAG_RATINGS
    assert {one.value for one in ratings[0].options} == {1, 2, 3, 4}


@pytest.mark.parametrize("name", own_taxonomies())
def test_taxonomies_are_schemes(name: str) -> None:
    """Their labels are the options of one question, several ones if the taxonomy allows it."""
    scheme, taxonomy = scheme_of("labels", name, Path()), load_taxonomy(name)
    (question,) = scheme.questions

    assert [one.value for one in question.options] == list(taxonomy.labels)
    assert question.kind == ("choices" if taxonomy.several else "choice")
    assert (question.name, scheme.each) == (name, "query")


def test_names_and_files(tmp_path: Path) -> None:
    """A scheme is one of those that come with Ragstone, or a file."""
    for name in (*OWN.values(), "fanc-1-5", "findings"):
        assert scheme_of("labels", name, tmp_path).name == name
    with pytest.raises(ConfigError, match=r"did you mean 'fanc'.*relevance.*\.yaml"):
        scheme_of("ratings", "fanx", tmp_path)
    (tmp_path / "my.yaml").write_text("name: mood\nquestions: [{name: mood, option: []}]\n")
    with pytest.raises(ConfigError, match=r"questions\.0\.option: unknown key.*options"):
        scheme_of("labels", "my.yaml", tmp_path)


@pytest.mark.parametrize("name", scheme_names())
def test_a_scheme_is_printed_as_its_file(tmp_path: Path, name: str) -> None:
    """The file of a scheme is read as the same scheme, so that it can be changed."""
    (tmp_path / "mine.yaml").write_text(scheme_file(name))

    assert scheme_of("labels", "mine.yaml", tmp_path) == scheme_of("labels", name, tmp_path)


def test_the_json_schema_has_every_key() -> None:
    """Editors complete the keys of a scheme file."""
    found = scheme_schema()

    assert {"name", "questions", "ask", "guidelines", "shows_gold", "each"} == set(
        found["properties"]
    )
    assert found["additionalProperties"] is False


def test_the_causes_are_those_that_are_measured() -> None:
    """People name the same causes as `ragstone show --causes`, each with a key."""
    (question,) = own_scheme("causes").questions

    assert {one.value for one in question.options} == {one.name for one in ORDER}
    assert len(question.keys) == len(ORDER)
    assert all(one.words and one.name for one in question.options)


def test_validation_rates_by_the_names_of_critiques() -> None:
    """People's ratings can be compared with those of `data critique`."""
    rated = {one.name for one in own_scheme("validation").questions if one.numeric}

    assert rated <= set(CRITIQUES)
    assert [one.start for one in own_scheme("validation").questions if one.kind == "text"] == [
        "query",
        "answer",
    ]
