"""Projects by one command: from data sets, experiments, lists, files and findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from tests.fakes.made_results import made_results

from ragstone.annotation.database import Database
from ragstone.annotation.from_list import annotate_list
from ragstone.annotation.project import Project
from ragstone.cli.annotate import command as annotate
from ragstone.cli.data import command as data
from ragstone.data.load import load_dataset
from ragstone.data.readers.ratings import Inclusion
from ragstone.errors import ConfigError, StoreError
from ragstone.view.query_filter import QueryFilter, found_queries


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run in a folder with the store of an experiment."""
    monkeypatch.chdir(tmp_path)
    made_results(Path("store"), queries=12)
    return tmp_path


def start(*arguments: object, typed: str = "q\n") -> Result:
    """Start a project in the terminal and type some keys."""
    given = ["p", "--terminal", "--store", "store", *map(str, arguments)]
    return CliRunner().invoke(annotate, given, input=typed)


def made(*arguments: object) -> Project:
    """Return the project that a start made."""
    found = start(*arguments)
    assert found.exit_code == 0, (found.output, found.exception)
    return Project.open(Path("p"))


@pytest.mark.parametrize(
    ("options", "task", "count"),
    [
        ("--task support --data sample --limit 4", "support", None),
        ("--task labels --data sample --limit 4 --scheme know-your-rag", "labels", 4),
        ("--task validation --data sample --limit 4", "validation", 4),
        ("--task ratings --experiment made --setting gold --limit 4", "ratings", 4),
        ("--task pairwise --experiment made --limit 6", "pairwise", 6),
        ("--task causes --experiment store/experiments/made.json", "causes", None),
        ("--task ratings --from http://127.0.0.1:8321/queries?experiment=made&q=ferry", "", None),
        ("--from /queries?experiment=made&right=no", "ratings", None),
    ],
)
def test_a_second_start_with_the_same_options_opens(
    options: str, task: str, count: int | None
) -> None:
    """The project is made once; `source` says what its items are from."""
    project = made(*options.split())
    assert project.task == (task or "ratings")
    assert count in (None, len(project.items))
    assert project.settings.source
    before = {path: path.read_bytes() for path in Path("p").glob("*.*l")}

    made(*options.split())
    made()

    assert {path: path.read_bytes() for path in before} == before


def test_settings_and_files_are_in_the_project() -> None:
    """Overlap, suggestions, repeats, guidelines and your own scheme."""
    Path("mood.yaml").write_text(
        "name: mood\nask: Mood?\nquestions: [{name: mood, options: [{value: calm}]}]\n"
    )
    Path("how.md").write_text("Read it all.")
    project = made(
        *["--task", "labels", "--data", "sample", "--limit", "2"],
        *["--scheme", "mood.yaml", "--guidelines", "how.md"],
        *["--people-per-item", "3", "--suggestions", "after", "--repeats", "0.1", "--seed", "7"],
    )
    settings = project.settings

    assert (settings.people_per_item, settings.suggestions, settings.repeats) == (3, "after", 0.1)
    assert (settings.seed, project.scheme.ask, project.scheme.guidelines) == (
        7,
        "Mood?",
        "Read it all.",
    )
    assert set(project.items) == set(made().items)
    assert str(start("--seed", 8).exception).startswith("the project p has seed: 7, but 8")


def test_proposals_of_judge_next_keep_their_probability() -> None:
    """The texts are those of the experiment, the ids those of the file."""
    line = {"query_id": "q000", "system": "bm25 + small", "setting": "gold", "property": "F1",
            "rater": "", "value": None, "inclusion_probability": 0.25, "round": 2}  # fmt: skip
    Path("next.jsonl").write_text(json.dumps(line))
    assert "give --experiment" in str(start("--task", "ratings", "--from", "next.jsonl").exception)
    project = made(*["--task", "ratings", "--from", "next.jsonl", "--experiment", "made"])

    (item,) = project.items.values()
    assert [(one.system, one.inclusion) for one in item.answers] == [
        ("bm25 + small", Inclusion(0.25, 2))
    ]


def test_findings_of_the_doctor_are_decided_by_people() -> None:
    """What `data check` leaves to people becomes items with their texts."""
    shown = CliRunner().invoke(data, ["check", "sample", "--json"])
    Path("found.json").write_text(shown.stdout)
    project = made(*["--from", "found.json", "--data", "sample"])

    assert (project.task, project.scheme.name) == ("labels", "findings")
    assert project.items


def test_a_project_of_a_list_is_served_and_copied() -> None:
    """The button of `ragstone view` and the command write the same form."""
    results = made_results(Path("store"), queries=12)
    found = found_queries(results, QueryFilter(right="no"))
    answers = [answer for one in found for answer in one.answers]
    count = annotate_list(Path("listed"), results, {"right": "no"}, answers)
    assert count == len(Project.open(Path("listed")).items)

    project = made("--from", "listed", "--scheme", "fanc-1-5")
    assert list(project.items.values()) == list(Project.open(Path("listed")).items.values())
    assert made().scheme.name == "fanc-1-5"


def test_the_form_of_earlier_versions_is_readable() -> None:
    """Flat items with one answer each, and a project without further keys."""
    Path("p").mkdir()
    described = {"format": 1, "name": "p", "task": "ratings", "items": {"file": "x", "n": 1}}
    Path("p/project.yaml").write_text(yaml.safe_dump(described))
    flat: dict[str, Any] = {"item_id": "q1 · a · gold", "query_id": "q1", "query": "When?",
                            "history": [], "gold_answers": [], "system": "a", "setting": "gold",
                            "answer": "At six.", "reason": "", "passages": []}  # fmt: skip
    Path("p/items.jsonl").write_text(json.dumps(flat) + "\n")
    start(typed="4\n4\n4\n4\n")
    CliRunner().invoke(annotate, ["export", "p", "-o", "out.jsonl"])

    row = json.loads(Path("out.jsonl").read_text().splitlines()[0])
    assert (row["system"], row["setting"], row["value"]) == ("a", "gold", 4)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ("", ConfigError, "make a project with --data"),
        ("--task support", ConfigError, "give --data, --experiment or --from"),
        ("--data sample", ConfigError, "give --task with one of"),
        ("--task ratings --data sample", ConfigError, "needs answers of systems"),
        ("--task validation --experiment made", ConfigError, "give --data"),
        ("--task ratings --experiment nothing", StoreError, "no experiment 'nothing'"),
        ("--from /leaderboard", ConfigError, "neither a file nor a folder"),
        ("--from http://127.0.0.1:1/leaderboard", ConfigError, "address of a list"),
        ("--from /queries?experiment=x&rigth=no", ConfigError, "did you mean 'right'"),
        ("--from /queries?right=no", ConfigError, "names no experiment"),
        ("--from /queries?experiment=made&cause=nothing", ConfigError, "no cause 'nothing'"),
        ("--task labels --data sample --scheme moods", ConfigError, "no scheme 'moods'"),
    ],
)
def test_what_cannot_be_made_leaves_nothing(
    options: str, error: type[Exception], said: str
) -> None:
    """The error has the way out, and no folder appears."""
    found = start(*options.split())

    assert isinstance(found.exception, error)
    assert said in str(found.exception)
    assert not Path("p").exists()


def test_the_people_of_mirage() -> None:
    """100 queries with 5 chunks each, three people and the model: pairwise kappas and alpha."""
    sample = load_dataset("sample")
    chunks = list(sample.corpus)
    rows, labels = [], []
    for place, query in enumerate(sample.queries[:100]):
        for number in range(5):
            chunk = chunks[(place * 5 + number) % len(chunks)]
            key = {"query_id": query.query_id, "passage_id": chunk.passage_id}
            rating = {**key, "property": "support"}
            texts = {"query": query.text, "answers": list(query.gold_answers),
                     "title": chunk.title, "text": chunk.text, "values": ["yes", "no"]}  # fmt: skip
            rows.append({**rating, **texts})
            labels.append({**rating, "rater": "judge", "value": "no" if number else "yes"})
    for name, listed in (("to-label.jsonl", rows), ("labels.jsonl", labels)):
        Path(name).write_text("".join(json.dumps(one) + "\n" for one in listed))
    project = made(
        *["--task", "support", "--from", "to-label.jsonl", "--suggest", "labels.jsonl"],
        *["--people-per-item", "3"],
    )
    assert len(project.items) == 500

    for person, wrong in (("ann", 0), ("ben", 7), ("cem", 11)):
        keys = ["1" if n % 5 == 0 and n % (wrong or 999) else "3" for n in range(500)]
        # Items are labelled in each person's order, so by what they are, not by their place.
        ratings = [
            {**{k: v for k, v in one.items() if k != "rater"}, "rater": person,
             "value": "yes" if key == "1" else "no"}
            for one, key in zip(labels, keys, strict=True)
        ]  # fmt: skip
        Path("given.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ratings))
        assert CliRunner().invoke(annotate, ["import", "p", "given.jsonl"]).exit_code == 0
    CliRunner().invoke(annotate, ["export", "p", "-o", "all.jsonl", "--include", "suggestions"])
    shown = CliRunner().invoke(data, ["ratings", "all.jsonl", "--json"])
    support = json.loads(shown.stdout)["properties"]["support"]

    assert (support["n"], sorted(support["raters"])) == (500, ["ann", "ben", "cem", "model"])
    assert len(support["pairwise"]) == 6
    assert 0.8 < support["alpha"] < 1


def test_conversations_are_imported_for_review() -> None:
    """A data set's conversations are items with events, which a second start leaves as they are."""
    assert "leave --terminal out" in str(
        start("--task", "conversation", "--from", "sample").exception
    )
    project = Project.open(Path("p"))
    database = Database.open(f"sqlite:///{Path('p/annotation.db').resolve()}", "p")
    count = database.count()
    start("--task", "conversation", "--from", "sample")

    assert (len(project.items), database.count()) == (12, count)
    assert count > 12
    database.close()


def test_the_schemes_are_printed() -> None:
    """Names, a file to start from, and the schema of the file."""
    names = CliRunner().invoke(annotate, ["scheme"]).output.split()
    assert {"fanc", "know-your-rag", "support"} <= set(names)
    assert "faithfulness" in CliRunner().invoke(annotate, ["scheme", "fanc"]).output
    assert json.loads(CliRunner().invoke(annotate, ["scheme", "--json"]).output)["properties"]
