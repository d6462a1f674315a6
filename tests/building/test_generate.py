"""Test sets made by a scripted writer: every strategy, and its summary."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.fakes.made_test_set import corpus, run, writer
from tests.fakes.scripted_writer import ScriptedWriter

from ragstone.building.compare_generated import comparison_chart, read_generated
from ragstone.building.draft import QueryWriter
from ragstone.building.generate import GenerationPlan, generate
from ragstone.building.prompts import Prompts, load_prompts
from ragstone.building.strategies import STRATEGIES
from ragstone.building.write import write_generated
from ragstone.calls.client import Calls
from ragstone.cli.data import command
from ragstone.components.llm import resolve_llm
from ragstone.data.load import load_dataset
from ragstone.errors import ConfigError, DatasetError
from ragstone.protocols import Services
from ragstone.testing import FakeModelServer, ScriptedCalls


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_meets_its_mix(strategy: str) -> None:
    """There are as many queries as requested, evenly over the labels, each with its calls."""
    count = len(STRATEGIES[strategy].labels) if strategy == "mixed" else 4
    made = run(strategy, count=count)

    assert len(made.kept) == count
    assert made.shortfall == {}
    assert made.summary()["kept"] == made.plan.wanted
    for draft in made.kept:
        assert draft.question.endswith("?")
        assert draft.steps
        assert all(step.prompt and step.reply for step in draft.steps)
        assert bool(draft.answer) == (draft.asked_label not in {"unanswerable", "underspecified"})


def test_statement_extraction_answers_with_a_statement() -> None:
    """The answer is a fact, a summary or a conclusion made from the passage's facts."""
    made = run(count=3)

    by_label = {draft.asked_label: draft for draft in made.kept}
    assert by_label["fact_single"].answer in by_label["fact_single"].facts
    assert by_label["summary"].answer.startswith("Taken together")
    assert by_label["reasoning"].answer.startswith("It follows that")
    assert [s.name for s in by_label["summary"].steps] == [
        "theme",
        "facts",
        "summaries",
        "question",
    ]
    assert all(draft.statement == draft.answer for draft in made.kept)


def test_a_counterfactual_passage_has_the_new_answer_and_not_the_old_one() -> None:
    """It has its own id, and the query has the true answer as a label."""
    made = run("adversarial", mix={"counterfactual": 1.0}, count=2)

    for draft in made.kept:
        (passage,) = draft.made_passages
        assert draft.answer in passage.text
        assert draft.labels["true_answer"] not in passage.text
        assert passage.passage_id.startswith(draft.passages[0].passage_id + "~")


def test_multi_hop_passages_are_of_two_documents_and_share_the_link() -> None:
    """The link is a name in both passages."""
    for draft in run("multi-hop", count=3).kept:
        one, other = draft.passages
        assert one.document_id != other.document_id
        assert draft.labels["link"] in one.full_text
        assert draft.labels["link"] in other.full_text


def test_the_example_is_shown_and_never_taken_for_the_reply() -> None:
    """The example precedes the prompt as an earlier turn; a reply that repeats it is rejected."""
    calls = ScriptedCalls(
        lambda _: '{"question": "Who built Mill Bridge at Oldby?", "answer": "A"}'
    )

    made = generate(corpus(), GenerationPlan("single", count=1), writer(calls))

    asked = calls.asked[0].messages
    assert [role for role, _ in asked] == ["user", "assistant", "user"]
    assert "Ann Hale" in asked[1][1]
    assert made.drafts[0].reason == "single: the model repeated the prompt"
    assert made.drafts[0].steps[0].example == "single/fact_single"


def test_examples_can_be_left_out_or_replaced(tmp_path: Path) -> None:
    """Prompts in another language have only the examples of the file; variables are checked."""
    calls = ScriptedCalls(ScriptedWriter())
    generate(corpus(), GenerationPlan("single", count=1), writer(calls, Prompts(examples={})))
    assert [role for role, _ in calls.asked[0].messages] == ["user"]

    path = tmp_path / "prompts.yaml"
    path.write_text("language: German\n")
    assert load_prompts(path).examples == {}
    path.write_text("examples: {theme: {passage: 'An old mill.', reply: Mills}}\n")
    assert load_prompts(path).shown("theme")[1] == ("assistant", "Mills")
    path.write_text("examples: {theme: {text: 'An old mill.', reply: Mills}}\n")
    with pytest.raises(ConfigError, match="example 'theme' has reply, text"):
        load_prompts(path)
    path.write_text("examples: {theme: [1]}\n")
    with pytest.raises(ConfigError, match=r"examples\.theme: input should be a valid dict"):
        load_prompts(path)


def test_labels_and_critiques_filter_with_their_reason() -> None:
    """The obtained label counts for the mix, a low rating rejects, and the summary has both."""
    made = run(judged=True, script=ScriptedWriter(label="fact_single", rating=4), rounds=1)
    unanswerable = run(judged=True, script=ScriptedWriter(label="unanswerable"), rounds=1)
    low = run(
        judged=True,
        script=ScriptedWriter(label="fact_single", rating=2),
        thresholds={"stand_alone": 3},
        rounds=1,
    )

    assert made.summary()["asked_against_obtained"]["summary"] == {"fact_single": 1}
    assert "labelled fact_single (1)" in made.shortfall["summary"]
    assert made.summary()["ratings"]["fact_single"]["stand_alone"] == 4.0
    assert {d.reason for d in unanswerable.drafts} == {"label: the labeller calls it unanswerable"}
    assert {d.reason for d in low.drafts} == {"critique: stand_alone 2 below 3"}


def test_a_test_set_is_written_as_a_data_set(tmp_path: Path) -> None:
    """It has relevant passages and labels; items.jsonl has a line per item, rejected ones too."""
    made = run("adversarial", {"near_miss:Corraneson": "refusal"}, count=6)

    write_generated(made, corpus(), tmp_path / "set")

    dataset = load_dataset(tmp_path / "set")
    assert len(dataset.queries) == len(made.kept)
    assert len(dataset.corpus) == 8 + sum(len(d.made_passages) for d in made.kept)
    relevant = {q.query_id: set(dataset.qrels.get(q.query_id, {})) for q in dataset.queries}
    assert all(
        bool(relevant[q.query_id]) == (q.labels["answerability"] == "answerable")
        for q in dataset.queries
    )
    rows = [
        json.loads(line) for line in (tmp_path / "set" / "items.jsonl").read_text().splitlines()
    ]
    assert len(rows) == len(made.drafts)
    needed = {"passages", "statement", "steps", "model", "reason", "kept", "question", "answer"}
    assert all(needed <= row.keys() for row in rows)


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    """Files of other programs are not replaced."""
    (tmp_path / "queries.jsonl").write_text("mine")

    with pytest.raises(DatasetError, match="not a generated test set"):
        write_generated(run(), corpus(), tmp_path)

    assert (tmp_path / "queries.jsonl").read_text() == "mine"


def test_an_interrupted_run_resumes_and_repeats_no_call(tmp_path: Path) -> None:
    """Every reply is kept: a second run makes no call and has the same result."""
    script = ScriptedWriter()

    def answer(messages: Any) -> str:
        from ragstone.calls.types import Request

        said = script(Request(tuple((m["role"], m["content"]) for m in messages)))
        assert isinstance(said, str)
        return said

    with FakeModelServer(answer=answer) as server:
        model = resolve_llm({"name": "chat", "model": "fake", "base_url": server.url})
        with Calls.at(tmp_path / "calls.sqlite") as calls:
            # Stopped after two of the three labels.
            partial = GenerationPlan(count=3, mix={"fact_single": 1.0})
            generate(corpus(), partial, QueryWriter(model, Services(calls=calls)))
        before = sum(server.asked.values())
        with Calls.at(tmp_path / "calls.sqlite") as calls:
            first = generate(
                corpus(), GenerationPlan(count=6), QueryWriter(model, Services(calls=calls))
            )
        between = sum(server.asked.values())
        with Calls.at(tmp_path / "calls.sqlite") as calls:
            again = generate(
                corpus(), GenerationPlan(count=6), QueryWriter(model, Services(calls=calls))
            )
            assert calls.usage.asked == 0
        assert sum(server.asked.values()) == between > before

    assert [d.row("m") for d in first.drafts] == [d.row("m") for d in again.drafts]


def test_generators_are_compared(tmp_path: Path) -> None:
    """The text and the figure have labels, ratings and cost of two test sets."""
    for name in ("statements", "single"):
        write_generated(run(name, judged=True, rounds=1), corpus(), tmp_path / name)

    figure = comparison_chart([read_generated(tmp_path / n) for n in ("statements", "single")])
    chart = ["--chart", str(tmp_path / "compared.svg")]
    told = CliRunner().invoke(
        command,
        ["compare-generated", str(tmp_path / "statements"), str(tmp_path / "single"), *chart],
    )

    assert (tmp_path / "compared.svg").read_text().startswith("<svg")
    assert "kept 1.000 (4 of 4)" in figure["description"]
    assert "single: fact_single, stand alone: 4.00 (4)" in figure["description"]
    assert "105 tokens, 1.0 calls" in figure["description"]
    assert "4.00 (4)" in told.output
    assert sum(len(part["data"]["values"]) for part in figure["vconcat"]) > 16
    assert told.exit_code == 0
    assert re.search(r"single +single +scripted +4 +4 +1\.0", told.output)
    with pytest.raises(DatasetError, match=r"has no summary\.json"):
        read_generated(tmp_path)


def test_a_test_set_without_a_kept_item_is_drawn_with_its_cost(tmp_path: Path) -> None:
    """The figure has the step that rejected the items, and no labels."""
    write_generated(run("single", {"single": "prose"}), corpus(), tmp_path / "none")

    figure = comparison_chart([read_generated(tmp_path / "none")])

    assert re.search(r"single 1\.000 \((\d+) of \1\)", figure["description"])
    assert "none kept" in figure["description"]
    assert "Labels obtained" not in json.dumps(figure)


def test_the_cost_of_judging_is_counted_separately() -> None:
    """Calls and tokens of labelling and rating are not part of those of writing."""
    plain, judged = run("single").summary(), run("single", judged=True).summary()

    assert (plain["calls_judging"], plain["tokens_per_kept_in_all"]) == (
        0,
        plain["tokens_per_kept"],
    )
    assert judged["calls_judging"] == 9 * judged["tried"]
    assert judged["ratings_read"]["fact_single"]["stand_alone"] == judged["tried"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"strategy": "statement"}, "did you mean 'statements'"),
        ({"mix": {"factoid": 1.0}}, "has no label 'factoid'"),
        ({"mix": {"summary": -1.0}}, "shares of a mix must be 0 or more"),
        ({"count": 0}, "must be 1 or more"),
    ],
)
def test_an_impossible_plan_is_refused(wrong: dict[str, Any], message: str) -> None:
    """The error is raised before any call."""
    with pytest.raises(ConfigError, match=message):
        GenerationPlan(**wrong)
