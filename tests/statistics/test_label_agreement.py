"""Majorities, agreement with the others, confusion and composition; people's labels reproduced."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.building.label_files import labelled, read_label_sets
from ragstone.building.labels import Labeller, gold_items
from ragstone.cli.data import command
from ragstone.data.load import load_dataset
from ragstone.data.taxonomy import load_taxonomy
from ragstone.errors import ConfigError, DatasetError
from ragstone.statistics.label_agreement import (
    against_others,
    composition,
    confusion,
    decisions,
    kappa_of,
    majority,
)
from ragstone.testing import FakeModelServer, ScriptedCalls

PEOPLE = {
    "ann": {"1": "fact", "2": "fact", "3": "sum", "4": "sum", "5": "fact"},
    "ben": {"1": "fact", "2": "sum", "3": "sum", "4": "sum", "5": "fact"},
    "eve": {"1": "fact", "2": "why", "3": "sum", "4": "fact"},
}


def test_an_item_without_a_majority_is_set_aside() -> None:
    """Three different labels have no majority; two equal labels have one."""
    found = majority(PEOPLE)

    assert found.labels == {"1": "fact", "3": "sum", "4": "sum", "5": "fact"}
    assert found.set_aside == ("2",)


def test_half_of_the_votes_is_not_a_majority() -> None:
    """Two against two, and two against one and one, are ties."""
    votes = {"a": {"1": "x", "2": "x"}, "b": {"1": "x", "2": "x"}, "c": {"1": "y", "2": "y"},
             "d": {"1": "y", "2": "z"}}  # fmt: skip

    assert majority(votes).labels == {}


def test_an_annotator_is_compared_with_the_majority_without_them() -> None:
    """Ann is compared with the majority of the others, without her own votes."""
    rows = {row.annotator: row for row in against_others(PEOPLE, {"llm": PEOPLE["ann"]})}

    agreed = {"1": "fact", "3": "sum"}
    assert rows["ann"].kappa.n == 2
    assert rows["ann"].kappa == kappa_of(PEOPLE["ann"], agreed)
    assert rows["ann"].models["llm"].value == rows["ann"].kappa.value
    assert rows["ann"].shortfall("llm") == 0.0


def test_confusion_counts_only_items_that_both_sides_labelled() -> None:
    """Rows are the truth; items labelled by one side only are counted apart."""
    found = confusion({"1": "a", "2": "a", "3": "b", "9": "b"}, {"1": "a", "2": "b", "3": "b"})

    assert (found.rows, found.columns) == (("a", "b"), ("a", "b"))
    assert found.counts == ((1, 1), (0, 1))
    assert found.left_out == 1
    assert found.accuracy == pytest.approx(2 / 3)


def test_a_composition_has_intervals_and_sums_to_one() -> None:
    """Named labels have a share even if no query has them."""
    found = composition(["x"] * 30 + ["y"] * 10, names=["z"])

    assert [found[name].mean for name in ("z", "x", "y")] == [0.0, 0.75, 0.25]
    assert found["x"].interval is not None


def test_the_two_labellers_of_ragchecker_agree_as_measured(
    shared_data: Callable[[str], Path],
) -> None:
    """280 pairs of responses, each preferred by two people on a scale from -2 to 2."""
    path = shared_data("ragchecker") / "human_labeled_data.json.gz"
    sides: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for row in json.loads(gzip.decompress(path.read_bytes())):
        side = sides[row["instance_id"] in sides[0]]
        side[row["instance_id"]] = str(row["overall_label"])

    agreed = majority({"one": sides[0], "two": sides[1]})
    rows = against_others({"one": sides[0], "two": sides[1]})

    assert len(agreed.labels) == 155
    assert len(agreed.set_aside) == 125
    assert rows[0].kappa.value == rows[1].kappa.value == pytest.approx(0.4097, abs=1e-4)
    assert sum(abs(int(sides[0][i]) - int(sides[1][i])) <= 1 for i in sides[0]) == 253


def test_a_labeller_uses_the_taxonomy_of_a_file(tmp_path: Path) -> None:
    """The prompt contains the labels of the file with their meanings."""
    path = tmp_path / "mine.yaml"
    path.write_text(
        "name: mine\ntask: Sort it.\nlabels: {short: few words, long: 'many, {more}'}\n"
    )
    model = {"name": "chat", "model": "scripted", "base_url": "http://localhost:1/v1"}
    labeller = Labeller(model=model, taxonomy=str(path))
    calls = ScriptedCalls(lambda _: "Verdict: [[long]]")
    items = gold_items(load_dataset("sample"))[:3]

    verdicts = labeller.verdicts(items, calls.services())

    assert [v.label for v in verdicts] == ["long"] * 3
    prompt = calls.asked[0].messages[-1][1]
    assert "- long: many, {more};" in prompt
    assert items[0].passages[0] in prompt


def test_a_label_outside_the_taxonomy_is_none() -> None:
    """The call is repeated once, then the verdict fails."""
    model = {"name": "chat", "model": "scripted", "base_url": "http://localhost:1/v1"}
    calls = ScriptedCalls(lambda _: "Verdict: [[factual]]")

    items = gold_items(load_dataset("sample"))[:1]
    (verdict,) = Labeller(model=model).verdicts(items, calls.services())

    assert (verdict.label, verdict.status) == ("", "failed")
    assert len(calls.asked) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: x\ntask: t\nlabels: {a: b}\n", "at least 2 items"),
        ("name: x\nlabels: {a: b, c: d}\n", "task: this key is required"),
        ("name: [\n", "cannot read the taxonomy"),
    ],
)
def test_a_malformed_taxonomy_is_refused(text: str, message: str, tmp_path: Path) -> None:
    """The message names the file or the key."""
    (tmp_path / "t.yaml").write_text(text)

    with pytest.raises(ConfigError, match=message):
        load_taxonomy(str(tmp_path / "t.yaml"))


def test_an_unknown_taxonomy_lists_the_known_ones() -> None:
    """The message lists the two bundled taxonomies."""
    with pytest.raises(ConfigError, match="know-your-rag, mtrag-question-types"):
        load_taxonomy("nothing")


def test_label_files_of_several_forms_are_read(tmp_path: Path) -> None:
    """JSON lines and tables are read; an empty label does not count."""
    (tmp_path / "a.csv").write_text("query_id,label\nq1,fact\nq2,\n")
    (tmp_path / "b.jsonl").write_text('{"item_id": "q1", "label": "sum"}\n')
    (tmp_path / "c.jsonl").write_text('{"id": "q1", "label": "a"}\n{"id": "q1", "label": "b"}\n')

    assert read_label_sets(tmp_path / "a.csv") == {"q1": ("fact",)}
    assert read_label_sets(tmp_path / "b.jsonl") == {"q1": ("sum",)}
    with pytest.raises(DatasetError, match="line 2: 'q1' is labelled 'b'"):
        read_label_sets(tmp_path / "c.jsonl")


def test_the_commands_show_composition_and_agreement(tmp_path: Path) -> None:
    """Sets are compared; annotators get kappas, a confusion matrix and the majority's file."""
    for name, labels in {**PEOPLE, "llm": PEOPLE["ann"]}.items():
        rows = [json.dumps({"query_id": i, "label": label}) for i, label in labels.items()]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows))
    people = [str(tmp_path / f"{name}.jsonl") for name in PEOPLE]
    out = tmp_path / "majority.jsonl"

    side = CliRunner().invoke(command, ["label-stats", "sample", people[0]])
    agreed = CliRunner().invoke(
        command, ["agreement", *people, "--model", str(tmp_path / "llm.jsonl"), "-o", str(out)]
    )
    machine = CliRunner().invoke(command, ["agreement", *people, "--json"])

    assert side.exit_code == agreed.exit_code == machine.exit_code == 0
    assert "reasoning" in side.output
    assert "4 items have a majority, 1 have none" in agreed.output
    assert "accuracy 1.000" in agreed.output
    assert len(out.read_text().splitlines()) == 4
    assert json.loads(machine.output)["set_aside"] == ["2"]


@pytest.mark.parametrize("option", ["--chart", "--svg"])
def test_the_composition_is_drawn(option: str, tmp_path: Path) -> None:
    """The option's former name still works, and is not listed."""
    file = tmp_path / "composition.svg"

    done = CliRunner().invoke(command, ["label-stats", "sample", option, str(file)])
    listed = CliRunner().invoke(command, ["label-stats", "--help"])

    assert done.exit_code == 0, done.output
    assert {"reasoning", "sample"} <= set(re.findall(r">([^<]+)</text>", file.read_text()))
    assert "--chart FILE" in listed.output
    assert not re.search(r"--svg +FILE", listed.output)


def test_a_picture_is_checked_before_the_data(tmp_path: Path) -> None:
    """An unknown suffix is refused although the data set does not exist."""
    done = CliRunner().invoke(
        command, ["label-stats", "absent", "--chart", str(tmp_path / "a.gif")]
    )

    assert isinstance(done.exception, ConfigError)


def test_a_query_may_have_several_labels_of_several_taxonomies(tmp_path: Path) -> None:
    """Each query has one row with a field per taxonomy; several labels are a list."""
    out = tmp_path / "both.jsonl"
    with FakeModelServer(answer=_labels_by_rule) as server:
        written = f"chat(model=fake, base_url={server.url})"
        done = CliRunner().invoke(
            command,
            ["label", "sample", "-o", str(out), "--limit", "4", "--model", written, "--no-explain",
             "--taxonomy", "know-your-rag", "--taxonomy", "mtrag-question-types",
             "--calls", str(tmp_path / "calls.sqlite")],
        )  # fmt: skip
    rows = [json.loads(line) for line in out.read_text().splitlines()]

    assert done.exit_code == 0, done.output
    assert "mtrag-question-types: 4 queries labelled, 0 failed" in done.output
    assert all(row["mtrag-question-types"] == ["factoid", "keyword"] for row in rows)
    assert read_label_sets(out, "mtrag-question-types")[rows[0]["query_id"]] == (
        "factoid",
        "keyword",
    )
    shown = CliRunner().invoke(
        command, ["label-stats", str(out), "--label", "mtrag-question-types"]
    )
    assert re.search(r"keyword +1\.000", shown.output)
    assert "a query may have several labels" in shown.output


def _labels_by_rule(messages: Any) -> str:
    if "1. factoid" not in messages[-1]["content"]:
        return "summary"
    return "\n".join(f"{n}: {'yes' if n in (1, 7) else 'no'}" for n in range(1, 11))


def test_labels_of_files_become_labels_of_the_set(tmp_path: Path) -> None:
    """The label has the taxonomy's name; an unknown query is an error."""
    query_id = load_dataset("sample").queries[0].query_id
    rows = [
        {"query_id": query_id, "taxonomy": "mine", "label": ["a", "b"]},
        {"query_id": query_id, "other": "c", "reasons": {}, "label": ""},
    ]
    path = tmp_path / "labels.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))

    done = CliRunner().invoke(
        command, ["convert", "sample", str(tmp_path / "set"), "--labels", str(path)]
    )
    labels = load_dataset(str(tmp_path / "set")).queries[0].labels

    assert done.exit_code == 0, done.output
    assert (labels["mine"], labels["other"]) == (("a", "b"), "c")
    path.write_text('{"query_id": "nobody", "label": "x"}')
    with pytest.raises(DatasetError, match="has no query 'nobody'"):
        labelled(load_dataset("sample"), [path])


def test_agreement_on_several_labels_is_reported_per_label(tmp_path: Path) -> None:
    """Each label is a yes or no; the output file has the labels with a majority."""
    given = {
        "ann": {"1": "x;y", "2": "x", "3": "y", "4": "x"},
        "ben": {"1": "x;y", "2": "x;z", "3": "y", "4": "y"},
        "eve": {"1": "x", "2": "x", "3": "y;z", "4": "x"},
    }
    for name, held in given.items():
        lines = [f"{item},{label}" for item, label in held.items()]
        (tmp_path / f"{name}.csv").write_text("\n".join(["query_id,label", *lines]))
    files = [str(tmp_path / f"{name}.csv") for name in given]
    out = tmp_path / "majority.jsonl"

    told = CliRunner().invoke(command, ["agreement", *files, "-o", str(out)])
    machine = CliRunner().invoke(command, ["agreement", *files, "--json"])
    agreed = {
        row["query_id"]: row["label"] for row in map(json.loads, out.read_text().splitlines())
    }

    assert told.exit_code == machine.exit_code == 0, told.output
    assert agreed == {"1": ["x", "y"], "2": ["x"], "3": ["y"], "4": ["x"]}
    held = json.loads(machine.output)
    assert {name: one["yes"] for name, one in held.items()} == {"x": 3, "y": 2, "z": 0}
    assert decisions({"1": ("x",)}, ["x", "z"])["z"] == {"1": "no"}


def test_labels_with_the_separator_in_their_name_are_refused(tmp_path: Path) -> None:
    """The separator would make the labels of a table ambiguous."""
    path = tmp_path / "t.yaml"
    path.write_text("name: x\ntask: t\nlabels: {'a;b': c, d: e}\n")

    with pytest.raises(ConfigError, match="the label 'a;b' is empty or contains ';'"):
        load_taxonomy(str(path))


def test_a_model_is_compared_with_the_labels_of_a_data_set(tmp_path: Path) -> None:
    """A single source is the truth for the model's kappa and confusion matrix."""
    queries = [q for q in load_dataset("sample").queries if "taxonomy" in q.labels][:40]
    rows = [{"query_id": q.query_id, "label": q.labels["taxonomy"]} for q in queries]
    path = tmp_path / "llm.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))

    done = CliRunner().invoke(
        command, ["agreement", "sample", "--field", "taxonomy", "--model", str(path)]
    )

    assert done.exit_code == 0, done.output
    assert "accuracy 1.000" in done.output
    assert re.search(r"sample +0 +- +1\.000", done.output)
