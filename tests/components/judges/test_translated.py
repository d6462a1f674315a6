"""Metrics of translated answers: a failed translation has no score, nor has the answer itself."""

from __future__ import annotations

from typing import Any

import pytest

from ragstone.calls.types import Failure, Reply, Request
from ragstone.calls.types import Outcome as CallOutcome
from ragstone.components.judges.scoring import judge_predictions
from ragstone.components.judges.translated import TranslatedAnswers
from ragstone.components.judges.verdict import Cost, Item, Verdict
from ragstone.core.fingerprint import fingerprint
from ragstone.core.registry import create
from ragstone.errors import ConfigError
from ragstone.testing import FakeModelServer, ScriptedCalls, check_judge
from ragstone.types import Prediction, Query, Score

GERMAN = "Der Fluss fließt durch die alte Stadt und mündet nach vielen Windungen in das Meer."
ENGLISH = "The river runs through the old town and, after many bends, flows into the sea."
SEA = Query("q", "Where does it end?", ("the sea",), labels={"language": "en"})


def judge(**options: Any) -> TranslatedAnswers:
    """Return a judge with some options."""
    made: TranslatedAnswers = create("judges", {"name": "translated", **options}, where="test")
    return made


def one(reply: str | CallOutcome, item: Item, **options: Any) -> Verdict:
    """Return the verdict on an item if the model always gives one reply."""
    (verdict,) = judge(**options).verdicts([item], ScriptedCalls(lambda _: reply).services())
    return verdict


def test_the_translation_is_scored() -> None:
    """Each metric has its value, and the verdict has the cost of the call."""
    found = one(ENGLISH, Item(SEA, GERMAN), metric=["Match", "Recall"])

    assert found.value == 1.0
    assert found.parts == {"Match(translated=gold)": 1.0, "Recall(translated=gold)": 1.0}
    assert found.cost == Cost(1, 100, 5, 0.01)
    assert found.asked


@pytest.mark.parametrize(
    ("answer", "reply", "asked"),
    [
        (ENGLISH, "unused", False),
        ("", "unused", False),
        ("das Meer", "the sea", True),
        ("the sea", "the sea", True),
    ],
)
def test_an_answer_in_the_language_has_no_call(answer: str, reply: str, *, asked: bool) -> None:
    """One that is too short to tell is translated; an empty one has the metric's 0."""
    found = one(reply, Item(SEA, answer))

    assert found.value == float(bool(answer))
    assert (found.asked, found.cost.calls) == (asked, int(asked))


@pytest.mark.parametrize(
    ("reply", "reason", "retry"),
    [
        ("", "not translated: the model wrote nothing", False),
        ("I cannot translate this. It is the sea.", "not translated: the model refused", False),
        (GERMAN, "not translated: the reply is the text itself", False),
        (Reply("the sea", "length"), "not translated: the reply was truncated", False),
        (Failure("no route"), "not translated: no route", True),
    ],
)
def test_a_failed_translation_is_unscored(
    reply: str | CallOutcome, reason: str, *, retry: bool
) -> None:
    """Even if the answer itself has the gold answer in it."""
    calls = ScriptedCalls(lambda _: reply)
    query = Query("q", "Wohin?", ("Meer", "sea"), labels={"language": "en"})
    predictions = [Prediction("q", GERMAN)]

    (found,) = judge_predictions(judge(), calls.services(), [query], {}, predictions)

    (score,) = found.value
    assert (score.value, score.status) == (None, "unscored")
    assert score.reason.startswith(reason)
    assert found.retry is retry


def test_other_scores_without_a_value_have_the_reason_of_the_metric() -> None:
    """No answer is a failure of the system; without gold answers nothing applies."""
    calls = ScriptedCalls(lambda _: "the sea")
    queries = [SEA, Query("r", "Where does it end?", labels={"language": "en"})]
    predictions = [Prediction("q", None, "out of memory"), Prediction("r", "das Meer")]

    found = judge_predictions(judge(), calls.services(), queries, {}, predictions)

    assert [outcome.value for outcome in found] == [
        [
            Score(
                "q",
                "Match(translated=gold)",
                None,
                "failed",
                "no answer to translate: out of memory",
            )
        ],
        [
            Score(
                "r",
                "Match(translated=gold)",
                None,
                "not_applicable",
                "the query has no gold answer",
            )
        ],
    ]


def test_the_language_is_that_of_the_query_or_given() -> None:
    """Without a label the query's text decides; gold answers do if there is no text."""
    calls = ScriptedCalls(lambda _: "x")
    korean = Query("k", "그 도시는 어디에 있나요?", ("바다",))
    items = [
        Item(SEA, GERMAN),
        Item(korean, GERMAN),
        Item(Query("g", "", ("그 도시는 바닷가의 평야에 있다.",)), GERMAN),
        Item(Query("u", "", ("1543",)), GERMAN),
    ]

    *_, unknown = judge().verdicts(items, calls.services())
    (given,) = judge(to="Thai").verdicts(items[3:], calls.services())

    languages = [request.messages[-1][1].partition(":")[0] for request in calls.asked]
    assert languages == ["Translate into English", "Translate into Korean", "Translate into Thai"]
    assert unknown.reason.startswith("not translated: the language of the query is unknown")
    assert given.value == 0.0


def test_words_are_cut_as_in_the_language_of_the_translation() -> None:
    """A German query with English gold answers: F1 ignores the English article."""
    query = Query("q", "Wohin?", ("sea",), labels={"language": "de"})

    assert one("the sea", Item(query, "das Meer"), metric="EM", to="en").value == 1.0


def test_names_and_keys_have_metrics_and_language() -> None:
    """The way in which they are written does not matter."""
    names = judge(metric=["match", "F1(variant=squad)"], to="English").metrics
    keys = {
        fingerprint(judge(metric=m, to=to)) for m, to in (("match", "en"), ("Match", "English"))
    }

    assert names == ("Match(translated=en)", "F1(variant=squad,translated=en)")
    assert len(keys) == 1
    assert keys.isdisjoint({fingerprint(judge(to="en", metric="F1")), fingerprint(judge())})
    assert not judge().graded
    assert judge(metric="F1").graded


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": []}, "name one, such as Match"),
        ({"metric": "nDCG@10"}, "nDCG@10 does not compare answers"),
        ({"metric": "K-precision"}, "K-precision does not compare answers"),
        ({"metric": "refusal"}, "refusal does not compare answers"),
        ({"metric": "Mach"}, "did you mean 'Match'"),
        ({"to": "jp"}, "did you mean 'ja'"),
        ({"model": "gold"}, "not a language model"),
        ({"user": "{answer}"}, "answer|text"),
    ],
)
def test_wrong_parameters_are_errors(options: dict[str, Any], message: str) -> None:
    """The error comes when the judge is created."""
    with pytest.raises(ConfigError, match=message):
        judge(**options)


def test_the_contract_of_judges() -> None:
    """Every prediction has scores of its metrics, the same each time."""
    with FakeModelServer(answer=lambda _: "It is the Tagus.") as server:
        model = {"name": "chat", "model": "m", "base_url": server.url}
        check_judge(judge(model=model, to="en"))


def test_equal_answers_have_one_call() -> None:
    """Its cost is counted once."""
    calls = ScriptedCalls(_sea)

    found = judge().verdicts([Item(SEA, "das Meer"), Item(SEA, "das Meer")], calls.services())

    assert [verdict.value for verdict in found] == [1.0, 1.0]
    assert [verdict.cost.calls for verdict in found] == [1, 0]


def _sea(request: Request) -> str:
    return "the sea" if "Meer" in request.messages[-1][1] else ""
