"""Results as runs of MLflow, in a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.made_results import made_results

from ragstone.core import limits
from ragstone.errors import ConfigError
from ragstone.results.trackers.base import open_tracker, track
from ragstone.results.trackers.tracked_run import TrackedRun

pytest.importorskip("mlflow", exc_type=ImportError)
pytest.importorskip("sqlalchemy")
pytestmark = pytest.mark.filterwarnings("ignore")
"""Those of MLflow's own use of SQLAlchemy."""


def test_a_rerun_writes_the_same_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parameters, numbers and files are there, and equal results have one run."""
    monkeypatch.chdir(tmp_path)
    address = f"sqlite:///{tmp_path / 'runs.db'}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    from mlflow import MlflowClient

    results = made_results(tmp_path / "store")
    monkeypatch.setattr(limits, "TRACKED_BATCH", 7)
    for _ in range(2):
        (line,) = track(open_tracker("mlflow"), [results])
    assert address in line

    client = MlflowClient(tracking_uri=address)
    experiment = client.get_experiment_by_name("made")
    assert experiment is not None
    (run,) = client.search_runs([experiment.experiment_id])
    assert run.data.params["correct"] == "Match"
    assert run.data.metrics["bm25_small/none/Match/n"] > 0
    assert {one.path for one in client.list_artifacts(run.info.run_id)} == {
        "passport.json",
        "report.html",
    }
    assert run.info.status == "FINISHED"


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an error before anything is spent, without the password in the address."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://me:secret@127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")

    with pytest.raises(ConfigError, match=r"cannot be reached at http://127\.0\.0\.1:9") as found:
        open_tracker("mlflow")
    assert "secret" not in f"{found.value}{found.value.__cause__}"


@pytest.mark.parametrize(
    ("address", "named"),
    [
        ("http://[bad", "http://[bad;"),
        ("nothing://me:secret@here", "nothing://here;"),
        ("mysql://me:secret@here/db", "mysql://here/db (No module named"),
        ("no address", "no address;"),
    ],
)
def test_an_address_of_no_server_is_named(
    monkeypatch: pytest.MonkeyPatch, address: str, named: str
) -> None:
    """Whatever MLflow or its database raises, the error is one of Ragstone."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)

    with pytest.raises(ConfigError) as found:
        open_tracker("mlflow")

    assert f"MLflow cannot be reached at {named}" in str(found.value)
    assert "secret" not in str(found.value)


def test_a_run_that_is_not_kept_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says where the results are; no exception of MLflow reaches the user."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'runs.db'}")
    tracker = open_tracker("mlflow")
    run = TrackedRun("made", "one", "key", {"a": "b"}, {}, (tmp_path / "no-file",))

    with pytest.raises(ConfigError, match=r"kept no whole run at sqlite.* in the store") as found:
        tracker.log(run)

    assert found.value.__cause__ is None
