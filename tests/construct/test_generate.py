"""Test sets made by a scripted writer: every path of every strategy, and what is said of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.call_types import Endpoint
from ragstone.calls import Calls
from ragstone.cli.data import command
from ragstone.construct.comparing import comparison_svg, read_generated
from ragstone.construct.drafts import Writer
from ragstone.construct.generate import Generated, Plan, generate
from ragstone.construct.labels import Labeller
from ragstone.construct.passages import is_table_or_code, usable
from ragstone.construct.prompts import Prompts, load_prompts
from ragstone.construct.reading import (
    Rejected,
    read_line,
    read_pair,
    read_question,
    read_statements,
)
from ragstone.construct.strategies import STRATEGIES
from ragstone.construct.writing import write_generated
from ragstone.datasets.corpus import Corpus
from ragstone.datasets.loading import load_dataset
from ragstone.errors import ConfigError, DatasetError
from ragstone.judges.critiques import Critiques
from ragstone.testing import FakeModelServer
from ragstone.testing.scripted_judge import ScriptedCalls
from ragstone.testing.scripted_writer import ScriptedWriter
from ragstone.types import Passage

ENDPOINT = Endpoint("scripted", ("http://localhost:1/v1",))
MODEL: dict[str, Any] = {"name": "chat", "model": "scripted", "base_url": "http://localhost:1/v1"}
TOWNS = ["Ardmoor", "Bellick", "Corrane", "Dunvale", "Eskford", "Farrow", "Glenby", "Hollins"]


def corpus(size: int = 8) -> Corpus:
    """Return passages about invented towns, of which neighbours share a rare name."""
    return Corpus.from_passages(
        [
            Passage(
                f"p{i}",
                f"The market of {town} was opened by the weaver Anna {town}son in {1600 + i}. It "
                f"sells {i + 3} kinds of cheese from the hills of {TOWNS[(i + 1) % 8]} Vale. Each "
                f"autumn the Guild of {TOWNS[i // 2 * 2]} rings a bell for {i + 10} minutes.",
                title=town,
                document_id=f"d{i}",
            )
            for i, town in enumerate(TOWNS[:size])
        ]
    )


def run(
    strategy: str = "statements",
    faults: dict[str, str] | None = None,
    *,
    held: Corpus | None = None,
    script: ScriptedWriter | None = None,
    judged: bool = False,
    **plan: Any,
) -> Generated:
    """Return what a scripted writer makes of the corpus."""
    calls = ScriptedCalls(script or ScriptedWriter(faults or {}))
    judges = (
        {"labeller": Labeller(model=MODEL), "critics": Critiques(model=MODEL)} if judged else {}
    )
    wanted = Plan(strategy, **{"count": 4, **plan})
    return generate(held or corpus(), wanted, Writer(ENDPOINT, calls), **judges)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_meets_its_mix(strategy: str) -> None:
    """As many queries as asked for, evenly over the labels, each with its passages and calls."""
    made = run(strategy)

    assert len(made.kept) == 4
    assert made.shortfall == {}
    assert made.summary()["kept"] == made.plan.wanted
    for draft in made.kept:
        assert draft.question.endswith("?")
        assert draft.steps
        assert all(step.prompt and step.reply for step in draft.steps)
        assert bool(draft.answer) == (draft.asked != "unanswerable")


def test_statement_extraction_answers_with_a_statement() -> None:
    """The answer is a fact, a summary or a conclusion made from the passage's facts."""
    made = run(count=3)

    by_label = {draft.asked: draft for draft in made.kept}
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


def test_a_counterfactual_passage_says_the_new_answer_and_not_the_old() -> None:
    """It joins the corpus under an id of its own, with the true answer as a label."""
    made = run("adversarial", mix={"counterfactual": 1.0}, count=2)

    for draft in made.kept:
        (passage,) = draft.made
        assert draft.answer in passage.text
        assert draft.labels["true_answer"] not in passage.text
        assert passage.passage_id.startswith(draft.passages[0].passage_id + "~")


def test_multi_hop_passages_are_of_two_documents_and_share_the_link() -> None:
    """The link is a name that both passages hold."""
    for draft in run("multi-hop", count=3).kept:
        one, other = draft.passages
        assert one.document_id != other.document_id
        assert draft.labels["link"] in one.full_text
        assert draft.labels["link"] in other.full_text


@pytest.mark.parametrize(
    ("strategy", "step", "fault", "reason"),
    [
        ("statements", "theme", "empty", "theme: the reply is empty"),
        ("statements", "theme", "refusal", "theme: the model refused"),
        ("statements", "theme", "echo", "theme: the model repeated the prompt"),
        ("statements", "facts", "empty-items", "facts: the reply holds no statement"),
        ("statements", "facts", "refusal", "facts: the model refused"),
        ("statements", "facts", "echo", "facts: the model repeated the prompt"),
        ("statements", "facts", "hallucination", "facts: no statement of the passage: of the answ"),
        ("statements", "facts", "prose", "facts: the reply holds no statement"),
        ("statements", "facts", "failure", "facts: the call failed: scripted failure"),
        ("statements", "question", "refusal", "question: the model refused"),
        ("statements", "question", "prose", "question: it is no question"),
        ("statements", "question", "of-the-passage", "question: the question speaks of the pass"),
        ("single", "single", "prose", "single: the reply holds no question with its answer"),
        ("single", "single", "empty", "single: the reply is empty"),
        ("single", "single", "cut", "single: the reply holds no question with its answer"),
        ("evolution", "reasoning", "echo", "reasoning: the model repeated the prompt"),
        ("evolution", "constraint", "refusal", "constraint: the model refused"),
        ("adversarial", "near_miss", "empty", "near_miss: the reply is empty"),
        ("adversarial", "counterfactual", "refusal", "counterfactual: the model refused"),
        ("multi-hop", "multi_hop", "prose", "multi_hop: the reply holds no question with its an"),
    ],
)
def test_what_a_model_does_wrong_is_a_reason(
    strategy: str, step: str, fault: str, reason: str
) -> None:
    """Every item is kept in the list with its reason, and the shortfall counts them."""
    made = run(strategy, {step: fault})

    concerned = [d for d in made.drafts if d.steps[-1].name == step]
    assert concerned
    assert all(draft.reason.startswith(reason) for draft in concerned)
    labels = {draft.asked for draft in concerned}
    assert all(reason in made.shortfall[label] for label in labels)


@pytest.mark.parametrize("fault", ["malformed", "unmarked"])
def test_untidy_lists_are_read_all_the_same(fault: str) -> None:
    """Numbers, stars, blank items, a preamble or no markers at all: the statements are there."""
    made = run(faults={"facts": fault}, mix={"fact_single": 1.0})

    assert len(made.kept) == 4
    assert all(len(draft.facts) == 3 for draft in made.kept)


def test_repeated_questions_are_kept_once() -> None:
    """The first of equal questions stays, the others name it."""
    made = run(faults={"question": "repeat"})

    assert len(made.kept) == 1
    reasons = {draft.reason for draft in made.drafts} - {""}
    assert reasons == {f"repeats the question of {made.kept[0].item_id}"}


def test_one_bad_reply_is_made_good_by_another_passage() -> None:
    """What is missing after a round is asked for again about passages not yet used."""
    made = run(faults={"facts:Ardmoorson": "refusal", "facts:Farrowson": "refusal"}, count=6)

    assert len(made.kept) == 6
    assert len(made.drafts) > 6


def test_a_corpus_smaller_than_the_sample_is_explained() -> None:
    """Fewer passages than queries asked for: all are used, and the shortfall says so."""
    made = run(held=corpus(3), count=5, mix={"fact_single": 1.0})
    twice = run(held=corpus(3), count=5, mix={"fact_single": 1.0, "summary": 1.0}, per_passage=2)

    assert len(made.kept) == 3
    assert "all 3 usable passages were used" in made.shortfall["fact_single"]
    assert len(twice.kept) == 5


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Too short to hold a statement.", "it has fewer than 20 words"),
        ("", "it is empty"),
        ("\n".join(["Year Total", "1990 12", "1991 14", "1992 16", "1993 20"] * 3), "it is a t"),
        ("def f(x):\n    return {k: v[x] for k, v in d.items() if v} # {}[]<>=;" * 4, "it is a t"),
        (("Die Fähre, die zur Insel fährt, ist nicht die, die auf dem See mit der alten Maschine "
         "von der Werft gebaut wurde, und der Weg ist weit."), "it is in German"),
        ("word " * 3000, "it has more than 10,000 characters"),
    ],
)  # fmt: skip
def test_passages_that_cannot_be_used_have_a_reason(text: str, reason: str) -> None:
    """Nothing is skipped in silence."""
    held = Corpus.from_passages([*corpus(2), Passage("bad", text)])

    found = usable(held, in_language="English")

    assert found.refused["bad"].startswith(reason)
    assert len(found.passages) == 2


def test_text_with_figures_is_no_table() -> None:
    """Sentences with numbers and signs are sentences."""
    text = "In 1850 the town had 3,200 people; by 1900 (the census says) 4,100, i.e. 28% more."

    assert not is_table_or_code(text)


def test_a_passage_that_stands_twice_is_used_once() -> None:
    """The copy is refused, and counted."""
    held = corpus(2)
    twice = Corpus.from_passages([*held, Passage("copy", held.at(0).text)])

    assert usable(twice, in_language="English").refused == {"copy": "its text is there twice"}


def test_labels_and_critiques_filter_with_their_reason() -> None:
    """The label obtained counts for the mix; a low rating rejects; both are in the summary."""
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


def test_what_is_written_is_a_data_set(tmp_path: Path) -> None:
    """Queries with relevant passages and labels, and one line an item, rejected ones too."""
    made = run("adversarial", {"near_miss:Corraneson": "refusal"}, count=6)

    write_generated(made, corpus(), tmp_path / "set")

    dataset = load_dataset(tmp_path / "set")
    assert len(dataset.queries) == len(made.kept)
    assert len(dataset.corpus) == 8 + sum(len(d.made) for d in made.kept)
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


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    """Nothing of somebody else's is replaced."""
    (tmp_path / "queries.jsonl").write_text("mine")

    with pytest.raises(DatasetError, match="no generated test set"):
        write_generated(run(), corpus(), tmp_path)

    assert (tmp_path / "queries.jsonl").read_text() == "mine"


def test_an_interrupted_run_goes_on_and_repeats_no_call(tmp_path: Path) -> None:
    """Every reply is kept: a second run with the same plan asks nothing and gives the same."""
    script = ScriptedWriter()

    def answer(messages: Any) -> str:
        from ragstone.call_types import Request

        said = script(Request(tuple((m["role"], m["content"]) for m in messages)))
        assert isinstance(said, str)
        return said

    with FakeModelServer(answer=answer) as server:
        endpoint = Endpoint("fake", (server.url,))
        with Calls.at(tmp_path / "calls.sqlite") as calls:
            # Stopped after two of the three labels.
            generate(corpus(), Plan(count=3, mix={"fact_single": 1.0}), Writer(endpoint, calls))
        before = sum(server.asked.values())
        with Calls.at(tmp_path / "calls.sqlite") as calls:
            first = generate(corpus(), Plan(count=6), Writer(endpoint, calls))
        between = sum(server.asked.values())
        with Calls.at(tmp_path / "calls.sqlite") as calls:
            again = generate(corpus(), Plan(count=6), Writer(endpoint, calls))
            assert calls.usage.asked == 0
        assert sum(server.asked.values()) == between > before

    assert [d.row("m") for d in first.drafts] == [d.row("m") for d in again.drafts]


def test_generators_are_compared(tmp_path: Path) -> None:
    """Labels asked and obtained, ratings and cost of two test sets, as text and as a figure."""
    for name in ("statements", "single"):
        write_generated(run(name, judged=True, rounds=1), corpus(), tmp_path / name)

    figure = comparison_svg([read_generated(tmp_path / n) for n in ("statements", "single")])
    told = CliRunner().invoke(
        command, ["generated", str(tmp_path / "statements"), str(tmp_path / "single")]
    )

    assert figure.startswith("<svg")
    assert "kept: 4 of 4" in figure
    assert "single: fact_single, stand_alone: 4.00 (4)" in figure
    assert "105 tokens, 1.0 calls" in figure
    assert "4.00 (4)" in told.output
    assert figure.count("<title>") > 16
    assert told.exit_code == 0
    assert re.search(r"single +single +scripted +4 +4 +1\.0", told.output)
    with pytest.raises(DatasetError, match=r"holds no summary\.json"):
        read_generated(tmp_path)


def test_a_set_without_a_kept_item_is_drawn_with_what_it_cost(tmp_path: Path) -> None:
    """The step at which its items were rejected stands in the place of labels."""
    write_generated(run("single", {"single": "prose"}), corpus(), tmp_path / "none")

    figure = comparison_svg([read_generated(tmp_path / "none")])

    assert re.search(r"single: (\d+) of \1<", figure)
    assert "none kept" in figure
    assert "Labels obtained" not in figure


def test_what_judging_cost_is_counted_apart() -> None:
    """Calls and tokens of labelling and critiques beside those of writing."""
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
        ({"mix": {"factoid": 1.0}}, "writes no 'factoid'"),
        ({"mix": {"summary": -1.0}}, "shares of a mix are positive"),
        ({"count": 0}, "start at 1"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(wrong: dict[str, Any], message: str) -> None:
    """Before any call is made."""
    with pytest.raises(ConfigError, match=message):
        Plan(**wrong)


def test_prompts_of_ones_own_have_the_same_variables(tmp_path: Path) -> None:
    """A missing or unknown variable is told before any call."""
    path = tmp_path / "prompts.yaml"
    path.write_text("language: German\ntheme: 'Worum geht es?\n\n  {passage}'\n")
    assert load_prompts(path).language == "German"

    path.write_text("theme: 'Worum geht es?'\n")
    with pytest.raises(ConfigError, match=r"'theme': the variable \{passage\} is missing"):
        load_prompts(path)
    path.write_text("thema: x\n")
    with pytest.raises(ConfigError, match="did you mean 'theme'"):
        load_prompts(path)
    assert load_prompts(None) == Prompts()


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("> The mill is old.\n> The mill is red.", ("The mill is old.", "The mill is red.")),
        ("<think>- not this one here.</think>\n- The mill is old.", ("The mill is old.",)),
        ("```\n1) The mill is old.\n```", ("The mill is old.",)),
        ("- Fact 1: The mill is old.\n- Yes.", ("The mill is old.",)),
        ("The mill is old.\nThe mill is red.", ("The mill is old.", "The mill is red.")),
    ],
)
def test_statements_are_read_from_any_list(reply: str, expected: tuple[str, ...]) -> None:
    """Markers, fences, thoughts and leads are taken off."""
    assert read_statements(reply, "") == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"question": "Who built it?", "answer": "Ann"}', ("Who built it?", "Ann")),
        (
            'Sure! ```json\n{"question": "Who built it?", "answer": "Ann"}\n```',
            ("Who built it?", "Ann"),
        ),
        ("Question: Who built it?\nAnswer: Ann\n", ("Who built it?", "Ann")),
        ("**Question:** Who built it?\n\n**Answer:** Ann", ("Who built it?", "Ann")),
    ],
)
def test_pairs_are_read_from_json_and_from_lines(reply: str, expected: tuple[str, str]) -> None:
    """Either form gives question and answer."""
    assert read_pair(reply, "") == expected


@pytest.mark.parametrize(
    "question",
    ["According to the passage, who is it?", "What does this text describe?",
     "What is the answer to this question?", "Tell me.", "", "?",
     "Who " + "and who " * 40 + "is it?", "I don't know?"],
)  # fmt: skip
def test_what_no_stranger_could_ask_is_rejected(question: str) -> None:
    """Questions about the passage, without end, without words, or that are none."""
    with pytest.raises(Rejected):
        read_question(question, "")


def test_the_first_line_counts_where_one_is_wanted() -> None:
    """A theme is one line, whatever is said round it."""
    assert read_line("Theme: **Old mills**\nI hope this helps.", "") == "Old mills"
