"""The chain of one query, on systems whose parts fail on purpose."""

from __future__ import annotations

import dataclasses
import json

import pytest
from tests.fakes.faulty_system import FAULTS, faulty

from ragstone.errors import ConfigError
from ragstone.experiment.counterfactuals import Counterfactual, ask_counterfactuals
from ragstone.experiment.load import load_experiment
from ragstone.results.chain import query_chain, query_chains
from ragstone.results.chain_text import chains_document, chains_text
from ragstone.results.results import Results


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return the results of the systems that fail on purpose."""
    return faulty(tmp_path_factory.mktemp("faulty"))


@pytest.mark.parametrize("kind", FAULTS)
def test_the_cause_is_that_of_the_wrong_answer(results: Results, kind: str) -> None:
    """With its evidence; the answers are those under every setting."""
    chain = query_chain(results, kind, "a", "retrieved(3)")

    assert (chain.cause, chain.within) == FAULTS[kind]
    assert chain.right is False
    assert chain.evidence
    assert [one.setting for one in chain.answers] == results.settings


@pytest.mark.parametrize(
    ("kind", "ranks"),
    [
        ("miss", (None, None, False, False)),
        ("low", (7, 7, False, False)),
        ("pushed", (1, 8, False, False)),
        ("dropped", (1, 1, True, False)),
        ("distracted", (1, 1, True, True)),
    ],
)
def test_the_gold_passage_is_followed(
    results: Results, kind: str, ranks: tuple[int | None, int | None, bool, bool]
) -> None:
    """Through the retriever, the reranker, the setting and the processor."""
    chain = query_chain(results, kind, "a", "retrieved(3)")
    (gold,) = chain.gold

    assert (gold.retrieved, gold.ranked, gold.built, gold.shown) == ranks
    assert chain.search == f"{kind} happened when?"
    assert chain.context is not None
    assert chain.cut == 3
    shown = [p.passage_id for p in chain.context]
    assert (f"{kind}-gold" in shown) is ranks[3]


def test_a_right_answer_has_no_cause(results: Results) -> None:
    """Nor has a wrong one under a setting that decides the causes of others."""
    right = query_chain(results, "right", "a", "retrieved(3)")
    gold = query_chain(results, "misread", "a", "gold")

    assert (right.right, right.cause, right.evidence) == (True, None, "")
    assert (gold.right, gold.cause) == (False, None)
    assert "those that decide the causes of others" in chains_text(results, [gold])


def test_without_names_all_mixed_settings_are_shown(results: Results) -> None:
    """One chain per system and setting; another system's answers are not among them."""
    chains = query_chains(results, "known")

    assert [(one.system, one.setting) for one in chains] == [
        (system, setting) for setting in ("retrieved(3)", "neighbours(3)") for system in "ab"
    ]
    assert all("autumn b" not in (one.answer or "") for one in chains[0].answers)
    assert [one.right for one in chains[0].answers[:2]] == [True, False]


def test_the_document_is_plain_data(results: Results) -> None:
    """And is that of JSON; the place of a gold passage in the context is in it."""
    document = chains_document(results, query_chains(results, "distracted", "a"))

    assert json.loads(json.dumps(document)) == document
    (gold,) = document["chains"][0]["gold"]
    assert document["chains"][0]["context"][gold["place"] - 1][0] == "distracted-gold"


def test_the_text_has_every_step(results: Results) -> None:
    """Control characters of a text are blanks."""
    chain = query_chain(results, "pushed", "a", "retrieved(3)")
    text = chains_text(results, [dataclasses.replace(chain, search="\x1b[31mred")])

    assert "pushed under retrieved" not in text
    assert "== a under retrieved(3): wrong" in text
    assert "Cause: reranking" in text
    assert "pushed-gold" in text
    assert "\x1b" not in text


def test_unknown_names_have_the_nearest_one(results: Results) -> None:
    """Of queries, systems and settings."""
    for query_id, system, setting, problem in (
        ("mis", "a", "gold", "such as miss"),
        ("miss", "aa", "gold", "did you mean 'a'"),
        ("miss", "a", "retrieved(4)", "did you mean 'retrieved\\(3\\)'"),
        ("miss", "rewriter", "gold", "rewriter"),
    ):
        with pytest.raises(ConfigError, match=problem):
            query_chain(results, query_id, system, setting)


def test_deciding_counterfactuals_are_listed(tmp_path_factory: pytest.TempPathFactory) -> None:
    """With what they changed."""
    folder = tmp_path_factory.mktemp("decided")
    results = faulty(folder, settings=["none", "retrieved(3)"])
    experiment = load_experiment(folder / "e.yaml")
    wanted = Counterfactual(("low",), ("gold",), purpose="deciding", note="gold alone")
    ask_counterfactuals(experiment, [wanted])

    chain = query_chain(results, "low", "a", "retrieved(3)")

    assert [(one.setting, one.right, one.note) for one in chain.answers] == [
        ("none", False, ""),
        ("retrieved(3)", False, ""),
        ("gold", True, "gold alone"),
    ]
