"""Every experiment and every component that the documentation shows is one that can be made."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from tools.shown_blocks import read_blocks

from ragstone import load_dataset
from ragstone.core.environment import references_in
from ragstone.core.registry import create
from ragstone.errors import MissingDependency, ModelFileError
from ragstone.experiment.campaign import Campaign
from ragstone.experiment.data_sets import ONE
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.members import parse_members

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
PAGES: Final = {
    str(page.relative_to(DOCS.parent)).removeprefix("docs/").removesuffix(".md"): page
    for page in (
        DOCS.parent / "README.md",
        *sorted(DOCS.glob("*.md")),
        *DOCS.glob("tutorials/*.md"),
    )
}
KINDS: Final = {
    "query": "queries",
    "retriever": "retrievers",
    "reranker": "rerankers",
    "processor": "processors",
    "generator": "generators",
    "embedder": "embedders",
    "encoder": "embedders",
}
_LINE: Final = re.compile(rf"^({'|'.join(KINDS)}): +(\S.*)$", re.MULTILINE)


def _blocks() -> list[tuple[str, str]]:
    return [
        (f"{name}-{block.line}", block.text)
        for name, page in PAGES.items()
        for block in read_blocks(page)
        if block.language == "yaml"
    ]


EXPERIMENTS: Final = {
    name: block for name, block in _blocks() if re.search("^systems:", block, re.MULTILINE)
}
COMPONENTS: Final = {
    f"{name}-{line}": (kind, written)
    for name, block in _blocks()
    if name not in EXPERIMENTS
    for line, (kind, written) in enumerate(_LINE.findall(block))
}


def _completed(block: str, folder: Path) -> dict[str, Any]:
    """Return an experiment as a reader would complete it: on the sample data, in a new store."""
    shown = yaml.safe_load(block)
    added: dict[str, Any] = {"metrics": ["nDCG@10"]}
    if "generator:" in block:
        added = {"metrics": ["Match"], "settings": ["none"]}
    data = shown.get("data")
    several = {"data": data} if isinstance(data, dict) and not ONE & data.keys() else {}
    if isinstance(data, dict) and "sets" in data:
        several = {"data": {**data, "sets": dict.fromkeys(data["sets"], "sample")}}
    return {**added, **shown, "data": "sample", **several, "store": str(folder / "store")}


def _set_variables(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in references_in(block):
        monkeypatch.setenv(name.removeprefix("env:"), "a value")


def put_files(page: str, folder: Path) -> None:
    """Write the code of a page into the folder of its experiments."""
    for block in read_blocks(PAGES[page]):
        if block.title:
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text(block.text)
    text = PAGES[page].read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    if "`parts.py`" in text and not (folder / "parts.py").exists():
        (folder / "parts.py").write_text("".join(b for b in blocks if "def test_" not in b))
    listed = [query.query_id for query in load_dataset("sample").queries]
    for output in ("out", "trained"):
        (folder / output / "splits").mkdir(parents=True)
        (folder / output / "splits" / "test.txt").write_text("\n".join(listed))
    if "adapter: trained" in text:
        shape = {"peft_type": "LORA", "r": 2, "lora_alpha": 4, "target_modules": ["q_proj"]}
        named = {"base_model_name_or_path": "smollm2-135m-instruct", **shape}
        (folder / "trained" / "adapter_config.json").write_text(json.dumps(named))
        none = (2).to_bytes(8, "little") + b"{}"
        (folder / "trained" / "adapter_model.safetensors").write_bytes(none)
    for module, name in re.findall(r"\b(my_\w+)\b(?:\.py)?:(\w+)", text):
        for block in blocks:
            if re.search(rf"^(def|class) {name}\b", block, re.MULTILINE):
                (folder / f"{module}.py").write_text(block)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiments_pass_the_check(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names, parameters, depths and metrics; the files that a page speaks of are put there."""
    monkeypatch.chdir(tmp_path)
    put_files(name.rpartition("-")[0], tmp_path)
    _set_variables(EXPERIMENTS[name], monkeypatch)
    document = _completed(EXPERIMENTS[name], tmp_path)
    experiments = [
        Experiment(one.file, tmp_path, member=one.member) for one in parse_members(document, name)
    ]
    campaign = Campaign(tuple(experiments))
    campaign.check()
    assert all(one.systems for one in campaign.experiments)


@pytest.mark.parametrize("name", COMPONENTS)
def test_components_can_be_made(name: str) -> None:
    """A single line, as in a system."""
    kind, written = COMPONENTS[name]
    shown = yaml.safe_load(written.replace("...", '"http://localhost:8000/v1"'))
    try:
        assert create(KINDS[kind], shown, where=name) is not None
    except (MissingDependency, ModelFileError) as error:
        pytest.skip(f"not on this machine: {error}")


def test_the_pages_show_some() -> None:
    """The search for snippets finds them."""
    assert {name.rpartition("-")[0] for name in EXPERIMENTS} >= {"retrievers", "rerankers"}
    assert len(COMPONENTS) > 5
