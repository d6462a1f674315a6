"""What `ragstone compare` says of secret queries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.fakes.canary_store import canary_experiment

from ragstone.cli.compare import command
from ragstone.errors import ConfigError
from ragstone.experiment.score_sources import read_sources
from ragstone.experiment.secret_sources import SecretShares

OWN: dict[str, Any] = {"systems": {"own": {"retriever": "bm25", "generator": "gold"}}, "judges": []}


def test_only_the_open_queries_of_both_are_compared(tmp_path: Path) -> None:
    """A source without a share is compared on the open queries of the other; --reveal has all."""
    hidden = canary_experiment(tmp_path, "hidden", share="30%", **OWN)
    canary_experiment(tmp_path, "plain", **OWN)
    written = [f"{tmp_path / name}.yaml:own:gold" for name in ("hidden", "plain")]
    count = len(hidden.queries)

    found = json.loads(CliRunner().invoke(command, [*written, "--json"]).stdout)
    assert {one["n"] for one in found["metrics"].values()} == {count}
    (facts,) = found["secret"].values()
    assert (facts["queries"], facts["shown"]) == (40 - count, False)
    texts = CliRunner().invoke(command, [*written, "--markdown", str(tmp_path / "c.md")]).stdout
    assert f"{40 - count} queries are secret and in no figure" in texts
    assert "queries are secret" in (tmp_path / "c.md").read_text()

    page = tmp_path / "c.html"
    shown = CliRunner().invoke(command, [*written, "--reveal", "--html", str(page), "--json"])
    document = json.loads(shown.stdout)
    assert {one["n"] for one in document["metrics"].values()} == {40}
    (facts,) = document["secret"].values()
    assert facts["sentence"] == "The secret share is not shown to differ (Match)."
    assert "not shown to differ (Match)" in page.read_text()

    shares = SecretShares(read_sources(written, reveal=True))
    (part,) = shares.parts()
    assert ": Open and secret queries (mean [interval])" in str(part)
    with pytest.raises(ConfigError, match="no source is an experiment with secret queries"):
        CliRunner().invoke(
            command, [written[1], f"{written[1][:-4]}none", "--reveal"], catch_exceptions=False
        )
