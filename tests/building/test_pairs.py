"""Questions with answers from replies, and whether both passages are needed."""

from __future__ import annotations

import pytest

from ragstone.building.draft import Draft
from ragstone.building.pairs import check_both_needed, take_pair
from ragstone.building.reply_parsing import Rejected
from ragstone.types import Passage

ONE, OTHER = Passage("a", "The Ardent Bell is red."), Passage("b", "The Ardent Bell weighs a ton.")


def pair() -> Draft:
    """Return a draft about two passages."""
    return Draft("multi-hop", "multi_hop", (ONE, OTHER), labels={"link": "Ardent Bell"})


def test_a_pair_is_read_and_must_be_grounded() -> None:
    """An answer of other words is rejected."""
    draft = pair()
    take_pair(draft, '{"question": "What colour is it?", "answer": "red"}', "")
    assert draft.answer == "red"
    with pytest.raises(Rejected, match="less than 50%"):
        take_pair(draft, '{"question": "What colour is it?", "answer": "green paint"}', "")


def test_both_passages_must_be_used() -> None:
    """A text with words of one passage alone names the other in its reason."""
    check_both_needed(pair(), "Is the red Ardent Bell one that weighs a ton?")
    with pytest.raises(Rejected, match="one passage is enough: nothing in it is from b alone"):
        check_both_needed(pair(), "Is the Ardent Bell red?")
