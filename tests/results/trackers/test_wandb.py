"""Results as runs of Weights & Biases, in a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.fakes.made_results import made_results

from ragstone.core import limits
from ragstone.core.redaction import known
from ragstone.errors import ConfigError
from ragstone.results.trackers.base import open_tracker, track
from ragstone.results.trackers.wandb import WeightsAndBiases

wandb = pytest.importorskip("wandb")


@pytest.fixture(autouse=True)
def _new_settings() -> None:
    """Let wandb read the environment of each test."""
    wandb.teardown()


def test_offline_runs_are_kept_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing leaves the machine; the folder has the numbers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    results = made_results(tmp_path / "store")

    (line,) = track(open_tracker("wandb"), [results])

    (kept,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    assert str(kept.parent) in line
    assert b"bm25_small/none/Match/low" in kept.read_bytes()


def test_without_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an error before anything is spent."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / "none"))
    monkeypatch.setenv("WANDB_MODE", "online")
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.setattr(limits, "TRACKER_SECONDS", 1)

    with pytest.raises(ConfigError, match="WANDB_MODE=offline"):
        open_tracker("wandb")


def test_references_in_the_address_and_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The values are settings of wandb alone, and no file of the run has them."""
    monkeypatch.chdir(tmp_path)
    key, password = "k7" * 20, "pass-of-the-tracker"
    (tmp_path / "key.txt").write_text(key)
    for name, value in {
        "WANDB_MODE": "offline",
        "WANDB_DIR": str(tmp_path),
        "WANDB_DATA_DIR": str(tmp_path),
        "WANDB_CACHE_DIR": str(tmp_path),
        "WANDB_BASE_URL": "https://me:{env:TRACKER_PASSWORD}@tracker.example",
        "WANDB_API_KEY": "{file:key.txt}",
        "TRACKER_PASSWORD": password,
    }.items():
        monkeypatch.setenv(name, value)
    tracker = WeightsAndBiases()
    assert tracker.settings.base_url == f"https://me:{password}@tracker.example"
    assert tracker.settings.api_key == key
    assert "WANDB_BASE_URL" not in os.environ
    assert {key, password} <= set(known())

    (line,) = track(tracker, [made_results(tmp_path / "store")])
    assert password not in line
    files = [one for one in tmp_path.rglob("*") if one.is_file() and one.name != "key.txt"]
    assert any(one.suffix == ".wandb" for one in files)
    for one in files:
        assert key.encode() not in one.read_bytes(), one
        assert password.encode() not in one.read_bytes(), one


def test_a_reference_without_a_value_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an error before anything is spent."""
    monkeypatch.setenv("WANDB_API_KEY", "{env:NO_KEY_OF_A_TRACKER}")
    with pytest.raises(ConfigError, match="WANDB_API_KEY is read from the environment variable"):
        WeightsAndBiases()
