"""`ragstone show --languages`."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner
from tests.fakes.parallel_set import records, run

from ragstone.cli.show import command
from ragstone.errors import ConfigError
from ragstone.results.languages import language_tables, retrieved_languages
from ragstone.results.parallel import parallel_agreement, parallel_tables


def test_text_and_json_have_the_rows(tmp_path: Path) -> None:
    """Retrieved languages, bias, answers and passages; numbers unrounded in JSON."""
    results = run(tmp_path)
    rows, parallel = retrieved_languages(results), parallel_agreement(results)
    arguments = [str(tmp_path / "e.yaml"), "--languages"]
    text = CliRunner().invoke(command, arguments).stdout
    document = json.loads(CliRunner().invoke(command, [*arguments, "--json"]).stdout)

    for table in (*language_tables(rows), *parallel_tables(parallel)):
        assert str(table) in text
    assert document["retrieved"][0]["share"]["mean"] == rows[0].share.mean
    assert document["retrieved"][0]["bias"] == rows[0].to_dict()["bias"]
    assert [row["of"] for row in document["parallel"]] == [row.of for row in parallel]


def test_one_language_is_refused_with_the_way_out(tmp_path: Path) -> None:
    """The error names the labels."""
    run(tmp_path, records(("en",)))
    shown = CliRunner().invoke(command, [str(tmp_path / "e.yaml"), "--languages"])

    assert isinstance(shown.exception, ConfigError)
    assert "needs passages with the label 'language'" in str(shown.exception)
