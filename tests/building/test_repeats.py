"""Repetitions among queries; `test_generate_bad_input.py` has those of a whole run."""

from __future__ import annotations

from ragstone.building.draft import Draft
from ragstone.building.repeats import reject_repeats


def test_turns_are_compared_in_their_self_contained_form() -> None:
    """Two turns with the same words are different questions; two rewrites are not."""
    drafts = [
        Draft("multi-turn", "multi_turn", (), question="And when?", rewrite=rewrite, answer=answer)
        for rewrite, answer in (
            ("When did the mill open?", "1712"),
            ("When did the bridge over the river open?", "1840"),
            ("When did the mill open", "in 1712"),
        )
    ]
    reject_repeats(drafts)
    assert [bool(draft.reason) for draft in drafts] == [False, False, True]
    assert drafts[2].reason == f"repeats the question of {drafts[0].item_id}"
