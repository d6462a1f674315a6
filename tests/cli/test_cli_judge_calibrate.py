"""`ragstone judge next` and `judge calibrate`: from proposals to corrected differences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.fakes.made_results import made_results

from ragstone.cli.judge import command
from ragstone.results.reader import StoredResults


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StoredResults:
    """Return the results of the experiment file e.yaml in the current folder."""
    monkeypatch.chdir(tmp_path)
    systems = "systems: [{name: a, generator: local}]"
    Path("e.yaml").write_text(
        f"name: made\ndata: here\nstore: store\nmetrics: [Match]\nsettings: [none]\n{systems}\n"
    )
    return made_results(tmp_path / "store", queries=120)


def run(*arguments: str) -> Result:
    """Run a command of `ragstone judge` on the experiment."""
    name, *rest = arguments
    return CliRunner().invoke(command, [name, "e.yaml", "--metric", "Match", *rest])


def fill_in(results: StoredResults, path: Path) -> None:
    """Fill in the judge's own values as the labels of one rater."""
    values = {(t.system, t.setting): t.values("Match") for t in results.trials}
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row |= {"rater": "ann", "value": values[row["system"], row["setting"]][row["query_id"]]}
    path.write_text("\n".join(map(json.dumps, rows)))


def test_proposals_come_back_as_corrected_differences(made: StoredResults) -> None:
    """Filled in, the proposed file gives means, ranks and differences, as text and as JSON."""
    path = Path("next.jsonl")
    proposed = run("next", "--labels", "60", "--setting", "gold", "-o", str(path))
    assert "answers to label, of 30 queries under gold" in proposed.output
    row = json.loads(path.read_text().splitlines()[0])
    assert (row["property"], row["value"], row["round"]) == ("Match", None, 1)
    assert 0 < row["inclusion_probability"] <= 1
    fill_in(made, path)

    text = run("calibrate", "--labels", str(path), "--by", "domain").output
    found = json.loads(run("calibrate", "--labels", str(path), "--json").output)

    assert "Differences, corrected by the labels" in text
    assert "Means by domain" in text
    assert "warning" not in text
    gold = [one for one in found if one["setting"] == "gold"]
    old = {"system", "setting", "calibrated", "reason"}
    assert all(old <= one.keys() for one in found)
    assert all(25 <= one["calibrated"]["labelled"] <= 30 for one in gold)
    (difference,) = (one["difference"] for one in gold if one["difference"])
    assert difference["method"] in {"prediction-powered", "unpaired"}
    assert difference["interval"][0] <= difference["difference"] <= difference["interval"][1]
    assert all(one["place"]["rank"] for one in gold)


def test_a_second_round_and_standard_output(made: StoredResults) -> None:
    """Existing labels are not proposed again; without -o the lines are printed."""
    run("next", "--labels", "40", "--setting", "gold", "-o", "next.jsonl")
    first = {json.loads(line)["query_id"] for line in Path("next.jsonl").read_text().splitlines()}
    fill_in(made, Path("next.jsonl"))

    again = run("next", "--labels", "20", "--setting", "gold", "--have", "next.jsonl")
    document = json.loads(run("next", "--labels", "20", "--json").output)

    rows = [json.loads(line) for line in again.output.splitlines()]
    assert {row["round"] for row in rows} == {2}
    assert not first & {row["query_id"] for row in rows}
    assert document["queries"]["gold"] == 2
    assert len(document["notes"]) == 4


@pytest.mark.usefixtures("made")
def test_errors_have_no_traceback() -> None:
    """An empty file is an error that names it; labels not filled in are one with the line."""
    Path("empty.jsonl").write_text("")
    assert "empty.jsonl has no ratings" in str(
        run("calibrate", "--labels", "empty.jsonl").exception
    )
    run("next", "--labels", "40", "-o", "next.jsonl")
    refused = run("calibrate", "--labels", "next.jsonl")
    assert "line 1" in str(refused.exception)
