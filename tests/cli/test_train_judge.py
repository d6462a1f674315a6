"""`ragstone train judge` learns a label, resumes, and is used as a judge and to label queries."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.fakes.tiny_word_encoder import WORDS, tiny_encoder

from ragstone.cli import root
from ragstone.components.judges.trained import Trained
from ragstone.components.judges.verdict import Item
from ragstone.core.registry import create
from ragstone.errors import ConfigError
from ragstone.protocols import Services
from ragstone.training.record import read_record
from ragstone.types import Query

pytestmark = pytest.mark.needs("torch", "transformers", "peft")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a BERT of two layers with random weights."""
    return tiny_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train with one thread: the models are tiny."""
    monkeypatch.setattr("ragstone.training.training.available_cpus", lambda: 1)


def queries_with(folder: Path, count: int, labels: dict[str, str]) -> Path:
    """Write a data set: the word of a query decides its label."""
    words = list(labels)
    rows = []
    for number in range(count):
        word = words[number % len(words)]
        text = f"{word} {WORDS[number % 10]} {number} {number * 7 % 200}"
        rows.append({"query_id": f"q{number}", "text": text, "kind": labels[word]})
    folder.mkdir(exist_ok=True)
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


def recipe_of(folder: Path, encoder: Path, /, **more: Any) -> Path:
    """Write a training file."""
    keys = {
        "data": str(folder / "data"),
        "property": "kind",
        "output": str(folder / "out"),
        "least": 5,
        "max_tokens": 32,
        "optim": {"steps": 30, "lr": 0.01, "batch": 16, "validations": 2},
        "base": str(encoder),
        **more,
    }
    path = folder / "judge.yaml"
    path.write_text(json.dumps(keys))
    return path


def run(*arguments: Any) -> Any:
    """Run a command and return the JSON that it prints."""
    found = CliRunner().invoke(root, [*map(str, arguments), "--json"], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def test_it_learns_a_label_is_calibrated_and_compared_with_people(
    tmp_path: Path, encoder: Path
) -> None:
    """The label of unseen queries is found; the record has the comparison; a rerun is the same."""
    queries_with(tmp_path / "data", 120, {"good": "fine", "bad": "poor"})
    file = recipe_of(tmp_path, encoder)

    found = run("train", "judge", file)

    report, record = found["report"], read_record(tmp_path / "out")
    assert found["validation"][0]["loss"] > found["validation"][-1]["loss"]
    assert report["kappa"]["value"] > 0.9
    assert report["better"] is True
    assert report["rivals"][0]["name"] == "most frequent label"
    assert record is not None
    assert record.facts["report"]["kappa"]["value"] == report["kappa"]["value"]
    assert set(found) >= {"loss", "validation", "output", "digest"}
    card = (tmp_path / "out" / "README.md").read_text()
    assert "the trained judge" in card
    assert "most frequent label" in card
    parts = [(tmp_path / "out/splits" / f"{p}.txt").read_text().split() for p in ("train", "test")]
    assert not set(parts[0]) & set(parts[1])
    assert run("train", "judge", file)["digest"] == found["digest"]

    judge = create("judges", f"trained({tmp_path / 'out'})", where="test")
    good, bad = (Item(Query(w, f"{w} rain 3"), "x") for w in ("good", "bad"))
    verdicts = judge.verdicts([good, bad], Services())
    assert [one.label for one in verdicts] == ["fine", "poor"]
    assert verdicts[0].parts["kind:probability"] == pytest.approx(
        1 - verdicts[1].parts["kind:probability"], abs=0.4
    )

    labelled = tmp_path / "labels.jsonl"
    run("data", "label", tmp_path / "data", "-o", labelled, "--model", tmp_path / "out")
    rows = [json.loads(line) for line in labelled.read_text().splitlines()]
    assert {row["taxonomy"] for row in rows} == {"kind"}
    assert sum(row["label"] == "fine" for row in rows) == pytest.approx(60, abs=6)


@pytest.mark.parametrize("method", ["lora", "head"])
def test_an_adapter_and_a_linear_layer_alone_are_trained_too(
    tmp_path: Path, encoder: Path, method: str
) -> None:
    """The adapter is merged; of a frozen encoder, the folder has the linear layer alone."""
    queries_with(tmp_path / "data", 60, {"good": "a", "bad": "b"})
    more = {"head_only": True} if method == "head" else {"method": "lora"}
    file = recipe_of(tmp_path, encoder, **more)

    found = run("train", "judge", file)

    assert found["validation"][0]["loss"] > found["validation"][-1]["loss"]
    assert (tmp_path / "out/model.safetensors").exists() == (method == "lora")
    judge = Trained(model=str(tmp_path / "out"))
    verdict = judge.verdicts([Item(Query("q", "good rain 3"), "x")], Services())[0]
    assert verdict.label in {"a", "b"}


def test_another_base_is_refused_by_a_linear_layer(tmp_path: Path, encoder: Path) -> None:
    """The digest of the base is compared before anything is judged."""
    base = tmp_path / "base"
    shutil.copytree(encoder, base)
    queries_with(tmp_path / "data", 60, {"good": "a", "bad": "b"})
    run("train", "judge", recipe_of(tmp_path, base, head_only=True, optim={"steps": 2}))
    (base / "vocab.txt").write_text((base / "vocab.txt").read_text() + "\nmore")
    judge = Trained(model=str(tmp_path / "out"))

    with pytest.raises(ConfigError, match="was trained on another"):
        judge.verdicts([Item(Query("q", "good"), "x")], Services())


def test_labels_that_are_noise_are_reported_as_such(tmp_path: Path, encoder: Path) -> None:
    """A judge that is not better than the most frequent label is called so, in words."""
    data = queries_with(tmp_path / "data", 80, {"good": "a", "bad": "b"})
    rows = [json.loads(line) for line in (data / "queries.jsonl").read_text().splitlines()]
    for number, row in enumerate(rows):
        row["kind"] = "ab"[number * number // 7 % 2]
    (data / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)))

    found = run("train", "judge", recipe_of(tmp_path, encoder, optim={"steps": 4, "lr": 1e-4}))

    assert found["report"]["better"] is False
    assert "is not better than 'most frequent label'" in found["report"]["sentences"][0]


def test_an_unknown_label_and_an_unknown_base_are_errors(tmp_path: Path, encoder: Path) -> None:
    """Both are named before anything is trained."""
    queries_with(tmp_path / "data", 40, {"good": "a", "bad": "b"})
    for more, message in (
        ({"property": "colour"}, "no query has the label 'colour'"),
        ({"property": ""}, "name the label to learn with the key property"),
        ({"base": "no-such-model"}, "no-such-model"),
        ({"max_tokens": 999}, "reads 64 tokens"),
        ({"input": "question"}, "unknown text 'question'"),
        ({"data": {"ratings": "x", "labels": "y"}}, "data must be"),
    ):
        file = recipe_of(tmp_path, encoder, **more)
        found = CliRunner().invoke(root, ["train", "judge", str(file)])
        assert found.exit_code != 0
        assert message in str(found.exception) + found.output
        assert not (tmp_path / "out").exists()


def test_a_plan_trains_nothing(tmp_path: Path, encoder: Path) -> None:
    """Memory and steps are known, and so is an empty test part."""
    queries_with(tmp_path / "data", 40, {"good": "a", "bad": "b"})
    found = run("train", "judge", recipe_of(tmp_path, encoder), "--plan")
    assert found["memory"]["total"] > 0
    assert found["examples"] > 0
    file = recipe_of(tmp_path, encoder, test=0)
    refused = CliRunner().invoke(root, ["train", "judge", str(file)])
    assert "the test part has no item" in str(refused.exception) + refused.output
    assert not (tmp_path / "out").exists()
