"""`ragstone data ratings`: labels of a data set, choices, the page, and bad arguments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ragstone.cli.data import command
from ragstone.data.load import load_dataset


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    """Return ratings of two systems' answers to the sample's queries, and one of another query."""
    ids = [query.query_id for query in load_dataset("sample").queries][::6][:20]
    rows: list[dict[str, Any]] = [
        {
            "query_id": q,
            "system": s,
            "rater": r,
            "property": "helpfulness",
            "value": 1 + (n + k) % 5,
        }
        for n, q in enumerate([*ids, "elsewhere"])
        for k, s in enumerate(("s", "t"))
        for r in ("ann", "ben")
    ]
    path = tmp_path / "ratings.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def run(*arguments: object) -> Result:
    """Run the command."""
    return CliRunner().invoke(command, ["ratings", *map(str, arguments)])


def test_labels_of_a_data_set(ratings: Path, tmp_path: Path) -> None:
    """Tables by a label, a choice by it, and a page that is written beside."""
    page = tmp_path / "page.html"
    found = run(ratings, "--data", "sample", "--by", "domain", "--html", page, "--json")

    document = json.loads(found.stdout)
    assert document["other_queries"] == 4
    values = document["by"]["values"]
    assert len(values) > 1
    assert sum(of["properties"]["helpfulness"]["n"] for of in values.values()) == 40
    assert "Ratings of ratings.jsonl" in page.read_text(encoding="utf-8")
    chosen = json.loads(
        run(ratings, "--data", "sample", "--where", f"domain={next(iter(values))}", "--json").stdout
    )
    assert chosen["properties"] == next(iter(values.values()))["properties"]


def test_bad_arguments_are_named(ratings: Path, tmp_path: Path) -> None:
    """Before anything is computed."""
    cases = {
        ("--property", "helpfulnes"): "did you mean 'helpfulness'",
        ("--all", "fluency"): "no ratings of the property 'fluency'",
        ("--scale", "1-4"): "ratings.jsonl, line 15: the value 5",
        ("--scale", "4-1"): "neither a range of numbers",
        ("--where", "kind"): "expected AXIS=VALUE",
        ("--where", "kind=x"): "give the data set with --data",
        ("--html", str(tmp_path / "page.pdf")): "the page is an .html file",
    }
    for options, problem in cases.items():
        assert problem in str(run(ratings, *options).exception), options
    assert "nowhere.jsonl: no such file" in str(run(tmp_path / "nowhere.jsonl").exception)


def test_text_has_all_tables(ratings: Path) -> None:
    """Agreement, systems, win rates, pairs of raters."""
    shown = run(ratings, "--all", "helpfulness", "--combine", "mean").output

    for title in ("Agreement of the raters", "Systems", "Win rates", "Pairs of raters"):
        assert title in shown
    assert "All: harmonic mean of each rater's helpfulness" in shown
