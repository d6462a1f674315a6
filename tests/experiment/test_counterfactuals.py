"""Queries asked again with something changed, kept apart from the experiment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support import read_only

from ragstone.core.store import Store
from ragstone.core.store_check import check_store
from ragstone.core.store_contents import StoreContents, prune
from ragstone.errors import CallError, ConfigError, StoreError
from ragstone.experiment.counterfactuals import (
    Counterfactual,
    ask_counterfactuals,
    changed_part,
    plan_counterfactual,
)
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.load import load_experiment
from ragstone.results.counterfactuals import kept_counterfactuals
from ragstone.results.record import COUNTERFACTUALS
from ragstone.testing import FakeModelServer


@pytest.fixture
def server() -> Iterator[FakeModelServer]:
    """Yield a model server whose answer is always the same."""
    with FakeModelServer(lambda *_: "Lisbon") as found:
        yield found


@pytest.fixture
def experiment(server: FakeModelServer, tmp_path: Path) -> Experiment:
    """Return an experiment that ran."""
    made = load_experiment(document(server, tmp_path))
    made.run()
    return made


def document(server: FakeModelServer, folder: Path, **changes: Any) -> dict[str, Any]:
    """Return an experiment file."""
    generator = {"name": "chat", "model": "m", "base_url": server.url}
    return {
        "name": "demo",
        "data": "sample",
        "store": str(folder / "store"),
        "sample": {"limit": 6},
        "systems": {"s": {"retriever": "bm25", "generator": generator}},
        "settings": ["gold", "retrieved(3)"],
        "metrics": ["R@5", "Match"],
        **changes,
    }


def without_each(experiment: Experiment) -> tuple[str, Counterfactual]:
    """Return the counterfactual that leaves out each passage of the first query."""
    trial = experiment.run().trials[1]
    query_id, context = next(iter(trial.contexts.items()))
    kept = [[p for p in context.passage_ids if p != out] for out in context.passage_ids]
    settings = tuple(
        {"name": "given", "label": f"without {place}", "contexts": {query_id: passages}}
        for place, passages in enumerate(kept)
    )
    return query_id, Counterfactual((query_id,), settings)


def test_a_context_without_a_passage_is_asked_once(experiment: Experiment) -> None:
    """The plan names the calls; the second time everything is kept."""
    query_id, wanted = without_each(experiment)

    assert plan_counterfactual(experiment, wanted).calls == len(wanted.settings)
    (first,) = ask_counterfactuals(experiment, [wanted])
    (again,) = ask_counterfactuals(experiment, [wanted])

    assert (first.calls, again.calls) == (3, 0)
    assert again.results is not None
    assert [len(t.contexts[query_id].passages) for t in again.results.trials] == [2, 2, 2]
    assert all(query_id in t.scores["Match"] for t in again.results.trials)


def test_the_experiment_stays_as_it_was(experiment: Experiment) -> None:
    """Its record, its passport and the list of experiments do not change; prune keeps all."""
    query_id, wanted = without_each(experiment)
    before = experiment.run()
    (asked,) = ask_counterfactuals(experiment, [wanted])
    after, store = experiment.run(), experiment.store

    assert after.record == before.record
    contents = StoreContents.of(store)
    assert [(one.name, one.counterfactuals) for one in contents.experiments] == [("demo", 1)]
    prune(store.root, contents.prunable(-1))
    (kept,) = kept_counterfactuals(after, query_id)
    assert asked.results is not None
    assert kept.record == asked.results.record
    assert kept.trials[0].predictions[query_id].answer == "Lisbon"
    assert check_store(store).is_sound
    assert kept_counterfactuals(after, query_id, "deciding") == []


def test_a_missing_step_of_a_counterfactual_is_found(experiment: Experiment) -> None:
    """`store check` names the counterfactual."""
    _, wanted = without_each(experiment)
    (asked,) = ask_counterfactuals(experiment, [wanted])
    assert asked.results is not None
    folder = experiment.store.root / "steps" / asked.results.record.trials[0].predictions
    folder.rename(experiment.store.root.parent / "elsewhere")

    (damage,) = check_store(experiment.store).damaged

    assert f"the counterfactual {asked.results.name!r}" in damage.what


def test_a_maximum_of_calls_leaves_queries_out(experiment: Experiment) -> None:
    """The first queries are asked, and the others are named with the reason."""
    queries = tuple(list(experiment.run().queries)[:5])
    wanted = Counterfactual(queries, ({"name": "retrieved", "top_k": 7},))
    (asked,) = ask_counterfactuals(experiment, [wanted], max_calls=2)
    (none,) = ask_counterfactuals(experiment, [wanted], max_calls=0)

    assert (asked.calls, asked.left_out) == (2, queries[2:])
    assert none.calls == 0
    assert "maximum of 0 calls" in none.reason


def test_the_search_text_and_the_prompt_change(experiment: Experiment) -> None:
    """Another search gives another ranking; another prompt another call."""
    query_id, _ = without_each(experiment)
    former = {"name": "given", "texts": {query_id: "zzz"}}
    search = Counterfactual((query_id,), ("retrieved(3)",), parts={"query_former": former})
    user = changed_part(experiment, "s", "generator", user="{context} Q: {query}")
    prompt = Counterfactual((query_id,), ("retrieved(3)",), parts={"generator": user})

    empty, other = ask_counterfactuals(experiment, [search, prompt])

    assert empty.results is not None
    assert empty.results.trials[0].contexts[query_id].passages == ()
    assert other.calls == 1


def test_unknown_names_cost_nothing(experiment: Experiment) -> None:
    """A query, a system, a part and a parameter are named with the nearest one."""
    query_id, wanted = without_each(experiment)
    for changed, problem in (
        (Counterfactual((query_id + "x",), ("gold",)), "has no query"),
        (Counterfactual((query_id,), ("gold",), systems=("t",)), "no system 't'"),
        (Counterfactual((query_id,), ("gold",), parts={"former": None}), "no part 'former'"),
        (Counterfactual((query_id,), ()), "needs a context setting"),
    ):
        with pytest.raises(ConfigError, match=problem):
            ask_counterfactuals(experiment, [wanted, changed][1:])
    with pytest.raises(ConfigError, match="no parameter 'usr'"):
        changed_part(experiment, "s", "generator", usr="{query}")


def test_an_edited_file_is_refused(
    experiment: Experiment, server: FakeModelServer, tmp_path: Path
) -> None:
    """Answers of another generator could not be compared."""
    _, wanted = without_each(experiment)
    generator = {"name": "chat", "model": "other", "base_url": server.url}
    systems = {"s": {"retriever": "bm25", "generator": generator}}
    edited = load_experiment(document(server, tmp_path, systems=systems))

    with pytest.raises(ConfigError, match="generator of system 's' is not that of the last run"):
        ask_counterfactuals(edited, [wanted])


def test_a_model_that_is_off_is_named(tmp_path: Path) -> None:
    """Nothing is stored, and the same call works when the server is back."""
    with FakeModelServer(lambda *_: "Lisbon") as server:
        experiment = load_experiment(document(server, tmp_path))
        _, wanted = without_each(experiment)
    with pytest.raises(CallError, match="is the server of 'm' running"):
        ask_counterfactuals(experiment, [wanted])
    assert not (Store(tmp_path / "store").root / COUNTERFACTUALS).exists()


def test_a_read_only_store_serves_what_it_keeps(experiment: Experiment) -> None:
    """What is kept is read; anything new is an error."""
    query_id, wanted = without_each(experiment)
    ask_counterfactuals(experiment, [wanted])
    new = Counterfactual((query_id,), ("retrieved(7)",))
    with read_only(experiment.store.root):
        (kept,) = ask_counterfactuals(experiment, [wanted])
        with pytest.raises(StoreError, match="cannot write"):
            ask_counterfactuals(experiment, [new])

    assert kept.calls == 0
