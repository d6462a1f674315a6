"""Notes on queries whose language a prompt does not have."""

from __future__ import annotations

from ragstone.components.prompt_languages import note_on_languages, reason_of_default


def test_languages_without_a_translation_are_counted() -> None:
    """Unknown languages are known only while the queries are asked."""
    (note,) = note_on_languages("cited.{language}", ["de", "en"], ["sw", "xx", "sw", "", "en"])
    assert note == (
        "queries asked with the German prompt: 3, because 'cited' has no translation into sw, xx"
    )
    assert list(note_on_languages("cited.{language}", ["en"], ["en", ""])) == []


def test_a_language_that_the_prompt_has_needs_no_reason() -> None:
    """The language of the default is one of them."""
    assert reason_of_default("en", ["en", "de"]) == ""
    assert reason_of_default("", ["xx", "de"]) == "with the xx prompt: their language is unknown"
