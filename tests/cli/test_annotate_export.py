"""Labels from people to the commands that read them: exports of real projects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.cli.test_cli_judge_labels import experiment
from tests.fakes.made_results import made_results

from ragstone.annotation.create import ProjectPlan, make_project
from ragstone.annotation.database import Database
from ragstone.annotation.events import Event
from ragstone.annotation.from_data import DataChoice, data_items
from ragstone.annotation.from_results import AnswerChoice, result_items
from ragstone.annotation.items import AnnotationItem
from ragstone.annotation.project import Project
from ragstone.annotation.schemes import TaskName
from ragstone.annotation.tasks import own_scheme
from ragstone.cli.annotate import command as annotate
from ragstone.cli.data import command as data
from ragstone.cli.judge import command as judge
from ragstone.data.load import load_dataset
from ragstone.testing import FakeModelServer

SETTING = "gold+noise(3)"
PEOPLE = ("ann", "ben", "cem")


def run(command: Any, *arguments: object) -> Result:
    """Run a command, which must succeed."""
    found = CliRunner().invoke(command, [str(one) for one in arguments])
    assert found.exit_code == 0, (found.output, found.exception)
    return found


def labelled(folder: Path, task: TaskName, items: list[AnnotationItem]) -> Project:
    """Return a project in which three people answered every required choice."""
    made = make_project(folder / task, ProjectPlan(task), items)
    database = Database.open(f"sqlite:///{made.folder / 'annotation.db'}", made.name)
    places = [
        (item, question, part)
        for item in items
        for question in made.scheme.questions
        if question.kind == "choice" and not question.optional
        for part in ([a.part for a in item.answers] if question.of == "answer" else [""])
    ]
    for number, person in enumerate(PEOPLE):
        events = [
            Event(
                f"{person}{place}", "label", item.item_id, question.name, part,
                _drawn([one.value for one in question.options], place, number),
            )
            for place, (item, question, part) in enumerate(places)
        ]  # fmt: skip
        database.append(person, events)
    database.close()
    return made


def _drawn(values: list[Any], place: int, number: int) -> Any:
    """Return a label; at one of seven places people differ."""
    return values[(place * 5 // 3 + number * (place % 7 == 0)) % len(values)]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return the folder of an experiment of 24 queries."""
    made_results(tmp_path / "store", queries=24)
    return tmp_path


def rated(store: Path, task: TaskName) -> Path:
    """Return the export of a project of an experiment's answers."""
    results = made_results(store / "store", queries=24)
    items = result_items(results, task, AnswerChoice(settings=(SETTING,)))
    made = labelled(store, task, items)
    run(annotate, "export", made.folder, "-o", store / f"{task}.jsonl")
    return store / f"{task}.jsonl"


def test_data_ratings_and_agreement_read_an_export(store: Path) -> None:
    """The raters, the systems and the number of ratings are those of the project."""
    path = rated(store, "ratings")
    found = json.loads(run(data, "ratings", path, "--json").output)
    assert found["ratings"] == len(path.read_text().splitlines())
    faithfulness = found["properties"]["faithfulness"]
    assert sorted(faithfulness["raters"]) == list(PEOPLE)
    assert 0 < faithfulness["alpha"] < 1

    shown = json.loads(run(data, "agreement", path, "--field", "faithfulness", "--json").output)
    assert [one["annotator"] for one in shown["against_others"]] == list(PEOPLE)
    several = CliRunner().invoke(data, ["agreement", str(path)])
    assert "choose one with --field" in str(several.exception)


def test_judges_are_checked_and_calibrated_by_an_export(store: Path) -> None:
    """The answers are found by query, system and setting."""
    path = rated(store, "ratings")
    given = ("--labels", path, "--property", "faithfulness", "--scale", "1-4")
    with FakeModelServer(answer=lambda _: "Rating: [[8]]") as server:
        file = experiment(store, server.url, "RB_llm")
        shown = run(judge, "check", file, *given, "--store", store / "calls", "--json")
    assert json.loads(shown.output)

    found = json.loads(run(judge, "calibrate", file, "--metric", "F1", *given, "--json").output)
    assert {one["setting"] for one in found if one["calibrated"]} == {SETTING}


def test_pairs_are_win_rates(store: Path) -> None:
    """A pair names both systems."""
    path = rated(store, "pairwise")
    found = json.loads(run(data, "ratings", path, "--json").output)

    assert len(found["properties"]["better"]["win_rates"]) == 2


def test_causes_are_checked(store: Path) -> None:
    """People's causes meet the measured ones."""
    path = rated(store, "causes")
    shown = run(judge, "check", experiment(store), "--causes", path, "--json")

    assert json.loads(shown.output)["raters"] == list(PEOPLE)


def test_support_labels_are_qrels_and_ratings_without_names(tmp_path: Path) -> None:
    """One project, several forms; equal labels have an equal digest."""
    sample = load_dataset("sample")
    items = data_items(sample, "support", own_scheme("support"), DataChoice(limit=10))
    folder = labelled(tmp_path, "support", items).folder

    def export(name: str, *options: str) -> dict[str, Any]:
        shown = run(annotate, "export", folder, "-o", tmp_path / name, "--json", *options)
        found: dict[str, Any] = json.loads(shown.output)
        return found

    assert export("a.jsonl")["digest"] == export("b.jsonl")["digest"]
    assert export("c.jsonl", "--no-names")["files"] == [str(tmp_path / "c.jsonl")]
    people = {one["rater"] for one in _values(tmp_path / "c.jsonl")}
    assert people == {"person 1", "person 2", "person 3"}
    export("qrels.tsv", "--as", "qrels")
    assert (tmp_path / "qrels.tsv").read_text().startswith("query-id\tcorpus-id\tscore\n")
    wrong = CliRunner().invoke(
        annotate, ["export", str(folder), "-o", str(tmp_path / "x"), "--include", "know"]
    )
    assert "did you mean 'known'" in str(wrong.exception)


def test_labels_are_imported_and_items_added(tmp_path: Path) -> None:
    """An export enters another project once; an added item is new."""
    sample = load_dataset("sample")
    items = data_items(sample, "support", own_scheme("support"), DataChoice(limit=5))
    folder = labelled(tmp_path, "support", items).folder
    run(annotate, "export", folder, "-o", tmp_path / "out.jsonl")
    other = make_project(tmp_path / "other", ProjectPlan("support"), items).folder

    first = json.loads(run(annotate, "import", other, tmp_path / "out.jsonl", "--json").output)
    again = json.loads(run(annotate, "import", other, tmp_path / "out.jsonl", "--json").output)
    run(annotate, "export", other, "-o", tmp_path / "back.jsonl")
    assert first == {"kept": again["known"], "known": 0, "others": 0}
    assert again["kept"] == 0
    assert _values(tmp_path / "back.jsonl") == _values(tmp_path / "out.jsonl")

    added = json.loads(run(annotate, "add", other, "--data", "sample", "--json").output)
    assert added["items"] == len(items) + added["added"]
    assert (
        json.loads(run(annotate, "add", other, "--data", "sample", "--json").output)["added"] == 0
    )


def _values(path: Path) -> list[dict[str, Any]]:
    rows = [json.loads(one) for one in path.read_text().splitlines()]
    return [{name: value for name, value in one.items() if name != "time"} for one in rows]
