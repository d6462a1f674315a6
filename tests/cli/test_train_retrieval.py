"""`ragstone train embedder` and `reranker`: files in, a folder and figures out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from tests.fakes.tiny_encoder import save_encoder, save_towns, towns

from ragstone.cli import root
from ragstone.data.load import load_dataset
from ragstone.errors import ConfigError

needs_torch = pytest.mark.needs("torch", "sentence_transformers", "peft")


def train(folder: Path, kind: str, *options: str, **keys: Any) -> str:
    """Write a training file, run the command, and return its output."""
    if not (folder / "towns").exists():
        save_towns(folder / "towns")
    recipe = {
        "base": str(folder / "base"),
        "data": "towns",
        "output": str(folder / kind),
        "test": 0.3,
        "validation": 0.1,
        "optim": {"steps": 2, "batch": 4, "validations": 1},
        **keys,
    }
    path = folder / f"{kind}.yaml"
    path.write_text(yaml.safe_dump(recipe))
    done = CliRunner().invoke(root, ["train", kind, str(path), *options], catch_exceptions=False)
    return done.stdout


@needs_torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_embedder_is_trained_tested_and_kept(tmp_path: Path) -> None:
    """The keys that others script against; a second run returns the same and trains nothing."""
    save_encoder(tmp_path / "base")

    found = json.loads(train(tmp_path, "embedder", "--json", query_prefix="query: "))
    text = train(tmp_path, "embedder", query_prefix="query: ")

    assert len(found["loss"]) == 2
    assert [one["step"] for one in found["validation"]] == [0, 2]
    assert [row["metric"] for row in found["test"]["rows"]] == ["nDCG@10", "R@5", "MRR@10"]
    assert found["test"]["passages"] == 41
    assert found["digest"][:12] in text
    assert 'max_tokens: 256, query_prefix: "query: "}' in text
    parts = [
        set((tmp_path / "embedder" / "splits" / f"{part}.txt").read_text().split())
        for part in ("train", "validation", "test")
    ]
    assert sum(map(len, parts)) == len(set.union(*parts)) == 40
    record = json.loads((tmp_path / "embedder" / "training.json").read_text())
    assert record["facts"]["test"] == found["test"]
    card = (tmp_path / "embedder" / "README.md").read_text()
    assert "sentence-transformers" in card
    assert "| nDCG@10" in card
    plan = json.loads(train(tmp_path, "embedder", "--plan", "--json", output=str(tmp_path / "no")))
    assert (plan["steps"], plan["batch"], plan["method"]) == (2, 4, "full")
    assert not (tmp_path / "no").exists()


@needs_torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_reranker_learns_from_a_run(tmp_path: Path) -> None:
    """The run file is beside the training file; without it the command says so."""
    save_encoder(tmp_path / "base")
    save_towns(tmp_path / "towns")
    data = load_dataset(tmp_path / "towns")
    lines = [
        f"{query.query_id} Q0 {passage} {rank} {9 - rank} own\n"
        for query in data.queries
        for rank, passage in enumerate(data.corpus.passage_ids[5:10], start=1)
    ]
    (tmp_path / "own.trec").write_text("".join(lines))

    text = train(tmp_path, "reranker", negatives="own.trec", depth=5)

    assert "before: the candidates as retrieved" in text
    assert "the first 5 candidates reranked" in text
    assert "{name: cross-encoder, model: " in text
    with pytest.raises(ConfigError, match="absent"):
        train(tmp_path, "reranker", negatives="absent.trec")


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"method": "lora"}, "method: input should be 'full'"),
        ({"depht": 5}, "unknown key; did you mean 'depth'"),
        ({"optim": {"packing": True}}, "optim.packing"),
        ({"negatives": "no-retriever"}, "no-retriever"),
        ({"negatives": {"experiment": "none.yaml"}}, "none.yaml"),
    ],
)
def test_wrong_keys_are_named(tmp_path: Path, keys: dict[str, Any], problem: str) -> None:
    """Before a model is loaded."""
    with pytest.raises(Exception, match=problem):
        train(tmp_path, "embedder", **keys)


def test_data_without_judgements_is_refused(tmp_path: Path) -> None:
    """The error names the data set and the key."""
    save_towns(tmp_path / "towns")
    shutil.rmtree(tmp_path / "towns" / "qrels")
    (tmp_path / "towns" / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n")

    with pytest.raises(ConfigError, match="has no qrels with a relevant passage"):
        train(tmp_path, "reranker")
    assert len(towns().queries) == 40
