"""One query asked again with a change: what is asked, and what cannot be changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.asked_store import answer, asked_experiment
from tests.fakes.faulty_system import faulty

from ragstone.core.store import Store
from ragstone.errors import ConfigError
from ragstone.experiment.changed_query import ask_changed, changed_query
from ragstone.experiment.recorded import ask_recorded, recorded_experiment, selected_dataset
from ragstone.results.chain import query_chain
from ragstone.results.counterfactuals import kept_counterfactuals
from ragstone.results.results import Results
from ragstone.results.what_if import WhatIf
from ragstone.testing import FakeModelServer
from ragstone.types import ContextPassage


@pytest.fixture
def server() -> Iterator[FakeModelServer]:
    """Yield a model server."""
    with FakeModelServer(answer) as found:
        yield found


@pytest.fixture
def results(server: FakeModelServer, tmp_path: Path) -> Results:
    """Return the results of an experiment that ran."""
    return asked_experiment(tmp_path, server.url).run()


def test_the_recorded_experiment_is_that_of_the_file(results: Results) -> None:
    """Running it again computes nothing new and gives equal results."""
    again = recorded_experiment(results)
    assert again.file.model_dump() == {**results.record.file, "store": str(results.store.root)}
    assert again.run().record.trials == results.record.trials


def test_passages_are_shown_as_given(tmp_path: Path) -> None:
    """The processor does not run again, so that an edited passage stays as it was edited."""
    results = faulty(tmp_path)
    chain = query_chain(results, "shortened", "a", "retrieved(3)")
    assert chain.context is not None
    whole = ContextPassage("shortened-gold", "", "retrieved")
    change = WhatIf((whole, *chain.context[1:]), note="whole")
    wanted = changed_query(recorded_experiment(results), chain, change)
    assert wanted.parts == {"processor": None}
    assert wanted.note == "what if: retrieved(3), whole"
    name = ask_recorded(results, chain, change)
    (kept,) = kept_counterfactuals(results, "shortened", "exploratory")
    (trial,) = kept.trials
    assert kept.name == name
    shown = trial.contexts["shortened"].passages[0].text
    assert shown.endswith("It happened in winter.")


def test_a_passage_that_was_shown_without_text_stays(results: Results) -> None:
    """Only an added passage is looked up by its id."""
    chain = query_chain(results, "q1", "s", "gold")
    experiment = recorded_experiment(results)
    with pytest.raises(ConfigError, match="no passage 'nix'; give its text"):
        changed_query(experiment, chain, WhatIf((ContextPassage("nix", "", "retrieved"),)))
    asked = ask_changed(experiment, chain, WhatIf((ContextPassage("nix", "Mine.", "retrieved"),)))
    assert asked.calls == 1


def test_a_file_in_python_cannot_be_read_again(results: Results, tmp_path: Path) -> None:
    """Objects of a program are in no record; the message says what to do."""
    record = results.record
    broken = Results(results.store, type(record)(**{**vars(record), "file": {"name": "x"}}))
    with pytest.raises(ConfigError, match="run the experiment again"):
        recorded_experiment(broken)
    assert Store(tmp_path / "store").root.exists()


def test_a_data_set_of_some_queries(results: Results) -> None:
    """It has their judgements alone, and all passages."""
    made = selected_dataset(results, ["t1"], "mine")
    assert (made.name, made.query_table.num_rows, made.qrels) == ("mine", 1, {"t1": {"p2": 1}})
    assert len(made.corpus) == results.record.data.passages
