"""Quotations are those of the pattern that they replace, in linear time."""

from __future__ import annotations

import contextlib
import random
import re

import pytest

from ragstone.components.judges.reply_parsing import Unreadable
from ragstone.components.judges.verdict_schemas import Choice, Listing, Numbered, Rating
from ragstone.components.metrics.attack_success import obeys
from ragstone.components.metrics.match import without_echo
from ragstone.components.rerankers.permutation_parsing import read_order
from ragstone.core.store_contents import _NAME
from ragstone.data_quality.personal_data import _ADDRESS
from ragstone.errors import ConfigError
from ragstone.statistics.correctness import Correctness
from ragstone.text.quotations import quotations, span_at

PAIRS = (('"', '"'), ("“", "”"), ("«", "»"), ("„", "“”"), ("'", "'\u2019"), ("\u2018", "'\u2019"))
PATTERN = re.compile(
    "\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|„[^“”\n]*[“”]|(?<!\\w)['\u2018][^'\u2019\n]*['\u2019](?!\\w)"
)
LONG = 50_000


def test_quotations_are_those_of_a_pattern() -> None:
    """On 3,000 random texts of marks, letters and line breaks."""
    draw = random.Random(1)  # noqa: S311 - a seeded sample
    signs = "\"“”«»„'\u2018\u2019ab \n"
    for _ in range(3000):
        text = "".join(draw.choices(signs, k=draw.randrange(30)))
        spans = list(quotations(text, PAIRS, "'\u2018"))
        assert spans == [match.span() for match in PATTERN.finditer(text)], text
        for place in range(len(text)):
            inside = [one for one in spans if one[0] <= place < one[1]]
            assert span_at(spans, place) == (inside[0] if inside else None)


@pytest.mark.parametrize("unit", ["„", "“", "«", "\u2018", "\n", " ", "1 , ", "a ", "[1", "*_"])
def test_long_replies_are_read_in_linear_time(unit: str) -> None:
    """Each parser reads 50,000 characters; a quadratic one would need minutes."""
    text = unit * (LONG // len(unit))
    for schema in (Rating(1, 10), Choice(), Listing(), Numbered(2)):
        # Most of the replies have no verdict; a list of one long text is one.
        with contextlib.suppress(Unreadable):
            schema.read(f"{text}\x01")
    assert read_order(f"[{'1 , ' * 5000}x\n{text}z\n[2] > [1]", 2).places == [1, 0]
    assert obeys(f"{text} KOR", "KOR", [])
    assert without_echo(f"{text}is it a red one?x", "is it a red one?").endswith("x")
    with pytest.raises(ConfigError, match="is not a rule"):
        Correctness.parse(f"a{text}< x")


def test_many_verdicts_in_a_reply_are_read_in_linear_time() -> None:
    """Quotations and material are looked at once, not again for each verdict."""
    assert Rating(1, 10).read('Rating: 5. "x" ' * 2500 + "No, rather this one. Rating: 7.") == 7
    assert Rating(1, 10).read("Rating: 5/" + "1" * 9 + ".\nIn short, I say Rating: 7.") == 7
    with pytest.raises(ValueError, match="not on the scale"):
        Rating(1, 10).read("Rating: 5/" + "1" * 9000)


def test_long_words_of_data_are_searched_in_linear_time() -> None:
    """Addresses and names of steps."""
    assert not _ADDRESS.search("a" * LONG)
    assert _ADDRESS.search("write to -jo.doe@example.org now")[0] == "jo.doe@example.org"  # type: ignore[index]
    assert not _NAME.search("x" * LONG)
