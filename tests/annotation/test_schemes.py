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
