"""The way of commands to models: replies are kept in the folder of the store."""

from __future__ import annotations

from pathlib import Path

from ragstone.cli.model_calls import open_services


def test_replies_are_kept_in_the_folder(tmp_path: Path) -> None:
    """The file of the replies is that of a store."""
    with open_services(tmp_path / "store", offline=True) as services:
        assert services.calls.log.path == tmp_path / "store" / "calls.sqlite"
