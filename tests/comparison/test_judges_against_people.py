"""Published figures of metrics and judges against people: mtRAG, BEGIN, RAGChecker."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from ragstone.components.judges.conditioned import KEEP, cell
from ragstone.components.metrics.rb_agg import rb_agg
from ragstone.evaluation.human_grades import HumanSet, read_human_set
from ragstone.evaluation.score_files import evaluate_answers
from ragstone.statistics.auc import auc
from ragstone.statistics.correlation import pearson
from ragstone.statistics.judge_quality import rater_correlation
from ragstone.statistics.metric_correlations import correlations, inverse_frequency
from ragstone.statistics.resampling import Coefficient
from ragstone.types import Context, ContextPassage

SharedData: TypeAlias = Callable[[str], Path]
METRICS = ("RL_F", "RB_llm", "RB_agg", "Bert-KPrec")


def mtrag(shared_data: SharedData, rating: str) -> HumanSet:
    """Return mtRAG's human evaluations with one rating."""
    return read_human_set(str(shared_data("mtrag")), rating=rating)


def against(
    held: HumanSet, places: list[int], weights: list[float] | None = None
) -> dict[str, Coefficient]:
    """Return Spearman's correlation of each stored metric with people, at some places."""
    columns = {name: [held.values[name][i] for i in places] for name in METRICS}
    people = {"people": [held.items[i].value for i in places]}
    clusters = [held.items[i].cluster for i in places]
    rows = correlations(columns, people, weights=weights, clusters=clusters, resamples=200)
    return {row.metric: row.correlation for row in rows}


def models(held: HumanSet) -> list[int]:
    """Return the places of the models' answers: metrics of the reference are 1 by construction."""
    return [i for i, one in enumerate(held.items) if one.system != "reference"]


def answerable(held: HumanSet) -> list[int]:
    """Return the places of fully or partly answerable queries."""
    fitting = {"answerable", "partial"}
    return [
        i for i, one in enumerate(held.items) if one.item.query.labels["answerability"] in fitting
    ]


@pytest.mark.parametrize(
    ("rating", "expected"),
    [("faithfulness", {"RL_F": 0.64, "Bert-KPrec": 0.65, "RB_agg": 0.52, "RB_llm": 0.29})],
)
def test_the_known_correlations_with_faithfulness_come_out(
    shared_data: SharedData, rating: str, expected: dict[str, float]
) -> None:
    """318 answers of models, with the mean of the raters, give the known correlations."""
    held = mtrag(shared_data, rating)

    found = against(held, models(held))

    for name, value in expected.items():
        assert found[name].value == pytest.approx(value, abs=0.006)
    assert {found[name].n for name in METRICS} == {318}
    assert all(found[name].interval for name in METRICS)


def test_the_order_of_table_7_depends_on_the_weighting(shared_data: SharedData) -> None:
    """The order RB_llm > RB_agg > RL_F needs weights that balance RB_llm's own values.

    The paper does not define its weighted correlation. Unweighted, or with equal weights of all win
    rates, RB_agg has the highest correlation with the win rate on the answerable tasks.
    """
    held = mtrag(shared_data, "win-rate")
    declined = held.values["not declined wrongly"]
    places = [i for i in answerable(held) if declined[i] == 1.0]

    plain = against(held, places)
    by_rate = against(held, places, inverse_frequency([held.items[i].value for i in places]))
    ratings = [round(held.values["RB_llm"][i] or 0.0, 2) for i in places]
    by_rating = against(held, places, inverse_frequency(ratings))

    for found in (plain, by_rate):
        order = sorted(METRICS[:3], key=lambda name: found[name].value or 0, reverse=True)
        assert order == ["RB_agg", "RB_llm", "RL_F"]
    order = sorted(METRICS[:3], key=lambda name: by_rating[name].value or 0, reverse=True)
    assert order == ["RB_llm", "RB_agg", "RL_F"]


def test_the_metrics_order_is_within_chance(shared_data: SharedData) -> None:
    """The intervals of the three overlap: 30 conversations do not distinguish them."""
    held = mtrag(shared_data, "win-rate")

    found = against(held, answerable(held))
    intervals = [found[name].interval or (0.0, 0.0) for name in METRICS[:3]]

    assert max(low for low, _ in intervals) < min(high for _, high in intervals)


def test_people_agree_little_on_which_answer_wins(shared_data: SharedData) -> None:
    """One rater against the mean of the others: the ceiling of any metric."""
    wins = rater_correlation([one.raters for one in mtrag(shared_data, "win-rate").items])
    faithful = rater_correlation([one.raters for one in mtrag(shared_data, "faithfulness").items])

    assert wins is not None
    assert faithful is not None
    assert 0 < wins < faithful < 1


def test_conditioning_as_released_gives_every_stored_rb_agg(shared_data: SharedData) -> None:
    """477 of 477, conversational turns included, from the stored parts."""
    held = mtrag(shared_data, "win-rate")
    differing = 0
    for place, one in enumerate(held.items):
        parts = [held.values[name][place] for name in ("ROUGE-L", "Bert-Rec", "Bert-KPrec")]
        fits = held.values["not declined wrongly"][place] == 1.0
        label = str(one.item.query.labels["answerability"])
        unanswerable = label in {"unanswerable", "conversational"}
        value = 0.0 if None in parts else rb_agg(*(part or 0.0 for part in parts))
        found = cell(label, "yes" if fits == unanswerable else "no", "released")
        settled = value if found == KEEP else float(found)
        differing += abs(settled - (held.values["RB_agg"][place] or 0.0)) > 1e-9

    assert differing == 0


@pytest.mark.parametrize(("source", "expected"), [("wow", 0.947), ("cmu", 0.970)])
def test_k_precision_detects_responses_that_are_not_attributable(
    shared_data: SharedData, source: str, expected: float
) -> None:
    """The share of the response's words in the knowledge, against BEGIN's people."""
    held = read_human_set(str(shared_data("begin")))
    items = [one for one in held.items if one.item.query.labels["source"] == source]
    contexts = {
        one.item.item_id: Context(
            one.item.item_id, "gold", (ContextPassage("k", one.item.passages[0], "gold"),)
        )
        for one in items
    }

    scores = evaluate_answers(
        {one.item.item_id: one.item.answer for one in items},
        [one.item.query for one in items],
        ["K-precision"],
        contexts=contexts,
    ).scores["K-precision"]
    found = auc(
        [scores[one.item.item_id] for one in items],
        [one.label == "yes" for one in items],
        clusters=[one.cluster for one in items],
    )

    assert found.value == pytest.approx(expected, abs=5e-4)
    assert found.left_out == 0


def test_ragcheckers_difference_goes_with_peoples_preference(shared_data: SharedData) -> None:
    """Pearson 0.672 over 280 pairs; two people agree at 0.70."""
    held = read_human_set(str(shared_data("ragchecker")))
    people = [one.value for one in held.items]

    found = pearson(held.values["RAGChecker"], people, resamples=200)
    each = pearson(*zip(*[one.raters for one in held.items], strict=True), resamples=10)

    assert found.value == pytest.approx(0.672, abs=5e-4)
    assert found.n == 280
    assert each.value == pytest.approx(0.70, abs=5e-3)
    assert statistics.fmean(people) == pytest.approx(0.5, abs=0.1)
