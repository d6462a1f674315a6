"""The form of people's ratings: every field, and lines that are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.data.readers.ratings import HumanRating, Inclusion, RatedItem, read_ratings
from ragstone.errors import DatasetError

ROW: dict[str, Any] = {"query_id": "q", "rater": "ann", "property": "fluency", "value": 4}


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    """Write ratings."""
    path = folder / "ratings.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_every_field_is_read(tmp_path: Path) -> None:
    """Those that are absent are empty."""
    pair = {**ROW, "system": "s", "setting": "gold", "against": "t", "value": "tie"}
    more = {"passage_id": "p", "part": "claim 1", "time": "2026-11-24", "shown": "never"}
    plain, full = read_ratings(written(tmp_path, ROW, {**pair, **more}))

    assert plain == HumanRating(RatedItem("q"), "fluency", "ann", 4, line=1)
    item = RatedItem("q", "s", "gold", "t", "p", "claim 1")
    assert full == HumanRating(item, "fluency", "ann", "tie", "2026-11-24", "never", line=2)


def test_one_property_can_be_chosen(tmp_path: Path) -> None:
    """An absent one is named with those that are there."""
    path = written(tmp_path, ROW, {**ROW, "property": "cause", "value": "ranking"})

    assert [one.value for one in read_ratings(path, "cause")] == ["ranking"]
    with pytest.raises(DatasetError, match="no ratings of the property 'x'; it has 'fluency'"):
        read_ratings(path, "x")
    with pytest.raises(DatasetError, match="has no ratings; it has no line"):
        read_ratings(written(tmp_path))


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"value": None}, "'value' must be a number or a text, found None"),
        ({"value": True}, "'value' must be a number or a text, found True"),
        ({"value": ""}, "'value' must be a number or a text"),
        ({"against": "t", "value": 1}, "must be a, b or tie, found 1"),
        ({"shown": "later"}, "before, after or never, found 'later'"),
        ({"system": 7}, "'system' must be a text, found 7"),
        ({"rater": None}, "rater"),
        ({"sytem": "s"}, "did you mean 'system'"),
        ({"inclusion_probability": 0}, "above 0 and at most 1, found 0"),
        ({"inclusion_probability": "half"}, "found 'half'"),
        ({"inclusion_probability": 0.5, "round": 0}, "'round' must be a whole number from 1"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, changed: dict[str, Any], problem: str) -> None:
    """With the file, the line and the value."""
    with pytest.raises(DatasetError, match=f"line 2.*{problem}"):
        read_ratings(written(tmp_path, ROW, {**ROW, "rater": "ben", **changed}))


def test_a_rater_has_one_rating_per_item(tmp_path: Path) -> None:
    """The second one is refused with the line of the first."""
    with pytest.raises(DatasetError, match=r"line 2.*second rating of 'fluency' by 'ann'.*line 1"):
        read_ratings(written(tmp_path, ROW, {**ROW, "value": 3}))


def test_the_short_form_of_labels(tmp_path: Path) -> None:
    """Without rater and property, a line is a label of an answer from 0 to 1."""
    short = {"query_id": "q", "system": "s", "setting": "gold", "value": 0.5}
    path = written(tmp_path, short)

    (one,) = read_ratings(path, short=True)
    assert (one.property, one.rater, one.value) == ("label", "people", 0.5)
    with pytest.raises(DatasetError, match="'rater' is missing"):
        read_ratings(path)


def test_lines_without_a_probability_are_a_random_sample(tmp_path: Path) -> None:
    """Only lines with a probability have an inclusion; the round is 1 by default."""
    drawn = {"query_id": "b", "inclusion_probability": 1}
    later = {"query_id": "c", "inclusion_probability": 0.2, "round": 3}

    read = read_ratings(written(tmp_path, ROW, {**ROW, **drawn}, {**ROW, **later}))

    assert [one.inclusion for one in read] == [None, Inclusion(1.0), Inclusion(0.2, 3)]


def test_an_error_of_a_rating_has_its_file_and_line(tmp_path: Path) -> None:
    """Without a line, it has its query and system."""
    (one,) = read_ratings(written(tmp_path, ROW))

    assert str(one.error("bad")).endswith("ratings.jsonl, line 1: bad")
    assert HumanRating(RatedItem("q", "s"), "p", "a", 1).where() == "ratings, query 'q' of 's'"


def test_lines_to_fill_in_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A note has their number; if none is filled in, that is an error with the first line."""
    empty = {**ROW, "query_id": "q9", "rater": "", "value": "", "inclusion_probability": 0.2}

    assert len(read_ratings(written(tmp_path, ROW, empty))) == 1
    assert "ratings.jsonl without a value, which are left out: 1 of 2" in caplog.text
    with pytest.raises(DatasetError, match="line 1: no line is filled in"):
        read_ratings(written(tmp_path, empty))
    with pytest.raises(DatasetError, match="line 2: 'value' must be a number"):
        read_ratings(written(tmp_path, ROW, {**empty, "rater": "ann"}))
