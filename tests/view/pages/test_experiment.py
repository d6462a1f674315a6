"""The page of one experiment: its boards are those of `show`, with links to its lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import pytest
from tests.fakes.faulty_system import faulty
from tests.fakes.made_results import made_results

from ragstone.errors import ConfigError
from ragstone.view.pages.experiment import EXPERIMENT
from ragstone.view.store_view import StoreView
from ragstone.web.page_query import PageQuery


def page(view: StoreView, name: str) -> dict[str, Any]:
    """Return the plain data of the page."""
    return EXPERIMENT.make(view, PageQuery(f"/experiment/{name}", {"name": name}))


def test_the_numbers_are_those_of_show(tmp_path: Path) -> None:
    """Every mean has its n, its failures and its interval; the best rank is first."""
    results = faulty(tmp_path)
    found = page(StoreView(tmp_path / "store"), "e")
    boards = {one["setting"]: one for one in found["boards"]}
    assert list(boards) == [*results.settings, ""]
    for cell in results.answer_cells:
        (row,) = [r for r in boards[cell.setting]["rows"] if r["system"] == cell.system]
        shown, summary = row["cells"][cell.metric], cell.summary
        assert (shown["mean"], shown["n"], shown["failed"]) == (
            summary.mean,
            summary.n,
            summary.failed,
        )
        assert shown["interval"] == summary.interval
    for board in boards.values():
        ranks = [row["rank"][0] for row in board["rows"] if row["rank"]]
        assert ranks == sorted(ranks)
    row = boards["retrieved(3)"]["rows"][0]
    where = f"experiment=e&system={row['system']}&setting=retrieved(3)"
    assert unquote_plus(row["queries"]) == f"/queries?{where}"
    assert unquote_plus(row["wrong"]) == f"/queries?{where}&right=no"
    assert unquote_plus(row["causes"]) == f"/causes?{where}"
    assert boards[""]["rows"][0]["queries"] == ""
    assert any("the server is down" in one for one in found["warnings"])


def test_an_experiment_that_runs_or_does_not_exist(tmp_path: Path) -> None:
    """Partial results are said to be partial; the nearest name is named."""
    made_results(tmp_path / "store", finished=False)
    view = StoreView(tmp_path / "store")
    assert page(view, "made")["finished"] is None
    with pytest.raises(ConfigError, match="did you mean 'made'"):
        page(view, "mede")
