"""Kept calls about secret queries."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.fakes.canary_store import canary_experiment

from ragstone.calls.log_queries import Filter, export
from ragstone.cli.calls import command
from ragstone.errors import ConfigError
from ragstone.results.secret_calls import is_secret_call, secret_texts


def test_calls_about_secret_queries_are_not_shown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the prompts of systems nor those of judges; their number is given."""
    results = canary_experiment(tmp_path, share="30%")
    texts, log = secret_texts(results.store), tmp_path / "store" / "calls.sqlite"
    assert len(texts) == len(results.secret_queries)
    calls = list(export(log, Filter()))
    secret = [one for one in calls if is_secret_call(one, texts)]
    assert 0 < len(secret) < len(calls)

    found = CliRunner().invoke(command, ["export", str(log.parent)])
    kept = [json.loads(line)["key"] for line in found.stdout.splitlines()]
    assert kept == [one["key"] for one in calls if one not in secret]
    assert f"{len(secret)} calls about secret queries or nuggets are left out" in found.stderr
    shown = CliRunner().invoke(command, ["show", str(log), secret[0]["key"]])
    assert isinstance(shown.exception, ConfigError)
    assert "contains a secret query" in str(shown.exception)
    assert CliRunner().invoke(command, ["show", str(log), kept[0]]).exit_code == 0

    (tmp_path / "store" / "experiments" / "broken.json").write_text("{")
    with caplog.at_level(logging.WARNING):
        assert secret_texts(results.store) == texts
    assert "secrets of broken are not known" in caplog.text
