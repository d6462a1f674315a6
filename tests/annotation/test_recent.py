"""Values that are known for a short time."""

from __future__ import annotations

from ragstone.annotation.recent import Recent


def test_values_are_forgotten_by_age_number_and_on_demand() -> None:
    """By a clock that the test moves."""
    now = [0.0]
    recent = Recent[str, int](2, 5.0, lambda: now[0])
    recent.put("a", 1)
    now[0] = 4.0
    recent.put("b", 2)
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == (1, 2, None)

    now[0] = 6.0
    assert (recent.get("a"), recent.get("b")) == (None, 2)
    recent.put("c", 3)
    recent.put("d", 4)
    assert [recent.get(key) for key in "abcd"] == [None, None, 3, 4]

    recent.clear()
    assert recent.get("d") is None
