"""Grades of people from 0 to 1: labels, samples, sources that have no answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from ragstone.cli.judge import command
from ragstone.data.readers.rated_set import RatedSet, RatedText
from ragstone.data.readers.rating_scales import RatingScale
from ragstone.data.readers.ratings import HumanRating, RatedItem
from ragstone.errors import ConfigError, DatasetError
from ragstone.evaluation.human_grades import human_set, read_human_set
from ragstone.testing import FakeModelServer
from ragstone.types import Query


def rated(*values: float | str) -> RatedSet:
    """Return one answer that several people rated."""
    item = RatedItem("q", "s")
    ratings = tuple(HumanRating(item, "p", f"r{n}", value) for n, value in enumerate(values))
    return RatedSet("made", ratings, {item: RatedText(Query("q", "Who?"), "Ann.")})


@pytest.mark.parametrize(
    ("values", "scale", "value", "label"),
    [
        (("yes", "no", "yes"), None, 2 / 3, "yes"),
        (("yes", "no"), None, 0.5, ""),
        ((1, 0, 0), None, 1 / 3, "no"),
        ((1, 4), None, 0.5, ""),
        (("partly", "partly", "no"), "no,partly,yes", 1 / 3, ""),
        (("helpful", "helpful", "odd"), "odd,helpful", 2 / 3, "helpful"),
    ],
)
def test_values_and_labels(
    values: tuple[float | str, ...], scale: str | None, value: float, label: str
) -> None:
    """People's verdict is the word of the majority, or the side of 0.5."""
    given = RatingScale.parse(scale) if scale else None
    (one,) = human_set(rated(*values), scale=given).items

    if label == "" and scale == "no,partly,yes":
        label = "partly"
    assert one.value == pytest.approx(value)
    assert one.label == label
    assert len(one.raters) == len(values)


def test_a_sample_keeps_what_was_rated(shared_data: Callable[[str], Path]) -> None:
    """Items, metrics and rated items are of the same places."""
    held = read_human_set(str(shared_data("mtrag"))).sample(20, seed=3)

    assert len(held.items) == len(held.rated) == len(held.values["RL_F"]) == 20
    for item, one in zip(held.rated, held.items, strict=True):
        assert (item.query_id, item.system) == (one.item.item_id, one.system)


def test_a_source_needs_answers_and_the_property(
    shared_data: Callable[[str], Path], tmp_path: Path
) -> None:
    """The error of ratings alone names the way out."""
    path = tmp_path / "r.jsonl"
    row = {"query_id": "q", "rater": "ann", "property": "fluency", "value": 4}
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(DatasetError, match="these ratings with --labels"):
        read_human_set(str(path))
    with pytest.raises(ConfigError, match="did you mean 'faithfulness'"):
        read_human_set(str(shared_data("mtrag")), rating="faithfulnes")


def test_a_judge_is_checked_on_a_renamed_file(
    shared_data: Callable[[str], Path], tmp_path: Path
) -> None:
    """`judge check --data LAYOUT:FILE`, whatever the name of the file is."""
    table = tmp_path / "my-answers.txt"
    source = shared_data("truthfulqa") / "human_judgements.es.csv"
    table.write_bytes(source.read_bytes())
    with FakeModelServer(answer=lambda _: "**Yes**") as server:
        judge = tmp_path / "judge.yaml"
        model = f"{{name: chat, model: fake, base_url: '{server.url}'}}"
        judge.write_text(f"name: equivalence\nmodel: {model}\n")
        given = ["check", str(judge), "--data", f"truthfulqa:{table}", "--limit", "9", "--json"]
        shown = CliRunner().invoke(command, [*given, "--store", str(tmp_path / "store")])

    (document,) = json.loads(shown.stdout)
    assert (document["data"], document["items"]) == ("truthfulqa", 9)
