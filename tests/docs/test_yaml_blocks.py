"""Every YAML block of the documentation is read by the program that it is for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from tests.docs.test_experiments import PAGES, put_files
from tools.shown_blocks import Block, read_blocks

from ragstone import load_dataset
from ragstone.annotation.project import Settings
from ragstone.building.labels import Labeller
from ragstone.building.simulated_user import load_personas
from ragstone.calls.prices import Prices
from ragstone.core.own_files import read_model
from ragstone.errors import DatasetError
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.members import parse_members
from ragstone.training.judge_recipe import JudgeRecipe
from ragstone.training.recipe import GeneratorRecipe, read_recipe
from ragstone.training.retrieval import RetrievalRecipe
from ragstone.training.writer import WriterRecipe

RECIPES: Final = {
    "train": GeneratorRecipe,
    "training-leaks": GeneratorRecipe,
    "tutorials/train-a-reader": GeneratorRecipe,
    "train-judge": JudgeRecipe,
    "train-retrieval": RetrievalRecipe,
    "train-writer": WriterRecipe,
}
SYSTEMS: Final = {name: {"retriever": "bm25", "generator": "gold"} for name in ("bm25", "dense")}
ALONE: Final = {"own": {"generator": "gold"}}
CHAT: Final = {"name": "chat", "model": "a", "base_url": "http://localhost:8000/v1"}
QUERIES: Final = [{"_id": f"q{n}", "text": f"Question {n}?", "answers": ["A"]} for n in range(20)]
READ_BY: Final = {
    "systems": "test_experiments.py",
    "version": "test_prompts_page.py",
    "judge": "test_prompts_page.py",
    "ask": "test_annotate_page.py",
    "jobs": "GitHub",
    "gate": "GitLab",
    "run": "GitHub",
}
"""Key of a block -> who reads it, other than this file."""
LINES: Final = {"generator", "retriever", "reranker", "query", "embedder", "encoder"}
"""Lines of a system: test_experiments.py makes their components."""


def _keys(block: Block) -> list[str]:
    return re.findall(r"^(?:- )?\{?(\w+):", block.text, re.MULTILINE)


BLOCKS: Final = {
    f"{name}-{block.line}": (name, block)
    for name, page in PAGES.items()
    for block in read_blocks(page)
    if block.language == "yaml" and not {*READ_BY, *LINES} & {*_keys(block)}
}


def _alternatives(block: Block) -> list[Any]:
    """Return the document, or one per line if a page shows a key in several ways."""
    keys = _keys(block)
    if len(keys) > len(set(keys)):
        return [yaml.safe_load(line) for line in block.text.splitlines() if line.strip()]
    return [yaml.safe_load(block.text)]


def _part_of_an_experiment(_: str, block: Block, folder: Path) -> None:
    (folder / "prompts").mkdir()
    (folder / "prompts" / "my-rating.yaml").write_text("judge: RB_llm\nsystem: Be strict.\n")
    rows = [query | {"vital_nuggets": ["Lima", "Cairo"]} for query in QUERIES]
    (folder / "own").mkdir()
    (folder / "own" / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for shown in _alternatives(block):
        document = {
            "data": "own" if "secret" in shown else "sample",
            "systems": ALONE if "secret" in shown else SYSTEMS,
            "settings": ["none", "gold", "retrieved(3)"],
            "metrics": ["Match", "nDCG@10"],
            "judges": [{"name": "nuggets", "model": CHAT}],
            **({"settings": ["none"], "metrics": ["Match"]} if "secret" in shown else {}),
            **shown,
            "store": str(folder / "store"),
        }
        for one in parse_members(document, "shown"):
            Experiment(one.file, folder, member=one.member).check()


def _data(_: str, block: Block, folder: Path) -> None:
    """Its files are absent, and nothing else is wrong."""
    for shown in _alternatives(block):
        with pytest.raises(DatasetError, match=r"no such|no data set|offline|no file"):
            load_dataset(shown["data"], folder=folder)


def _recipe(page: str, block: Block, folder: Path) -> None:
    added = {"base": "smollm2-135m-instruct", "output": "out"} if "base" not in block.text else {}
    added = {} if page == "train-judge" else added
    (folder / "t.yaml").write_text(yaml.safe_dump({**added, **yaml.safe_load(block.text)}))
    assert read_recipe(folder / "t.yaml", RECIPES[page]).output


def _project(_: str, block: Block, folder: Path) -> None:
    (folder / "project.yaml").write_text(block.text)
    assert read_model(folder / "project.yaml", "project", Settings).task == "conversation"


def _taxonomy(_: str, block: Block, folder: Path) -> None:
    (folder / "kinds.yaml").write_text(block.text)
    assert set(Labeller(taxonomy="kinds.yaml").labels) == set(yaml.safe_load(block.text)["labels"])


def _personas(_: str, block: Block, folder: Path) -> None:
    (folder / "personas.yaml").write_text(block.text)
    assert len(load_personas(folder / "personas.yaml")) == 2


def _prices(_: str, block: Block, folder: Path) -> None:
    (folder / "prices.yaml").write_text(block.text)
    assert Prices.read(folder / "prices.yaml")


def _reader_of(name: str, block: Block) -> Callable[[str, Block, Path], None]:
    keys = set(_keys(block))
    if name in RECIPES and keys & {"base", "output", "validation"}:
        return _recipe
    if "labels" in keys:
        return _taxonomy
    if "task" in keys:
        return _project
    if "currency" in keys:
        return _prices
    if "- {name: hurried" in block.text:
        return _personas
    return _data if "data" in keys else _part_of_an_experiment


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_is_read(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the reader of experiments, data, training files, projects, personas or prices."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # read at its import
    page, block = BLOCKS[name]
    put_files(page, tmp_path)
    _reader_of(page, block)(page, block, tmp_path)


def test_a_wrong_key_is_found(tmp_path: Path) -> None:
    """A part of an experiment, a training file and data with a key that does not exist."""
    for page, text in (("secret", "secrets: 20%"), ("train", "base: a\ndata: b\noutputs: c\n")):
        block = Block("page.md", 1, "yaml", "", text)
        with pytest.raises(Exception, match=r"secrets|outputs"):
            _reader_of(page, block)(page, block, tmp_path)
