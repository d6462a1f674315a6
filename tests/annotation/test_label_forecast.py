"""Labels that a wanted interval still needs, from the labels of a project and its suggestions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.fakes.labelled_project import made_site, plain_items
from tests.fakes.mirage_labels import mirage_items, mirage_site, mirage_table

from ragstone.annotation.label_columns import label_columns
from ragstone.annotation.label_forecast import QuestionForecast, forecasts
from ragstone.annotation.site import Site
from ragstone.statistics.labels_needed import labels_needed


def forecast(site: Site, wanted: float = 0.05) -> QuestionForecast:
    """Return the forecast of a project with one labelled question."""
    (found,) = forecasts(label_columns(site), site.project.scheme, wanted)
    return found


def test_the_share_of_a_word_as_computed_by_the_statistics(tmp_path: Path) -> None:
    """People's mean per item, the model's labels of all items, clusters of a query."""
    table, items = mirage_table(), mirage_items()
    with mirage_site(tmp_path / "p", done=0.4) as site:
        found = forecast(site)
    no = (table == 1).astype(float)
    human = np.where(np.arange(500) < 200, no[1:].mean(axis=0), np.nan)
    wanted = labels_needed(human, 0.05, model=no[0], clusters=[one["query_id"] for one in items])
    assert found.needed.alone is not None
    assert wanted.alone is not None
    assert (found.needed.labelled, found.needed.items) == (200, 500)
    assert found.needed.alone.half_width == pytest.approx(wanted.alone.half_width, abs=1e-12)
    assert found.needed.alone.more == wanted.alone.more
    assert found.needed.with_model == wanted.with_model
    assert found.needed.with_model is not None
    assert found.needed.with_model.half_width < found.needed.alone.half_width


def test_the_mean_of_a_scale_runs_from_0_to_1(tmp_path: Path) -> None:
    """Points 1 to 4 are 0, 1/3, 2/3 and 1; other values are left out."""
    items = [{**one, "answers": [{"system": "a", "answer": "At six."}]} for one in plain_items(40)]
    with made_site(tmp_path / "p", items, task="ratings") as (site, give):
        for place in range(20):
            give("ann", f"q{place}", 1 + place % 4, "faithfulness", "a")
        give("ann", "q20", "nonsense", "faithfulness", "a")
        found = forecast(site)
    human = np.array([*(place % 4 / 3 for place in range(20)), *[np.nan] * 20])
    names = [f"q{place}" for place in range(40)]
    assert found.value == ""
    assert found.needed == labels_needed(human, 0.05, clusters=names)


def test_few_labels_and_items_without_suggestions(tmp_path: Path) -> None:
    """The number of labels that are missing; no figure with a model that labelled some items."""
    items = plain_items(30)
    items[0]["suggested"] = {"support": "yes"}
    with made_site(tmp_path / "p", items) as (site, give):
        give("ann", "q0", "yes")
        assert forecast(site).needed.missing == 9
        for place in range(1, 12):
            give("ann", f"q{place}", ("yes", "no")[place % 2])
        found = forecast(site).needed
    assert found.missing == 0
    assert found.with_model is None
    assert found.alone is not None


def test_statements_and_questions_without_labels_have_no_forecast(tmp_path: Path) -> None:
    """The importance of a labelled statement has a forecast, the list of statements has none."""
    items = [{"item_id": "q0", "query": "When?", "answers": [{"system": "a", "answer": "At six."}]}]
    with made_site(tmp_path / "p", items, task="nuggets") as (site, give):
        give("ann", "q0", [{"id": "n1", "text": "At six."}], "nugget")
        scheme = site.project.scheme
        assert forecasts(label_columns(site), scheme, 0.05) == ()

        give("ann", "q0", "vital", "importance", "n1")

        assert [one.question for one in forecasts(label_columns(site), scheme, 0.05)] == [
            "importance"
        ]
