"""The systems of a setting with people's labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.fakes.made_results import made_results

from ragstone.data.readers.ratings import Inclusion
from ragstone.results.corrected_setting import CorrectedSetting


def test_columns_follow_the_queries(tmp_path: Path) -> None:
    """Values, labels and probabilities of a query are in one place for every system."""
    results = made_results(tmp_path, queries=30)
    first, second = results.systems
    labels = {(first, "gold"): {"q002": 1.0, "absent": 0.0}}
    inclusions = {(first, "gold"): {"q002": Inclusion(0.25, 2)}}

    found = CorrectedSetting.read(
        results, "Match", "gold", labels, inclusions=inclusions, strata=None
    )

    place = found.query_ids.index("q002")
    one = found.graded[first]
    assert (one.human[place], one.drawn[place]) == (1.0, 0.25)
    assert np.isnan(found.graded[second].human).all()
    assert found.other_queries == {first: 1, second: 0}
    assert not found.at_random
    assert set(found.among([second]).graded) == {second}


def test_a_selected_sample_is_named(tmp_path: Path) -> None:
    """If people labelled only the answers that the judge accepts, the judge's value differs."""
    results = made_results(tmp_path, queries=120)
    trials = [t for t in results.trials if t.setting == "gold"]
    right = [q for q in trials[0].predictions if all(t.values("Match")[q] == 1 for t in trials)]
    labels = {(t.system, "gold"): dict.fromkeys(right[:25], 1.0) for t in trials}

    found = CorrectedSetting.read(results, "Match", "gold", labels, inclusions=None, strata=None)

    different = found.sample_differences()
    assert "judge's value" in {one.feature for one in different}
    assert "system" not in {one.feature for one in different}
