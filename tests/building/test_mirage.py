"""MIRAGE's recipe on a hand-made corpus with a model that knows the answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from ragstone.building.articles import Articles
from ragstone.building.mirage import MirageBuild, MirageBuilder, MirageRecipe
from ragstone.calls.client import Calls
from ragstone.calls.prices import Budget, Prices
from ragstone.components.judges.support import Support
from ragstone.core import limits
from ragstone.core.registry import create
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.writers.layouts import WRITERS
from ragstone.errors import ConfigError, DatasetError
from ragstone.protocols import Services
from ragstone.testing import FakeExpert, FakeModelServer, fake_model_server

RIVERS = ("Tagus", "Douro", "Minho", "Sado", "Mondego", "Vouga")
PASSAGES = [
    {"passage_id": f"{name}-{n}", "title": name, "text": f"Part {n} of the {name}: {text}."}
    for name in RIVERS
    for n, text in enumerate(("it rises in the hills", f"its length is {len(name)}00 km"))
]
QUERIES: list[dict[str, Any]] = [
    {"query_id": name, "text": f"How long is the {name}?", "article": name}
    | {"gold_answers": [f"{len(name)}00 km"], "source": "even" if n % 2 else "odd"}
    for n, name in enumerate(RIVERS)
]
EXTRA: list[dict[str, Any]] = [
    {
        "query_id": "again",
        "text": "Is the Tagus long?",
        "article": "tagus",
        "gold_answers": ["yes"],
    },
    {"query_id": "mute", "text": "Where is the Sado?", "article": "Sado"},
    {"query_id": "lost", "text": "How long is the Nile?", "article": "Nile", "gold_answers": ["x"]},
    {"query_id": "bare", "text": "How long?", "gold_answers": ["x"]},
]


def rivers(*extra: dict[str, Any], without: str = "") -> Dataset:
    """Return the data set with its judgements; the passage that answers is `NAME-1`."""
    return Dataset.from_records(
        queries=[*QUERIES, *extra],
        passages=PASSAGES,
        qrels=[(name, f"{name}-1", 1) for name in RIVERS if name != without],
        name="rivers",
    )


@contextmanager
def builder(
    truth: Dataset, folder: Path, recipe: MirageRecipe, **expert: Any
) -> Iterator[MirageBuilder]:
    """Yield a builder whose judge and reader know the judgements of `truth`."""
    with (
        FakeModelServer(answer=FakeExpert(truth, **expert)) as server,
        Calls.at(folder / "calls.sqlite") as calls,
    ):
        model = {"name": "chat", "base_url": server.url, "model": "fake"}
        judge = Support(model=model, least_parse_rate=0.0)
        reader = create("generators", model, where="test")
        articles = Articles.read(truth.corpus, None)
        yield MirageBuilder(articles, judge, reader, Services(calls=calls), recipe)


def built(
    truth: Dataset, folder: Path, recipe: MirageRecipe | None = None, **expert: Any
) -> MirageBuild:
    """Return the benchmark of all queries of `truth`."""
    with builder(truth, folder, recipe or MirageRecipe(chunks=3), **expert) as made:
        return made.build([truth])


def test_the_funnel_equals_a_hand_computation(tmp_path: Path) -> None:
    """Ten queries: three without an article or answer, one double, one unsupported, one known."""
    truth = rivers(*EXTRA, without="Douro")
    made = built(truth, tmp_path, known={"Minho"})
    assert made.funnel.stages_document() == [
        {
            "stage": "mapping",
            "in": 10,
            "out": 7,
            "rejected": {
                "no gold answer": 1,
                "no article has the title": 1,
                "the query names no article": 1,
            },
        },
        {
            "stage": "one per article",
            "in": 7,
            "out": 6,
            "rejected": {"another query has the article": 1},
        },
        {"stage": "chunks", "in": 6, "out": 6, "rejected": {}},
        {
            "stage": "support",
            "in": 6,
            "out": 5,
            "rejected": {"no chunk supports the answer": 1},
        },
        {"stage": "validation", "in": 5, "out": 5, "rejected": {}},
        {"stage": "known", "in": 5, "out": 4, "rejected": {"right without context": 1}},
        {"stage": "title", "in": 4, "out": 4, "rejected": {}},
    ]
    assert made.dataset.qrels["Tagus"] == {"Tagus-1": 2, "Tagus-0": 0}
    assert made.about["positives"] == {"1": 4}


def test_known_queries_stay_with_a_label(tmp_path: Path) -> None:
    """With `keep_known` nothing is removed; the label `known` has both values."""
    made = built(rivers(), tmp_path, MirageRecipe(keep_known=True), known={"Minho"})
    labels = {query.query_id: query.labels["known"] for query in made.dataset.queries}
    assert labels == {name: "yes" if name == "Minho" else "no" for name in RIVERS}


def test_hard_noise_is_found_by_text_and_does_not_support(tmp_path: Path) -> None:
    """The noise of a query is the best chunks by its text, which are of other articles too."""
    made = built(rivers(), tmp_path, MirageRecipe(chunks=4, hard_noise=True))
    judged = made.dataset.qrels["Tagus"]
    assert len(judged) == 4
    assert judged["Tagus-1"] == 2
    assert {i.partition("-")[0] for i, grade in judged.items() if not grade} > {"Tagus"}


def test_sets_are_balanced_by_a_draw(tmp_path: Path) -> None:
    """`per_source` keeps equal numbers; the others are counted as rejected."""
    made = built(rivers(), tmp_path, MirageRecipe(per_source=2))
    assert made.about["composition"] == {"odd": 2, "even": 2}
    assert made.funnel.stages["balance"].rejected.total() == 2


def test_one_set_with_most_queries_is_told(tmp_path: Path) -> None:
    """A set with more than three fifths of the queries is a warning with the way out."""
    truth = rivers()
    records = [query | {"source": "odd"} for query in QUERIES[:5]] + [QUERIES[5]]
    one_sided = Dataset.from_records(
        queries=records, passages=PASSAGES, qrels=[(n, f"{n}-1", 1) for n in RIVERS]
    )
    with builder(truth, tmp_path, MirageRecipe()) as made:
        (warning,) = made.build([one_sided]).about["warnings"]
    assert "odd has 5 of 6 queries" in warning
    assert "--per-source" in warning


def test_a_judge_that_calls_everything_supporting_is_stopped(tmp_path: Path) -> None:
    """The controls stop it before a label is made, and the error has the figures."""
    with (
        FakeModelServer(answer=lambda _: "yes") as server,
        Calls.at(tmp_path / "calls.sqlite") as calls,
    ):
        model = {"name": "chat", "base_url": server.url, "model": "fake"}
        judge, reader = Support(model=model), create("generators", model, where="test")
        articles = Articles.read(rivers().corpus, None)
        agreeable = MirageBuilder(articles, judge, reader, Services(calls=calls), MirageRecipe())
        with pytest.raises(ConfigError, match="6 of 6 supporting ones supporting and 0 of 6"):
            agreeable.build([rivers()])
        assert sum(server.asked.values()) == 12


@pytest.mark.parametrize(("second", "supporting"), [(0.3, 6), (0.05, 0)])
def test_the_mean_of_two_labellers_that_disagree_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second: float, supporting: int
) -> None:
    """The first gives 0.9 to each passage that answers; above one half the mean supports."""
    truth, write = rivers(), fake_model_server.write_openai

    def with_probabilities(asked: Mapping[str, Any], text: str) -> dict[str, Any]:
        body = write(asked, text)
        for token in body["choices"][0].get("logprobs", {}).get("content", ()):
            is_control = "The answer is:" in asked["messages"][-1]["content"]
            sure = 0.9 if asked["model"] == "a" or is_control else second
            yes = sure if text == "yes" else 0.01
            shares = {"yes": yes, "no": 1 - yes}
            token["top_logprobs"] = [
                {"token": word, "logprob": math.log(share)} for word, share in shares.items()
            ]
        return body

    monkeypatch.setattr(fake_model_server, "write_openai", with_probabilities)
    with builder(truth, tmp_path, MirageRecipe()) as made:
        single: Any = made.judge
        models: list[Any] = [{**single.model, "model": name} for name in "ab"]
        judge = Support(model=models, method="logprob")
        found = replace(made, judge=judge).build([truth])
    labels = [label for one in found.labelled for label in one.supporting.values()]
    assert (labels.count(True), len(found.queries)) == (supporting, supporting)
    assert len(labels) == 12
    assert (found.accuracy.true_yes.count, found.accuracy.true_no.count) == (6, 6)


def test_a_server_without_log_probabilities_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The controls have no verdict, and the error has the reason."""
    write = fake_model_server.write_openai
    without = {"logprobs": None}
    monkeypatch.setattr(fake_model_server, "write_openai", lambda a, t: write({**a, **without}, t))
    with builder(rivers(), tmp_path, MirageRecipe()) as made:
        judge = replace(cast("Support", made.judge), method="logprob")
        with pytest.raises(ConfigError, match=r"12 without a verdict: .*no log-probabilities"):
            replace(made, judge=judge).build([rivers()])


def test_a_spent_budget_leaves_a_valid_set_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The finished batches are a benchmark, marked as partial; the rest follows without repeats."""
    monkeypatch.setattr(limits, "BUILD_BATCH", 2)
    truth = rivers()
    with FakeModelServer(answer=FakeExpert(truth)) as server:
        model = {"name": "chat", "base_url": server.url, "model": "fake"}
        counts = []
        for max_calls in (12 + 10, 100):
            budget = Budget(None, Prices(), max_calls=max_calls)
            with Calls.at(tmp_path / "calls.sqlite", budget=budget) as calls:
                judge = Support(model=model, least_parse_rate=0.0)
                reader = create("generators", model, where="test")
                articles = Articles.read(truth.corpus, None)
                services = Services(calls=calls)
                made = MirageBuilder(
                    articles, judge, reader, services, MirageRecipe(chunks=2)
                ).build([truth])
            counts.append(len(made.queries))
            if not made.funnel.partial:
                break
            assert "maximum of 22 calls" in made.funnel.partial
            assert made.funnel.stages["support"].rejected["not reached"] == 4
        assert counts == [2, 6]
        assert set(server.asked.values()) == {1}


def test_the_result_round_trips_in_mirages_form(tmp_path: Path) -> None:
    """dataset.json, doc_pool.json and oracle.json are read as the same queries and judgements."""
    made = built(rivers(), tmp_path)
    WRITERS["mirage"](made.dataset, tmp_path / "mirage")
    again = load_dataset(str(tmp_path / "mirage"))
    assert [q.text for q in again.queries] == [q.text for q in made.dataset.queries]
    for query_id, judged in made.dataset.qrels.items():
        assert list(again.qrels[query_id].values()) == list(judged.values())


def test_an_empty_benchmark_says_where_everything_went(tmp_path: Path) -> None:
    """A reader that knows everything leaves no query; the steps say why."""
    made = built(rivers(), tmp_path, known=set(RIVERS))
    assert not made.queries
    assert made.funnel.stages["known"].rejected == {"right without context": 6}


def test_queries_without_titles_are_an_error(tmp_path: Path) -> None:
    """If no query names an article, the labels that were looked for are named."""
    bare = Dataset.from_records(queries=[EXTRA[3]], passages=PASSAGES)
    with (
        builder(rivers(), tmp_path, MirageRecipe()) as made,
        pytest.raises(ConfigError, match="doc_name"),
    ):
        made.build([bare])


def test_two_articles_of_one_title_are_not_guessed() -> None:
    """Documents with one title are different articles; a query that names it is rejected."""
    corpus = Dataset.from_records(
        passages=[{"passage_id": i, "title": "Mercury", "text": i, "document_id": i} for i in "ab"]
    ).corpus
    chunker = create("chunkers", "whole", where="test")
    articles = Articles.read(corpus, chunker)
    assert articles.find("mercury") == ("", "several articles have the title: 'mercury'")


def test_a_corpus_without_titles_is_an_error() -> None:
    """Articles are found by title, so a corpus without one cannot be used."""
    corpus = Dataset.from_records(passages=[{"passage_id": "a", "text": "Text."}]).corpus
    with pytest.raises(DatasetError, match="none of the 1 passages"):
        Articles.read(corpus, None)
