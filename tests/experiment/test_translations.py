"""Experiments whose queries, contexts and answers are translated: what a failure counts as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.schemas import rows
from ragstone.data.dataset import Dataset
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.load import load_experiment
from ragstone.testing import FakeModelServer

PASSAGES = {"river": "The river ends in the sea.", "tower": "The tower was built in the year 1543."}
QUERIES = {"q1": "Wo endet der Fluss?", "q2": "Wann wurde der tower built?"}
REPLIES = {QUERIES["q1"]: "Where does the river end?", QUERIES["q2"]: ""}


def data() -> Dataset:
    """Return two German queries about English passages; the second has English words."""
    return Dataset.from_records(
        queries=[
            {"query_id": i, "text": text, "gold_answers": ["sea", "1543"], "language": "de"}
            for i, text in QUERIES.items()
        ],
        passages=[{"passage_id": i, "text": text} for i, text in PASSAGES.items()],
        qrels=[("q1", "river", 1), ("q2", "tower", 1)],
    )


def experiment(folder: Path, url: str, **parts: Any) -> Experiment:
    """Return an experiment with translated queries."""
    model = {"name": "chat", "model": "m", "base_url": url}
    translate = {"name": "translate", "model": model, **parts.pop("translate", {})}
    judges = [{"name": "translated", "model": model, **one} for one in parts.pop("judges", [])]
    system = {"name": "s", "query_former": translate, "retriever": "bm25(top_k=2)", **parts}
    document = {
        "data": data(),
        "systems": [system],
        "settings": ["retrieved(1)"],
        "metrics": ["R@2", *(["Match"] if judges else [])],
        "judges": judges,
        "store": str(folder),
    }
    return load_experiment(document)


def reply(messages: Sequence[Mapping[str, str]]) -> str:
    """Translate a query by the table."""
    return REPLIES[messages[-1]["content"]]


def test_a_query_whose_translation_failed_finds_nothing(tmp_path: Path) -> None:
    """Its own words would find the passage; the reasons are in the results."""
    with FakeModelServer(answer=reply) as server:
        results = experiment(tmp_path, server.url).run()
        again = experiment(tmp_path, server.url).run()
        asked = sum(server.counts()["requests"].values())
        kept = experiment(tmp_path, server.url, translate={"untranslated": "keep"}).run()

    for found, second in ((results, 0.0), (again, 0.0), (kept, 1.0)):
        (trial,) = found.trials
        values = {i: score.value for i, score in trial.scores["R@2"].items()}
        assert values == {"q1": 1.0, "q2": second}
    assert asked == len(QUERIES)
    text = str(results)
    assert "1 queries whose translation failed, not searched for" in text
    assert "1 queries whose translation failed, searched for as they are" in str(kept)
