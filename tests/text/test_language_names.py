"""Codes and names of languages, as people write them."""

from __future__ import annotations

import pytest

from ragstone.errors import ConfigError
from ragstone.text.language_names import checked_code, stated_language


@pytest.mark.parametrize(
    ("written", "code"), [("ja", "ja"), ("JA", "ja"), ("Greek", "el"), ("zh-Hans", "zh")]
)
def test_a_language_has_a_code_and_a_name(written: str, code: str) -> None:
    """Case and region do not matter."""
    assert checked_code(written) == code


@pytest.mark.parametrize(
    ("written", "hint"), [("jp", "'ja'"), ("Japanse", "'japanese'"), (7, "ISO 639-1"), ("", "ISO")]
)
def test_an_unknown_language_is_refused_with_the_nearest(written: object, hint: str) -> None:
    """The code of a country is often taken for that of its language."""
    with pytest.raises(ConfigError, match=hint):
        checked_code(written)


def test_a_record_states_its_language_in_a_label() -> None:
    """Several values are not one language."""
    assert stated_language({"language": "pt-BR"}) == "pt"
    assert stated_language({"language": ("de", "en")}) == ""
