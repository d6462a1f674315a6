"""Where the sentences of a text begin."""

from __future__ import annotations

import pytest

from ragstone.text.sentences import sentence_starts


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_sentences_after_an_empty_line_begin_at_their_first_character(ends: str) -> None:
    """Also if lines end as on Windows: older releases of the splitter count two characters less."""
    pytest.importorskip("sentencex")
    text = f"One. Two.{ends}{ends}Three.{ends}{ends}Four. Five."
    starts = sentence_starts(text, "en", asked_by="a test")
    assert {text.index(word) for word in ("One", "Two", "Three", "Four", "Five")} <= set(starts)
    assert "".join(text[a:b] for a, b in zip(starts, [*starts[1:], None], strict=True)) == text
