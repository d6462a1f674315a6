"""Whether labelled items differ from the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ragstone.errors import DatasetError
from ragstone.statistics.labelled_sample import sample_differences

CHOSEN = [True] * 40 + [False] * 160


def test_a_selected_label_and_a_selected_number_are_named() -> None:
    """The figures of both sides are in the text; a feature that does not differ is not named."""
    generator = np.random.default_rng(0)
    features: dict[str, Any] = {
        "kind": ["long"] * 30 + ["short"] * 100 + ["mid"] * 30 + ["long"] * 40,
        "words": generator.normal(np.where(CHOSEN, 30, 20), 5).tolist(),
        "domain": generator.choice(["a", "b", "c"], 200).tolist(),
    }

    found = sample_differences(CHOSEN, features)

    assert {one.feature for one in found} == {"kind", "words"}
    assert any("75 % of the 40 labelled items, 25 % of the 160 others" in one.text for one in found)


def test_random_samples_are_rarely_called_different() -> None:
    """At most 4 of 30 random samples give a warning, over five features together."""
    found = 0
    for seed in range(30):
        generator = np.random.default_rng(seed)
        features = {str(n): generator.normal(size=100).tolist() for n in range(4)}
        labelled = (generator.permutation(100) < 20).tolist()
        found += bool(sample_differences(labelled, features, seed=seed))

    assert found <= 4


def test_what_cannot_differ_is_left_out() -> None:
    """Equal values, many different texts, and no unlabelled item."""
    texts = [str(n) for n in range(200)]

    assert sample_differences(CHOSEN, {"id": texts, "same": ["x"] * 200}) == []
    assert sample_differences([True] * 3, {"kind": ["a", "b", "b"]}) == []
    with pytest.raises(DatasetError, match="200 items, but 2 values of 'kind'"):
        sample_differences(CHOSEN, {"kind": ["a", "b"]})
