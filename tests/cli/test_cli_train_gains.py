"""`ragstone train gains`: before and after, several models and data sets, reruns and errors."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from tests.fakes.trained_generator import GENERATOR, make_generator, make_training

from ragstone.cli import root
from ragstone.data.load import load_dataset
from ragstone.data.training_marks import marks_text, training_marks
from ragstone.errors import ConfigError, RagstoneError

FAST = ["--setting", "none", "--setting", "gold", "--metric", "Match"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with the generator of the tests."""
    monkeypatch.chdir(tmp_path)
    make_generator(tmp_path)
    return tmp_path


def command(*arguments: str) -> Result:
    """Return the result of the command, or raise its error."""
    result = CliRunner().invoke(root, ["train", "gains", *arguments, "--with", GENERATOR])
    if isinstance(result.exception, RagstoneError):
        raise result.exception
    return result


def gains(*arguments: str) -> dict[str, Any]:
    """Return the JSON of the command."""
    result = command(*arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def asked() -> Counter[str]:
    """Return adapter -> number of answers that were asked for."""
    return Counter(Path("asked").read_text().split())


def test_the_usual_settings_show_what_became_worse_first() -> None:
    """Closed book and refusal become worse, and the first lines are about them."""
    make_training(Path("out"))

    text = command("out").stdout

    lines = text.splitlines()
    assert lines[0].startswith("WORSE after training: out, sample, none (closed book): Match 1.000")
    worse = [line for line in lines if line.startswith("WORSE")]
    assert any("noise(4) (no answer in the passages): refusal 1.000 before" in w for w in worse)
    assert any(line.startswith("gold+injected(1, kind=false-fact)") for line in lines)
    assert next(line for line in lines if line.startswith("retrieved(3) ")).split()[:3] == [
        "retrieved(3)",
        "sample",
        "out",
    ]


def test_the_experiment_file_is_one_for_other_commands() -> None:
    """`show` and `compare` read it, with the same difference; a further run asks nothing."""
    make_training(Path("out"))
    found = gains("out", *FAST)
    before = asked()

    shown = CliRunner().invoke(root, ["show", "out/gains.yaml", "--json"])
    sides = ["out/gains.yaml:before:none", "out/gains.yaml:after:none"]
    compared = CliRunner().invoke(root, ["compare", *sides, "--json"])
    run = CliRunner().invoke(root, ["run", "out/gains.yaml"])

    assert shown.exit_code == compared.exit_code == run.exit_code == 0
    (pair,) = json.loads(compared.stdout)["metrics"]["Match"]["pairs"]
    (closed,) = [one for one in found["gains"] if one["setting"] == "none"]
    assert (pair["difference"], pair["interval"]) == (closed["gain"], closed["interval"])
    assert asked() == before
    assert gains("out", *FAST) == found
    assert asked() == before


def test_the_name_of_a_folder_is_no_part_of_the_file() -> None:
    """A line break or a control in it stays in the comment and in the values."""
    folder = Path("out\nstore: elsewhere\x1b[2J\u202e")
    make_training(folder)

    assert gains(str(folder), *FAST)["gains"]

    document = yaml.safe_load((folder / "gains.yaml").read_text(encoding="utf-8"))
    assert document["store"] == ".ragstone"
    assert document["systems"]["after"]["generator"]["adapter"] == str(folder)


def test_only_test_queries_are_asked() -> None:
    """The queries of the file are answered, and no other one."""
    make_training(Path("out"), queries=["q-places-001", "q-places-002", "q-places-003"])

    found = gains("out", *FAST)

    assert {one["n"] for one in found["gains"]} <= {2, 3}
    assert asked() == {"base": 6, "out": 6}


def test_the_training_file_names_the_folder() -> None:
    """Its data are found beside it."""
    Path("own").mkdir()
    rows = [
        {"query_id": f"q{i}", "text": f"what is {i}", "gold_answers": [f"it{i}"]} for i in "abc"
    ]
    Path("own/data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    make_training(Path("out"), queries=["qa", "qb"], data="data.jsonl")
    Path("own/t.yaml").write_text(yaml.safe_dump({"base": "tiny", "data": "d", "output": "out"}))

    found = gains("own/t.yaml", "--setting", "none", "--metric", "Match")

    assert [(one["data"], one["n"]) for one in found["gains"]] == [("data", 2)]


def test_several_folders_are_rows_of_one_table_and_corrected_together() -> None:
    """Two folders of one name have different names and experiments; the base is asked once."""
    make_training(Path("a/out"), digest="1" * 64)
    make_training(Path("b/out"), digest="2" * 64)

    found = gains("a/out", "b/out", "--setting", "gold", "--metric", "EM")

    assert [one["model"] for one in found["gains"]] == ["a/out", "b/out"]
    assert found["tests"] == 2
    names = {yaml.safe_load(Path(f"{one}/out/gains.yaml").read_text())["name"] for one in "ab"}
    assert names == {"gains-out-11111111", "gains-out-22222222"}
    assert asked()["base"] == asked()["a/out"]


def test_further_data_sets_have_rows_of_their_own() -> None:
    """A setting that one of them cannot have is left out there."""
    make_training(Path("out"))
    rows = [
        {"query_id": f"q{i}", "text": f"what is {i}", "gold_answers": [f"it{i}"]} for i in "abc"
    ]
    Path("plain.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    found = gains("out", *FAST, "--data", "other=plain.jsonl")

    assert {(one["data"], one["setting"]) for one in found["gains"]} == {
        ("sample", "none"),
        ("sample", "gold"),
        ("other", "none"),
    }


def test_data_without_gold_answers_has_refusal_alone() -> None:
    """The usual metrics and settings are those that the data can have."""
    make_training(Path("out"), queries=["qa", "qb"], data="plain.jsonl")
    rows = [{"query_id": f"q{i}", "text": f"what is {i}"} for i in "abc"]
    Path("plain.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    found = gains("out")

    assert {(one["setting"], one["metric"]) for one in found["gains"]} == {("none", "refusal")}


def test_a_failed_item_counts_as_wrong_and_is_asked_again() -> None:
    """The failure is in the words; the next run repairs it."""
    make_training(Path("out"))
    Path("failing").touch()

    found = gains("out", "--setting", "gold", "--metric", "EM")

    (gain,) = [one for one in found["gains"] if one["metric"] == "EM"]
    assert (gain["failed_before"], gain["failed_after"]) == (0, 1)
    assert gain["after"] == pytest.approx(1 - 1 / gain["n"])
    assert {one["metric"] for one in found["gains"]} == {"EM", "failure rate"}
    Path("failing").unlink()
    (gain,) = gains("out", "--setting", "gold", "--metric", "EM")["gains"]
    assert (gain["failed_after"], gain["after"]) == (0, 1.0)


def test_a_run_that_stopped_is_resumed() -> None:
    """The base is not asked again after the trained model could not be loaded."""
    make_training(Path("out"))
    Path("broken").touch()
    with pytest.raises(RagstoneError, match="no adapter can be loaded"):
        command("out", *FAST)
    before = asked()

    Path("broken").unlink()
    found = gains("out", *FAST)

    assert before["base"] > 0
    assert before["out"] == 0
    assert asked()["base"] == before["base"]
    assert len(found["gains"]) == 2


def test_a_whole_model_takes_the_place_of_the_base() -> None:
    """The method `full` makes no adapter."""
    make_training(Path("out"), method="full")

    gains("out", *FAST)

    systems = yaml.safe_load(Path("out/gains.yaml").read_text())["systems"]
    assert systems["before"]["generator"]["model"] == "tiny"
    assert systems["after"]["generator"] == {"name": "../parts.py:Toy", "model": "out"}


def test_the_plan_asks_nothing() -> None:
    """The experiment file is there, for `ragstone run`."""
    make_training(Path("out"))

    plan = json.loads(command("out", *FAST, "--plan", "--json").stdout)

    assert plan["out"]["queries"] == 40
    assert Path("out/gains.yaml").is_file()
    assert not Path("asked").exists()


def test_the_table_is_written_in_other_forms() -> None:
    """CSV, Markdown, LaTeX, and a chart with both means."""
    make_training(Path("out"))

    (row,) = csv.DictReader(
        io.StringIO(command("out", "--setting", "gold", "--metric", "EM", "--csv").stdout)
    )
    files = ["--latex", "g.tex", "--chart", "g.json", "--markdown"]
    markdown = command("out", "--setting", "gold", "--metric", "EM", *files).stdout

    assert (row["model"], row["setting"], row["after"], row["outcome"]) == (
        "out",
        "gold",
        "1.0",
        "better",
    )
    assert "| gold      | sample | out     | 1.000* (+1.000 [" in markdown
    assert r"gold & sample & out & 1.000* (+1.000 {[}" in Path("g.tex").read_text()
    assert "1.000* (+1.000 [" in Path("out/README.md").read_text()
    values = json.loads(Path("g.json").read_text())["data"]["values"]
    assert [(one["row"], one["name"], one["mean"]) for one in values] == [
        ("gold", "before", 0.0),
        ("gold", "after", 1.0),
    ]


@pytest.mark.parametrize(
    ("keys", "arguments", "message"),
    [
        ({"digest": ""}, ["out"], "out has a training that has not ended"),
        ({"kind": "judge"}, ["out"], "a training of a judge; gains are measured of generators"),
        ({"queries": []}, ["out"], "out has no test queries.*--data"),
        (
            {"queries": ["q-places-001", "x"]},
            ["out"],
            "out/splits/test.txt names 1 of 2 queries that sample does not have: 'x'",
        ),
        ({}, ["out", "./out"], "the training out is given twice"),
        ({}, ["absent"], "absent has no training"),
        ({}, ["out", "--data", "sample"], "two data sets are called 'sample'"),
        ({}, ["out", "--setting", "golden"], "golden"),
    ],
)
def test_what_cannot_be_measured_is_an_error_before_anything_is_asked(
    keys: dict[str, Any], arguments: list[str], message: str
) -> None:
    """The message names the folder and the way out."""
    make_training(Path("out"), **keys)

    with pytest.raises(ConfigError, match=message):
        command(*arguments)

    assert not Path("asked").exists()


def test_other_data_replace_absent_test_queries() -> None:
    """Nothing is measured on the data of the training."""
    make_training(Path("out"), queries=[])
    rows = [
        {"query_id": f"q{i}", "text": f"what is {i}", "gold_answers": [f"it{i}"]} for i in "abc"
    ]
    Path("plain.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    found = gains("out", "--data", "plain.jsonl", "--setting", "none", "--metric", "Match")

    assert [one["data"] for one in found["gains"]] == ["plain"]


def test_queries_that_the_training_has_seen_are_named() -> None:
    """Held-out queries give no note, and all queries of the same data do."""
    make_training(Path("out"), queries=["q-places-001", "q-places-002"])
    data = load_dataset("sample")
    learned = [query.query_id for query in data.queries if "places" not in query.query_id][:30]
    Path("out/documents.txt").write_text(marks_text(training_marks(data, learned)))

    apart = gains("out", "--setting", "none", "--metric", "Match")
    both = gains("out", "--setting", "none", "--metric", "Match", "--data", "all=sample")

    assert apart["seen"] == []
    (line,) = both["seen"]
    assert "out, all: " in line
    assert "the generator of after was trained on the questions or documents of" in line
