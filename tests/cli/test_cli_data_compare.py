"""`ragstone data compare`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ragstone.cli import root
from ragstone.errors import RagstoneError

INSPECTED = {
    "name": "ratings",
    "models": [{"model_id": "m1"}, {"model_id": "m2"}],
    "metrics": [{"name": "faithful", "author": "algorithm"}],
    "tasks": [{"task_id": f"c{n}::1"} for n in range(8)],
    "evaluations": [
        {
            "task_id": f"c{n}::1",
            "model_id": model,
            "model_response": "So.",
            "annotations": {"faithful": {"system": {"value": value}}},
        }
        for n in range(8)
        for model, value in (("m1", 1.0), ("m2", 0.5))
    ],
}


def compare(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(root, ["data", "compare", *arguments], catch_exceptions=False)


def test_the_tables_and_notes() -> None:
    """Equal names get their place; every group has a table; a note names the option."""
    found = compare("sample", "sample")
    assert found.exit_code == 0
    lines = found.stdout.splitlines()
    assert lines[0].split() == ["1.", "sample", "2.", "sample"]
    for start in ("conversations", "lengths", "dialogue acts", "label answerability", "diversity"):
        assert any(line.startswith(start) for line in lines), start
    assert "\n0 of 36 differences have an interval without 0" in found.stdout
    assert "note: Neither set is marked as made by people (--people)." in found.stdout


def test_the_json_has_the_documented_shape() -> None:
    """Unrounded, with `experiments` null if they were not asked for."""
    found = json.loads(compare("sample", "sample", "--people", "both", "--json").stdout)
    assert list(found) == ["a", "b", "properties", "distances", "overlap", "notes", "experiments"]
    assert found["a"] == {
        "name": "sample",
        "queries": 203,
        "conversations": 12,
        "passages": 175,
        "judgements": 211,
        "people": True,
    }
    turns = found["properties"]["conversations"]["turns"]
    assert list(turns) == ["a", "b", "difference", "interval"]
    assert turns["a"]["n"] == 12
    words = found["distances"]["frequent words"]
    assert list(words) == ["value", "interval", "observed", "chance", "p", "n"]
    assert found["overlap"]["passages"]["b"]["mean"] == 1.0
    assert found["experiments"] is None


def test_systems_and_a_chart(tmp_path: Path) -> None:
    """Files of InspectorRAGet have scores; the chart has the shares."""
    path = tmp_path / "rated.json"
    path.write_text(json.dumps(INSPECTED))
    arguments = ["sample", "sample", "--experiments", str(path), str(path)]
    found = compare(*arguments, "--chart", str(tmp_path / "shares.svg"))
    assert "Agreement of the order of the systems" in found.stdout
    assert (tmp_path / "shares.svg").read_text().startswith("<svg")
    (metric,) = json.loads(compare(*arguments, "--json").stdout)["experiments"]
    assert (metric["metric"], metric["setting"]) == ("faithful", "")
    assert [one["system"] for one in metric["systems"]] == ["m1", "m2"]
    assert metric["agreement"]["tau"] == 1.0


def test_experiments_that_have_run(tmp_path: Path) -> None:
    """Rankings of the same systems on two samples; a store with two experiments is an error."""
    files = [tmp_path / f"{name}.yaml" for name in ("one", "two")]
    for seed, path in enumerate(files):
        path.write_text(
            f"data: sample\nsample: {{limit: 30, seed: {seed}}}\nstore: {tmp_path / 'store'}\n"
            "systems:\n  plain: {retriever: bm25}\n  flat: {retriever: 'bm25(k1=0.1)'}\n"
            "metrics: [nDCG@10, R@5]\n"
        )
        done = CliRunner().invoke(root, ["run", str(path)], catch_exceptions=False)
        assert done.exit_code == 0, done.output
    arguments = ["sample", "sample", "--experiments", *map(str, files)]
    found = json.loads(compare(*arguments, "--json").stdout)["experiments"]
    assert {one["metric"] for one in found} >= {"nDCG@10", "R@5"}
    assert [one["system"] for one in found[0]["systems"]] == ["plain", "flat"]
    assert found[0]["setting"] == "retrieval"
    with pytest.raises(RagstoneError, match=r"several experiments, on .*e.yaml#DATA"):
        compare("sample", "sample", "--experiments", str(files[0]), str(tmp_path / "store"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sample", "nope"], "no data set 'nope'"),
        (["sample", "sample", "--experiments", "a.yaml", "b.yaml"], "no experiment file a.yaml"),
        (["sample", "sample", "--embedder", "miniln"], "--embedder: unknown embedder 'miniln'"),
    ],
)
def test_bad_input_is_an_error_with_the_way_out(arguments: list[str], message: str) -> None:
    """No traceback: an error that names what is wrong."""
    with pytest.raises(RagstoneError, match=message):
        compare(*arguments)
