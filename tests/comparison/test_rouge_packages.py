"""ROUGE against google's rouge_score and the package rouge, on random texts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge import Rouge
from rouge_score.rouge_scorer import RougeScorer
from tests.support import answer_value

GOOGLE = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)
PLTRDY = Rouge()
WORDS = ["the", "cat", "Cat", "sat", "mat", "a", "1,000", "U.S.", "don't", "x_y", "-", "...", "é"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join) | st.text(max_size=30)
ASCII_TEXTS = st.lists(st.sampled_from(WORDS[:-1]), max_size=25).map(" ".join) | st.text(
    st.characters(max_codepoint=126, min_codepoint=32), max_size=30
)
WITHOUT_NUMBERS = ASCII_TEXTS.map(lambda text: re.sub("[0-9+#]", "n", text))


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_the_mtrag_variant_is_googles(answer: str, gold: str) -> None:
    """Any text at all: ROUGE-1, ROUGE-2 and ROUGE-L of a pair are equal."""
    if not gold.strip():
        return
    theirs = GOOGLE.score(gold, answer)

    for ours, name in (("ROUGE-1", "rouge1"), ("ROUGE-2", "rouge2"), ("ROUGE-L", "rougeL")):
        expected = theirs[name].fmeasure
        assert answer_value(f"{ours}(variant=mtrag)", answer, [gold]) == pytest.approx(
            expected, abs=1e-12
        )


@settings(deadline=None)
@given(WITHOUT_NUMBERS, st.lists(WITHOUT_NUMBERS, min_size=1, max_size=4))
def test_the_default_is_googles_on_ascii_text(answer: str, gold: list[str]) -> None:
    """The best of several gold answers in ASCII; Google's tokens cut numbers and names like C++."""
    gold = [text for text in gold if any(map(str.isalnum, text))]
    if not gold or not any(map(str.isalnum, answer)):
        return
    theirs = [GOOGLE.score(label, answer) for label in gold]

    for ours, name in (("ROUGE-1", "rouge1"), ("ROUGE-2", "rouge2"), ("ROUGE-L", "rougeL")):
        expected = max(scores[name].fmeasure for scores in theirs)
        assert answer_value(ours, answer, gold) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(ASCII_TEXTS, ASCII_TEXTS)
def test_the_bergen_variant_is_the_package_rouges(answer: str, gold: str) -> None:
    """BERGEN counts 0 if the package raises."""
    if not gold.strip():
        return
    try:
        theirs = PLTRDY.get_scores(answer, gold)[0]
    except ValueError:
        theirs = {name: {"f": 0.0} for name in ("rouge-1", "rouge-2", "rouge-l")}

    for ours, name in (("ROUGE-1", "rouge-1"), ("ROUGE-2", "rouge-2"), ("ROUGE-L", "rouge-l")):
        expected = theirs[name]["f"]
        value = answer_value(f"{ours}(variant=bergen)", answer, [gold])
        assert value == pytest.approx(expected, abs=1e-12)
