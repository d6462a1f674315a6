"""`ragstone data critique`: the queries of a data set are rated, filtered and reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.cli.data import command
from ragstone.data.load import load_dataset
from ragstone.errors import ConfigError
from ragstone.testing import FakeModelServer


def _rating(messages: Any) -> str:
    """Give some questions a low rating for `stand_alone`, and an unreadable one for usefulness."""
    text = "\n".join(message["content"] for message in messages)
    if "of how much use is its answer" in text:
        return "I would rather not say."
    return f"Rating: [[{2 if 'sees nothing else' in text and len(text) % 2 else 4}]]"


def test_queries_below_a_threshold_are_left_out_with_the_reason(tmp_path: Path) -> None:
    """The file has a line per query; an unreadable rating rejects nothing."""
    out, kept = tmp_path / "ratings.jsonl", tmp_path / "kept"
    with FakeModelServer(answer=_rating) as server:
        arguments = [
            *("critique", "sample", "-o", str(out), "--limit", "12", "--kept", str(kept)),
            *("--threshold", "stand_alone=3,question_useful=5"),
            *("--model", f"chat(model=fake, base_url={server.url})"),
            *("--calls", str(tmp_path / "calls.sqlite")),
        ]
        done = CliRunner().invoke(command, arguments)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    rejected = [row for row in rows if not row["kept"]]

    assert done.exit_code == 0, done.output
    assert len(rows) == 12
    assert 0 < len(rejected) < 12
    assert {row["reason"] for row in rejected} == {"critique: stand_alone 2 below 3"}
    assert all("question_useful" not in row["ratings"] for row in rows)
    assert all("question_useful: " in row["notes"] for row in rows)
    assert len(load_dataset(str(kept)).queries) == 12 - len(rejected)
    kept_count = f"{12 - len(rejected)} of 12 queries kept"
    assert f"{kept_count}; 12 have an unreadable rating" in done.output


def test_an_unknown_critique_is_refused_before_any_call(tmp_path: Path) -> None:
    """The message has the nearest name."""
    done = CliRunner().invoke(
        command, ["critique", "sample", "-o", str(tmp_path / "x"), "--threshold", "standalone=3"]
    )

    assert isinstance(done.exception, ConfigError)
    with pytest.raises(ConfigError, match="did you mean 'stand_alone'"):
        raise done.exception
