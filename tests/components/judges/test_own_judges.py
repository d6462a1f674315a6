"""Judges of your own: a few lines that return a number, a bool or scores per answer."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.cli.judge import command
from ragstone.components.judges.verdict import Item, verdicts_of
from ragstone.core.component import Outcome
from ragstone.core.registry import create
from ragstone.errors import ComponentError
from ragstone.evaluation.human_grades import HumanSet, Labelled
from ragstone.evaluation.judge_check import check_judge
from ragstone.experiment.steps import KINDS
from ragstone.protocols import Judge, Services
from ragstone.testing import ScriptedCalls
from ragstone.testing import check_judge as check_contract
from ragstone.types import Context, Prediction, Query, Score

FILE = '''
from dataclasses import dataclass

from ragstone.calls.types import Endpoint, chat
from ragstone.types import Score


@dataclass(frozen=True)
class Brief:
    """1 for an answer of a few words."""

    words: int = 3

    def judge(self, task, prediction):
        return len(prediction.answer.split()) <= self.words


class Polite:
    """The model's grade of the tone."""

    name = "politeness"

    def judge(self, task, prediction, calls):
        prompt = chat(f"From 0 to 1: {prediction.answer}", max_tokens=5)
        [reply] = calls.ask(Endpoint("m", ("http://localhost:1/v1",)), [prompt])
        return float(reply.text)


class Both:
    """Two metrics of its own."""

    metrics = ("short", "ends")

    def judge(self, task, prediction):
        values = len(prediction.answer) < 9, prediction.answer.endswith(".")
        return [Score(task.query.query_id, m, float(v)) for m, v in zip(self.metrics, values)]


class Returned:
    """Whatever the answer's name means."""

    def judge(self, task, prediction):
        return {"none": None, "nan": float("nan"), "text": "yes"}[prediction.answer]

'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with judges in a file."""
    (tmp_path / "mine.py").write_text(FILE)
    return tmp_path


def judged(judge: Judge, *answers: str, services: Services | None = None) -> list[Sequence[Score]]:
    """Return the scores of some answers, as a step computes them."""
    queries = [Query(f"q{n}", "Who?") for n in range(len(answers))]
    contexts = {query.query_id: Context(query.query_id, "none") for query in queries}
    predictions = [Prediction(q.query_id, a) for q, a in zip(queries, answers, strict=True)]
    outcomes = KINDS["judge"].apply(judge, services or Services(), queries, contexts, predictions)
    return [outcome.value for outcome in outcomes]


def test_a_bool_is_a_score_of_the_class_name(folder: Path) -> None:
    """A judge without a base class or a model adds no call to the plan."""
    judge = create("judges", "mine.py:Brief(words=2)", where="test", folder=folder)

    assert judged(judge, "In Paris.", "It is in Paris.") == [
        [Score("q0", "Brief", 1.0)],
        [Score("q1", "Brief", 0.0)],
    ]
    assert (judge.metrics, judge.needs_model, judge.cost(9, 27)) == (("Brief",), False, 0)
    check_contract(judge)


def test_a_judge_with_calls_asks_a_model(folder: Path) -> None:
    """A call per query is planned, and a bad reply fails one item."""
    judge = create("judges", "mine.py:Polite", where="test", folder=folder)
    calls = ScriptedCalls(lambda r: "0.75" if "thank you" in r.messages[-1][1] else "very polite")

    good, bad = judged(judge, "thank you", "go away", services=calls.services())

    assert good == [Score("q0", "politeness", 0.75)]
    assert [(score.metric, score.value, score.status) for score in bad] == [
        ("politeness", None, "unscored")
    ]
    assert "very polite" in bad[0].reason
    assert (judge.needs_model, judge.cost(9, 27)) == (True, 9)


def test_a_judge_may_have_several_metrics(folder: Path) -> None:
    """The judge declares the names of its metrics."""
    judge = create("judges", "mine.py:Both", where="test", folder=folder)

    ((short, ends),) = judged(judge, "Yes, it is.")

    assert (short, ends) == (Score("q0", "short", 0.0), Score("q0", "ends", 1.0))


def test_a_missing_value_is_a_failed_score_and_a_wrong_one_an_error(folder: Path) -> None:
    """None and NaN are failed scores; a text is an error of the judge."""
    judge = create("judges", "mine.py:Returned", where="test", folder=folder)

    none, nan = judged(judge, "none", "nan")

    assert [none[0].reason, nan[0].reason] == ["the judge returned None", "the judge returned nan"]
    assert {score.status for score in (*none, *nan)} == {"unscored"}
    with pytest.raises(ComponentError, match="Returned returned 'yes' for query 'q0'"):
        judged(judge, "text")


@pytest.mark.parametrize("score", [Score("q", "other", 1.0), Score("p", "Mine", 1.0)])
def test_a_score_of_another_metric_or_query_is_an_error(score: Score) -> None:
    """The error names the expected query and metrics."""

    class Mine(Judge):
        """A judge that derives from the protocol."""

    with pytest.raises(ComponentError, match="scores of that query and of Mine"):
        Mine().scores_of("q", Outcome([score]))


def test_a_judge_of_your_own_can_be_checked(folder: Path) -> None:
    """Its values are compared with people's grades."""
    judge = create("judges", "mine.py:Brief", where="test", folder=folder)
    answers = {"Paris": 1.0, "It is in the city of Paris": 0.0, "In Paris": 1.0, "No": 0.0}
    items = [
        Labelled(Item(Query(str(n), "Where?"), answer), value, "yes" if value else "no")
        for n, (answer, value) in enumerate(answers.items())
    ]
    found = check_judge(judge, HumanSet("made", tuple(items), "", "?", {}), Services())

    accuracy = found.quality.accuracy
    assert accuracy is not None
    assert (accuracy.true_yes.count, accuracy.true_no.count) == (2, 1)
    assert found.quality.confusion == {"no": {"no": 1, "yes": 1}, "yes": {"yes": 2}}
    assert math.isclose(found.cost.seconds, 0.0)


def test_a_judge_of_your_own_can_be_conditioned(folder: Path) -> None:
    """Its value is kept or replaced by the table."""
    spec: dict[str, Any] = {
        "name": "conditioned",
        "of": "mine.py:Brief",
        "idk": {"name": "idk", "model": {"name": "chat", "model": "scripted"}},
    }
    judge = create("judges", spec, where="test", folder=folder)
    query = Query("q", "Where?", labels={"answerability": "ANSWERABLE"})

    (kept,) = verdicts_of(judge, [Item(query, "Paris")], ScriptedCalls(lambda _: "no").services())
    (zero,) = verdicts_of(judge, [Item(query, "Paris")], ScriptedCalls(lambda _: "yes").services())

    assert (str(judge), kept.value, zero.value) == ("Brief(conditioned)", 1.0, 0.0)


def test_the_command_checks_a_judge_in_a_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command accepts a file and parameters, and calls no model."""
    head = "id,question,correct_answers,model_answer,truthfulness"
    rows = [f"q{n}__m,Where?,Paris,{answer},{truth}" for n, (answer, truth) in enumerate(GRADED)]
    (folder / "human_judgements.en.csv").write_text("\n".join([head, *rows]) + "\n")
    monkeypatch.chdir(folder)

    done = CliRunner().invoke(
        command, ["check", "mine.py:Brief(words=2)", "--data", f"truthfulqa:{folder}", "--json"]
    )

    assert done.exit_code == 0, done.output
    (document,) = json.loads(done.output)
    assert (document["judge"], document["items"], document["cost"]["calls"]) == ("Brief", 4, 0)
    assert document["quality"]["accuracy"]["true_yes"]["value"] == 1.0


GRADED = [("Paris", "Yes"), ("In Paris", "Yes"), ("It is in Rome", "No"), ("Rome", "No")]
