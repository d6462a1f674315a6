"""People's ratings: published agreement, means and win rates by hand, files that disagree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.cli.data import command
from ragstone.data.readers.ratings import HumanRating, RatedItem
from ragstone.errors import DatasetError
from ragstone.evaluation.rated_properties import rated_properties, read_rating_files

MTRAG = "human_evaluations/reference_subset_with_human_evaluations.json.gz"


def test_the_published_agreement_of_mtrag(shared_data: Callable[[str], Path]) -> None:
    """Krippendorff's alpha of its four properties (appendix E), over 477 answers."""
    found = rated_properties(read_rating_files([shared_data("mtrag") / MTRAG]))

    alphas = {name: of.alpha.value for name, of in found.items()}
    expected = {
        "faithfulness": 0.55,
        "completeness": 0.39,
        "naturalness": 0.30,
        "appropriateness": 0.05,
    }
    assert {name: alphas[name] for name in expected} == pytest.approx(expected, abs=0.005)
    assert found["faithfulness"].n == 477
    assert found["faithfulness"].systems["reference"].n == 159


def rating(rater: str, value: float | str, query: str = "q", **item: str) -> HumanRating:
    """Return a rating of a property."""
    return HumanRating(RatedItem(query, **item), "p", rater, value)


def test_means_of_systems_by_hand() -> None:
    """The raters' values of an answer become one before the mean."""
    ratings = [
        *(rating(rater, value, system="s") for rater, value in zip("abc", (1, 2, 6), strict=True)),
        rating("a", 4, "r", system="s"),
        rating("a", 3, system="t"),
    ]

    by_median = rated_properties(ratings)["p"]
    by_mean = rated_properties(ratings, combine="mean")["p"]

    assert (by_median.n, by_median.ratings, by_median.raters) == (3, 5, ("a", "b", "c"))
    assert by_median.systems["s"].mean == 3
    assert by_mean.systems["s"].mean == 3.5
    assert by_median.systems["t"].n == 1
    assert {(one.a, one.b): one.kappa.n for one in by_median.pairwise}["a", "b"] == 1


def test_texts_are_nominal_and_pairs_give_win_rates() -> None:
    """A text has no mean; a tie is half a win for both."""
    texts = [rating(rater, "ranking", q, system="s") for rater in "ab" for q in "xyz"]
    named = rated_properties(texts)["p"]
    assert (named.level, named.systems, named.high) == ("nominal", {}, None)
    assert named.absolute.mean == 1

    pairs = [
        rating("a", "a", "x", system="s", against="t"),
        rating("a", "tie", "y", system="s", against="t"),
    ]
    rates = rated_properties(pairs)["p"].systems
    assert {system: of.mean for system, of in rates.items()} == {"s": 0.75, "t": 0.25}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    """Write ratings as JSON lines."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_the_command_and_two_files(tmp_path: Path) -> None:
    """The promised shape; a rating that two files have is an error with both names."""
    row = {"query_id": "q", "rater": "ann", "property": "fluency", "value": 4, "system": "s"}
    one = write(tmp_path / "one.jsonl", row)
    two = write(tmp_path / "two.jsonl", {**row, "rater": "ben", "value": 2})

    shown = CliRunner().invoke(command, ["ratings", str(one), str(two), "--json"])
    (found,) = json.loads(shown.stdout)["properties"].values()
    keys = ["n", "raters", "level", "alpha", "alpha_interval", "pairwise"]
    assert list(found)[:6] == keys
    assert found["systems"]["s"]["mean"] == 3
    assert found["pairwise"][0]["a"] == "ann"
    assert "Agreement of the raters" in CliRunner().invoke(command, ["ratings", str(one)]).stdout
    with pytest.raises(DatasetError, match=r"two.jsonl: a second rating.*one.jsonl"):
        read_rating_files([one, write(two, row)])
