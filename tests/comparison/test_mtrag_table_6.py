"""mtRAG's Table 6, its automatic columns, from the released values on the answerable tasks."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.evaluation.human_grades import read_human_set

PUBLISHED = {
    "RL_F": (0.86, 0.80, 0.78),
    "RB_llm": (0.97, 0.80, 0.78),
    "RB_agg": (0.87, 0.46, 0.49),
}
SYSTEMS = ("reference", "gpt-4o", "llama-3.1-405b-instruct")


@pytest.mark.parametrize("metric", PUBLISHED)
def test_the_automatic_columns_come_out(shared_data: Callable[[str], Path], metric: str) -> None:
    """Means over the 135 answerable tasks, to the two decimals that the paper prints."""
    held = read_human_set(str(shared_data("mtrag")), rating="faithfulness")
    rows = [
        (one.system, value)
        for one, value in zip(held.items, held.values[metric], strict=True)
        if one.item.query.labels["answerability"] == "answerable"
    ]

    for system, published in zip(SYSTEMS, PUBLISHED[metric], strict=True):
        values = [value for name, value in rows if name == system and value is not None]
        assert len(values) == 135
        assert statistics.fmean(values) == pytest.approx(published, abs=0.0055)
