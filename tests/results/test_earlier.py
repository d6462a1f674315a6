"""Earlier records: kept when they are replaced, found by date, and bounded in number."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from arro3.core import Table
from tests.fakes.made_results import made_results

from ragstone.core import limits
from ragstone.core.schemas import SEARCHES, to_table
from ragstone.core.store import Store
from ragstone.core.store_check import check_store
from ragstone.core.store_contents import StoreContents
from ragstone.errors import StoreError
from ragstone.results.earlier import declared_release, finished_records, keep_earlier, record_at
from ragstone.results.record import Record

SYSTEM = "bm25 + small"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return a store with runs of three days; the second and the last one have a release."""
    results = made_results(tmp_path / "store", settings=["none"])
    for day, release in enumerate((None, "v1"), start=1):
        keep_earlier(results.store, _of(results.record, day, release))
    _of(results.record, 3, "v2").save(results.store)
    return results.store


def _of(record: Record, day: int, release: str | None) -> Record:
    systems = [{"name": one.name, "release": release} for one in record.systems]
    finished = f"2026-03-0{day}T10:00:00+00:00"
    return replace(record, finished=finished, file={**record.file, "systems": systems})


def test_a_date_or_a_release_names_a_run(store: Store) -> None:
    """A time may be shortened; the release may be that of a system."""
    assert [(r.finished or "")[:10] for r in finished_records(store, "made")] == [
        f"2026-03-0{day}" for day in (1, 2, 3)
    ]
    assert record_at(store, "made", "2026-03-01").finished == "2026-03-01T10:00:00+00:00"
    assert record_at(store, "made", "2026-03-02 10:00").finished == "2026-03-02T10:00:00+00:00"
    assert record_at(store, "made", "v1", SYSTEM).finished == "2026-03-02T10:00:00+00:00"
    assert record_at(store, "made", "v2") == Record.load(store, "made")


@pytest.mark.parametrize(
    "entry",
    [
        {"generator": {"name": "callable", "function": "a.py:f", "release": "v9"}},
        {"generator": "callable(a.py:f, release=v9)", "retriever": "bm25", "release": None},
        {"retriever": {"name": "elasticsearch", "index": "wiki", "release": "v9"}},
        {"generator": "callable(a.py:f)", "release": "v9"},
    ],
)
def test_a_release_may_stand_in_a_part_of_the_system(entry: dict[str, Any]) -> None:
    """An index has its release in the retriever, for example."""
    assert declared_release(entry) == "v9"
    assert declared_release({"generator": "small", "retriever": None}) is None


def test_what_does_not_exist_is_answered_with_what_does(store: Store) -> None:
    """The last runs come first."""
    for when, system in (("2025-01-01", ""), ("v1", "another"), ("", "")):
        with pytest.raises(StoreError, match=r"it has 2026-03-03 10:00.*, 2026-03-01 10:00"):
            record_at(store, "made", when, system)


def test_several_runs_of_a_date_are_told(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    """The last one counts."""
    assert record_at(store, "made", "2026-03").finished == "2026-03-03T10:00:00+00:00"
    assert "3 runs of made are of 2026-03; the last one is used: 2026-03-03T10" in caplog.text


def test_a_damaged_earlier_record_is_left_out(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """A notice names its file, and `store check` finds it."""
    path = next((store.root / "history").glob("made@2026-03-01*"))
    path.write_text(path.read_text().replace("2026-03-01", "2026-03-09"))

    assert len(finished_records(store, "made")) == 2
    assert f"{path} is damaged" in caplog.text
    assert check_store(store).damaged[0].path.startswith("history/made@")


def test_steps_of_earlier_records_are_no_orphans(store: Store) -> None:
    """A step that a record of the past needs stays; if it is lost, the check tells it."""
    lost = store.keep("texts", store_table())
    record = replace(Record.load(store, "made"), finished="2026-02-01T10:00:00+00:00")
    assert lost.folder is not None
    keep_earlier(store, replace(record, tables=replace(record.tables, texts=lost.folder.name)))

    contents = StoreContents.of(store)
    assert lost.folder.name not in {Path(one.path).name for one in contents.orphans}
    assert contents.experiments[0].earlier == 3

    lost.folder.rename(store.root / "elsewhere")
    damage = {one.path: one.what for one in check_store(store).damaged}
    assert "the earlier record 'made@2026-02-01" in damage[f"steps/{lost.folder.name}"]


def store_table() -> Table:
    """Return a table that no record names."""
    return to_table(SEARCHES, {"query_id": ["only"], "text": ["here"]})


def test_the_oldest_records_go_first(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """`limits.MAX_EARLIER_RECORDS` are kept."""
    monkeypatch.setattr(limits, "MAX_EARLIER_RECORDS", 2)

    keep_earlier(store, replace(Record.load(store, "made"), finished="2026-03-04T10:00:00+00:00"))

    kept = [(record.finished or "")[:10] for record in finished_records(store, "made")]
    assert kept == ["2026-03-02", "2026-03-03", "2026-03-04"]
