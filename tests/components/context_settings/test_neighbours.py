"""neighbours(n) joins each passage with those beside it, and shows no text twice."""

from __future__ import annotations

from typing import Any

import pytest

from ragstone.components.context_settings.neighbours import Neighbours
from ragstone.core.component import run_component
from ragstone.core.registry import create
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.errors import ConfigError
from ragstone.experiment.load import load_experiment
from ragstone.protocols import Services
from ragstone.types import (
    Candidates,
    Context,
    Document,
    GoldPassages,
    NoisePassages,
    Passage,
    Query,
    RetrievedPassages,
)

NAMED = [Passage(f"a{i}", f"Part {i}.", "", "a") for i in range(1, 8)]
PASSAGES = (*NAMED[:4], Passage("alone", "A page of its own."), *NAMED[4:])


def context(
    setting: Neighbours, *shown: str, corpus: Corpus | None = None, gold: tuple[str, ...] = ()
) -> Context:
    """Return the context of a query whose ranking has some passages."""
    held = corpus or Corpus.from_passages(PASSAGES)
    given = Candidates(
        Query("q", "When?"),
        GoldPassages(tuple(held[name] for name in gold)),
        NoisePassages(()),
        RetrievedPassages(tuple(held[name] for name in shown)),
    )
    (outcome,) = run_component(setting, Services(corpus=held), [given])
    found: Context = outcome.value
    return found


def texts(found: Context) -> list[str]:
    """Return the passages as one line each."""
    return [passage.text.replace("\n\n", " ") for passage in found.passages]


def test_a_passage_is_shown_with_those_beside_it() -> None:
    """The document ends at its first and last passage; a passage without one stays alone."""
    assert texts(context(Neighbours(3), "a6", "alone", "a1")) == [
        "Part 5. Part 6. Part 7.",
        "A page of its own.",
        "Part 1. Part 2.",
    ]
    assert texts(context(Neighbours(1, each_side=2), "a3")) == [
        "Part 1. Part 2. Part 3. Part 4. Part 5."
    ]
    assert context(Neighbours(2)).passages == ()


def test_passages_that_touch_become_one_at_the_better_place() -> None:
    """With the id of the better one; a third passage may join two groups."""
    found = context(Neighbours(4), "a6", "alone", "a2", "a4")

    assert found.passage_ids == ("a6", "alone")
    assert texts(found)[0] == "Part 1. Part 2. Part 3. Part 4. Part 5. Part 6. Part 7."


def test_only_the_first_n_passages_are_joined() -> None:
    """The depth of the ranking that the setting needs is n."""
    assert context(Neighbours(1), "a1", "a6").passage_ids == ("a1",)
    assert (Neighbours(4).shows, Neighbours(4, of="gold").shows) == (4, 0)


def test_neighbours_of_gold_passages() -> None:
    """The ranking is not read; a query without a gold passage is not applicable."""
    setting = Neighbours(2, of="gold")
    found = context(setting, "alone", gold=("a2",))

    assert [(p.passage_id, p.origin) for p in found.passages] == [("a2", "gold")]
    assert setting.inapplicable(Query("q", "?"), 0) == "the query has no gold passage"


@pytest.mark.parametrize("named", [True, False])
def test_cut_passages_are_joined_by_their_offsets(named: bool) -> None:
    """Whatever their order in the corpus; ids with offsets do without a document's name."""
    document = Document("d", "The ferry to Hathe leaves at 7:40 and returns at noon.")
    cut = [document.passage(0, 20), document.passage(15, 35), document.passage(35, 54)]
    if not named:
        cut = [Passage(p.passage_id, p.text) for p in cut]
    corpus = Corpus.from_passages(cut[::-1])

    assert texts(context(Neighbours(1), "d-0-20", corpus=corpus)) == [document.text[:35]]
    assert texts(context(Neighbours(1), "d-35-54", corpus=corpus)) == [document.text[15:]]


def test_a_neighbour_is_of_the_same_collection() -> None:
    """Two tenants may have a document of the same name."""
    passages = [Passage(f"{t}{i}", f"{t} text {i}", "", "manual") for i in (1, 2) for t in "xy"]
    corpus = Corpus(Corpus.from_passages(passages).table, collections={"x": [0, 2], "y": [1, 3]})

    assert texts(context(Neighbours(1), "y2", corpus=corpus)) == ["y text 1 y text 2"]


def experiment(documents: list[str], store: Any) -> Any:
    """Return an experiment on a data set of a query and a passage per document."""
    data = Dataset.from_records(
        queries=[{"query_id": "q", "text": "ferry", "gold_answers": ["7"]}],
        passages=[
            {"passage_id": f"p{i}", "text": f"ferry {i}", **({"document": d} if d else {})}
            for i, d in enumerate(documents)
        ],
        qrels=[("q", "p0", 1)],
    )
    systems = {"s": {"retriever": "bm25", "generator": "gold"}}
    settings, metrics = ["retrieved(1)", "neighbours(1)"], ["Match"]
    return load_experiment(
        {"name": "e", "data": data, "systems": systems, "settings": settings, "metrics": metrics}
        | {"store": str(store)}
    )


def test_a_corpus_without_neighbours_is_refused_at_the_plan(tmp_path: Any) -> None:
    """With the way out; documents of one passage have none either."""
    with pytest.raises(ConfigError, match=r"no document of the data set .* has two passages"):
        experiment(["", "d"], tmp_path).plan()


def test_passages_that_are_alone_are_noted(tmp_path: Any) -> None:
    """The experiment runs, and the settings are compared."""
    asked = experiment(["d", "", "d"], tmp_path)
    note = "neighbours(1): 1 passages have no neighbour and are shown alone"
    assert note in asked.plan().notes
    results = asked.run()
    (pair,) = results.to_dict()["setting_comparisons"]
    assert (pair["a"], pair["b"], pair["n"]) == ("retrieved(1)", "neighbours(1)", 1)


@pytest.mark.parametrize("name", ["top_k", "each_side"])
def test_numbers_below_one_are_refused(name: str) -> None:
    """The error names the parameter and the value."""
    with pytest.raises(ConfigError, match=f"needs {name} of at least 1, found 0"):
        create("context_settings", {"name": "neighbours", name: 0}, where="setting")
