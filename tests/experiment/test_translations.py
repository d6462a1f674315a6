"""Experiments whose queries, contexts and answers are translated: what a failure counts as."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragstone.core.schemas import table_to_scores
from ragstone.data.dataset import Dataset
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.load import load_experiment
from ragstone.results.results import Results
from ragstone.testing import FakeModelServer
from ragstone.testing.fake_model_server import Messages

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


def experiment(folder: Path, **system: Any) -> Experiment:
    """Return an experiment with one system, and with judges if it answers."""
    judges = system.pop("judges", [])
    answers = {"settings": ["retrieved(1)"], "metrics": ["R@2", "Match"], "judges": judges}
    document = {
        "data": data(),
        "systems": [{"name": "s", "retriever": "bm25(top_k=2)", **system}],
        "metrics": ["R@2"],
        "store": str(folder),
        **(answers if "generator" in system else {}),
    }
    return load_experiment(document)


def values(results: Results, metric: str) -> dict[str, Any]:
    """Return the values of a metric by query; the status of a score without one."""
    scores = table_to_scores(results.evaluation().table)
    found = [score for score in scores if score.metric == metric]
    return {s.query_id: s.status if s.value is None else s.value for s in found}


def model(server: FakeModelServer) -> dict[str, Any]:
    """Return the spec of a server's model."""
    return {"name": "chat", "model": "m", "base_url": server.url}


def test_a_query_whose_translation_failed_finds_nothing(tmp_path: Path) -> None:
    """Its own words would find the passage; the number is in the results, and a rerun is free."""
    with FakeModelServer(answer=lambda messages: REPLIES[messages[-1]["content"]]) as server:
        former = {"name": "translate", "model": model(server)}
        results = experiment(tmp_path, query_former=former).run()
        again = experiment(tmp_path, query_former=former).run()
        kept = experiment(tmp_path, query_former={**former, "untranslated": "keep"}).run()
        asked = len(server.bodies)

    assert asked == len(QUERIES)
    for found, second in ((results, 0.0), (again, 0.0), (kept, 1.0)):
        assert values(found, "R@2") == {"q1": 1.0, "q2": second}
    assert _notes(results) == {"queries whose translation failed, not searched for": 1}
    assert _notes(kept) == {"queries whose translation failed, searched for as they are": 1}
    assert {(one.step, one.what): one.count for one in results.failures} == {
        ("form", "not translated: the model wrote nothing"): 1,
        ("retrieve", "the search text is empty"): 1,
    }


def _notes(results: Results) -> dict[str, int]:
    return {note.what: note.count for note in results.notes}


def test_rankings_that_do_not_depend_on_the_text_stay(tmp_path: Path) -> None:
    """The oracle reads no search text."""
    with FakeModelServer(answer=lambda _: "") as server:
        former = {"name": "translate", "model": model(server)}
        results = experiment(tmp_path, query_former=former, retriever="oracle").run()

    assert values(results, "R@2") == {"q1": 1.0, "q2": 1.0}


def test_contexts_and_answers_are_translated(tmp_path: Path) -> None:
    """A failed translation of an answer is unscored, though the answer has the gold answer in it.

    The generator does not see the passage that was not translated. A rerun asks nothing.
    """
    shown: list[str] = []

    def reply(messages: Messages) -> str:
        asked = messages[-1]["content"]
        if messages[0]["content"].startswith("You translate into German"):
            return "Der Fluss endet im Meer, dem sea." if "river" in asked else ""
        shown.append(asked)
        return "The tower is from 1543." if "tower" in asked else "The river ends in the sea."

    with FakeModelServer(answer=reply) as server:
        chat = model(server)
        parts = {
            "processor": {"name": "translate", "model": chat},
            "query_former": {"name": "given", "texts": {"q1": "river"}},
            "generator": chat,
            "judges": [{"name": "translated", "model": chat, "metric": ["Match", "Recall"]}],
        }
        results = experiment(tmp_path / "store", **parts).run()
        asked = len(server.bodies)
        experiment(tmp_path / "store", **parts).run()
        plan = experiment(tmp_path / "other", **parts).plan()

        assert len(server.bodies) == asked
    assert plan.calls_of("judge") == len(QUERIES)
    first, second = sorted(shown, key=lambda text: "tower" in text)
    assert "Der Fluss endet im Meer" in first
    assert PASSAGES["tower"] not in second
    assert values(results, "Match") == {"q1": 1.0, "q2": 1.0}
    assert values(results, "Match(translated=gold)") == {"q1": 1.0, "q2": "unscored"}
    assert _notes(results) == {"passages whose translation failed, dropped": 1}
    assert {(one.step, one.what): one.count for one in results.failures} == {
        ("process", "not translated: the model wrote nothing"): 1,
        ("judge", "not translated: the model wrote nothing"): 1,
    }
