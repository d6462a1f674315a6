"""Schemes: questions with options."""

from __future__ import annotations

import pytest

from ragstone.annotation.schemes import Option, Question
from ragstone.errors import ConfigError
from ragstone.web import limits


def test_a_question_has_as_many_options_as_there_are_digits() -> None:
    """Each option has a digit as its key."""
    options = tuple(map(Option, range(limits.SCHEME_OPTIONS + 1)))
    with pytest.raises(ConfigError, match="at most 16"):
        Question("mood", options=options)


def test_statements_are_texts_or_have_an_id() -> None:
    """What people mark on the page has ids; the terminal writes texts."""
    asked = Question("nugget", kind="parts")
    given = [["At six."], [{"id": "n1", "text": "At six."}], [{"id": "n1"}], [1], "At six."]
    assert [asked.is_label(one) for one in given] == [True, True, False, False, False]
