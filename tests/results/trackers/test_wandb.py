"""Results as runs of Weights & Biases, in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.made_results import made_results

from ragstone.core import limits
from ragstone.errors import ConfigError
from ragstone.results.trackers.base import open_tracker, track

pytest.importorskip("wandb")


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
