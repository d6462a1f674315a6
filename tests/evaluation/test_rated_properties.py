"""People's ratings: published agreement, means and win rates by hand, files that disagree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.cli.data import command
from ragstone.data.readers.rated_layouts import read_rated
from ragstone.data.readers.rating_scales import RatingScale
from ragstone.data.readers.ratings import HumanRating, RatedItem
from ragstone.errors import ConfigError, DatasetError
from ragstone.evaluation.rated_properties import preferences, rated_properties, together

MTRAG = "human_evaluations/reference_subset_with_human_evaluations.json.gz"


def test_the_published_agreement_of_mtrag(shared_data: Callable[[str], Path]) -> None:
    """Krippendorff's alpha of its four properties (appendix E), over 477 answers."""
    found = rated_properties(read_rated(shared_data("mtrag") / MTRAG).ratings)

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
    again = CliRunner().invoke(command, ["ratings", str(one), str(write(two, row))])
    assert isinstance(again.exception, DatasetError)
    assert "two.jsonl, line 1: a second rating" in str(again.exception)
    assert "one.jsonl, line 1" in str(again.exception)


def test_words_with_an_order_have_means() -> None:
    """The place of the word in the scale, from 0 to 1."""
    given = [rating("a", word, word, system="s") for word in ("no", "partly", "yes")]
    scale = RatingScale.parse("no,partly,yes")

    (found,) = rated_properties(given, scales={"p": scale}).values()

    assert (found.level, found.systems["s"].mean) == ("nominal", 0.5)


def test_who_was_preferred() -> None:
    """Rated pairs, numbers of pairs, and numbers of one rater for two systems."""
    pair = RatedItem("q", "s", against="t")
    numbers = [HumanRating(pair, "p", rater, value) for rater, value in (("a", 2), ("b", -1))]
    single = [rating("c", 4, system="s"), rating("c", 4, system="t"), rating("c", 1, system="u")]

    assert [one.winner for one in preferences(numbers)] == ["s", "t"]
    assert [one.winner for one in preferences(single)] == ["", "s", "t"]
    found = rated_properties(single)["p"].win_rates
    assert {name: one.mean for name, one in found.items()} == {"s": 0.75, "t": 0.75, "u": 0}


def test_settings_of_a_system_are_apart() -> None:
    """The setting is part of the name if several are rated."""
    given = [rating("a", v, system="s", setting=n) for v, n in ((1, "none"), (3, "gold"))]

    found = rated_properties(given)["p"].systems

    assert {name: one.mean for name, one in found.items()} == {"s (none)": 1, "s (gold)": 3}


def test_all_is_the_harmonic_mean_per_answer() -> None:
    """An answer without one of the properties is not applicable; texts are refused."""

    def of(name: str, value: float | str, query: str = "q") -> HumanRating:
        return HumanRating(RatedItem(query, "s"), name, "a", value)

    given = [of("f", 2), of("c", 4), of("f", 3, "r")]
    names, means = together(given, ["f", "c"])

    assert names == ("f", "c")
    assert means["s"].mean == pytest.approx(8 / 3)
    assert (means["s"].n, means["s"].not_applicable) == (1, 1)
    assert together(given) == ((), {})
    with pytest.raises(ConfigError, match=r"did you mean 'f'|no ratings of the property 'g'"):
        together(given, ["g"])
    with pytest.raises(ConfigError, match="'good' of 'f' has no harmonic mean"):
        together([of("f", "good")], ["f"])
