"""Bad passages and bad replies: each is listed with its reason and counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.fakes.made_test_set import corpus, run, writer
from tests.fakes.scripted_writer import ScriptedWriter

from ragstone.building.generate import GenerationPlan, generate
from ragstone.building.passages import is_table_or_code, usable
from ragstone.cli.data import command
from ragstone.data.corpus import Corpus
from ragstone.testing import ScriptedCalls
from ragstone.testing.fake_model_server import FakeModelServer
from ragstone.types import Passage

_FROM_FACTS = ("summaries", "conclusions")


@pytest.mark.parametrize(
    ("strategy", "step", "fault", "reason"),
    [
        ("statements", "theme", "empty", "theme: the reply is empty"),
        ("statements", "theme", "refusal", "theme: the model refused"),
        ("statements", "theme", "echo", "theme: the model repeated the prompt"),
        ("statements", "facts", "empty-items", "facts: the reply has no statement"),
        ("statements", "facts", "refusal", "facts: the model refused"),
        ("statements", "facts", "echo", "facts: the model repeated the prompt"),
        (
            "statements",
            "facts",
            "hallucination",
            "facts: no statement of the passage: less than 50% of",
        ),
        ("statements", "facts", "prose", "facts: the reply has no statement"),
        ("statements", "facts", "failure", "facts: the call failed: scripted failure"),
        ("statements", "question", "refusal", "question: the model refused"),
        ("statements", "question", "prose", "question: it is not a question"),
        ("statements", "question", "of-the-passage", "question: the question mentions the pass"),
        ("single", "single", "prose", "single: the reply has no question with its answer"),
        ("single", "single", "empty", "single: the reply is empty"),
        ("single", "single", "cut", "single: the reply has no question with its answer"),
        ("evolution", "reasoning", "echo", "reasoning: the model repeated the prompt"),
        ("evolution", "constraint", "refusal", "constraint: the model refused"),
        ("adversarial", "near_miss", "empty", "near_miss: the reply is empty"),
        ("adversarial", "counterfactual", "refusal", "counterfactual: the model refused"),
        ("multi-hop", "multi_hop", "prose", "multi_hop: the reply has no question with its an"),
    ],
)
def test_a_bad_reply_is_rejected_with_a_reason(
    strategy: str, step: str, fault: str, reason: str
) -> None:
    """Every rejected item has a reason, and the shortfall counts the reasons."""
    made = run(strategy, {step: fault})

    concerned = [d for d in made.drafts if d.steps[-1].name == step]
    assert concerned
    assert all(draft.reason.startswith(reason) for draft in concerned)
    labels = {draft.asked_label for draft in concerned}
    assert all(reason in made.shortfall[label] for label in labels)


@pytest.mark.parametrize("fault", ["malformed", "unmarked"])
def test_untidy_lists_are_read(fault: str) -> None:
    """Statements are read with numbers, stars, blank items, a preamble, or without markers."""
    made = run(faults={"facts": fault}, mix={"fact_single": 1.0})

    assert len(made.kept) == 4
    assert all(len(draft.facts) == 3 for draft in made.kept)


def test_repeated_questions_are_kept_once() -> None:
    """The first of equal questions is kept, and the reasons of the others name it."""
    made = run(faults={"question": "repeat"})

    assert len(made.kept) == 1
    reasons = {draft.reason for draft in made.drafts} - {""}
    assert reasons == {f"repeats the question of {made.kept[0].item_id}"}


def test_nearly_equal_questions_are_kept_once() -> None:
    """A question with one more word is a repetition; other digits make it another question."""
    said = iter(
        f'{{"question": "Which cheeses from the hills does the market of Ardmoor sell {ending}?", '
        '"answer": "kinds of cheese"}'
        for ending in ("each autumn", "in each autumn", "in autumn 1607", "in autumn 1608")
    )

    made = run("single", script=lambda _: next(said), count=4, rounds=1,
               mix={"fact_single": 1.0})  # fmt: skip

    assert [d.reason.partition(" of ")[0] for d in made.drafts] == [
        "",
        "nearly repeats the question",
        "",
        "",
    ]


def test_a_bad_reply_is_replaced_from_another_passage() -> None:
    """Missing queries are requested again in the next round, from unused passages."""
    made = run(faults={"facts:Ardmoorson": "refusal", "facts:Farrowson": "refusal"}, count=6)

    assert len(made.kept) == 6
    assert len(made.drafts) > 6


def test_a_corpus_smaller_than_the_sample_is_explained() -> None:
    """All passages are used, and the shortfall reports it."""
    made = run(passages=corpus(3), count=5, mix={"fact_single": 1.0})
    twice = run(
        passages=corpus(3), count=5, mix={"fact_single": 1.0, "summary": 1.0}, per_passage=2
    )

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
def test_unusable_passages_have_a_reason(text: str, reason: str) -> None:
    """Every refused passage has a reason."""
    held = Corpus.from_passages([*corpus(2), Passage("bad", text)])

    found = usable(held, in_language="English")

    assert found.refused["bad"].startswith(reason)
    assert len(found.passages) == 2


def test_a_passage_in_another_script_is_in_another_language() -> None:
    """The script gives the language, and the language "any" accepts the passage."""
    held = Corpus.from_passages([Passage("zh", "市场由织工安娜于一六〇〇年开设。" * 3)])

    assert usable(held, in_language="English").refused == {
        "zh": "it is in Chinese, the prompts are in English"
    }
    assert usable(held, in_language="any").refused == {}


def test_a_corpus_without_a_usable_passage_gives_reasons_and_no_call() -> None:
    """Every passage is counted with its reason, and the shortfall of every label reports it."""
    held = Corpus.from_passages([Passage("a", "Too short."), Passage("b", "x = {1: [2]};" * 9)])
    script = ScriptedCalls(ScriptedWriter())

    made = generate(held, GenerationPlan(count=3), writer(script))

    assert not script.asked
    assert sum(made.summary()["passages_refused"].values()) == 2
    assert all("no passage is usable" in why for why in made.shortfall.values())
    assert made.shortfall.keys() == made.plan.wanted.keys()


def test_passages_without_a_link_give_no_multi_hop_query() -> None:
    """The shortfall reports that there is no pair."""
    texts = ["river " * 30 + f"number {i}." for i in range(3)]
    held = Corpus.from_passages([Passage(f"p{i}", text) for i, text in enumerate(texts)])

    made = run("multi-hop", passages=held, count=2)

    assert made.drafts == []
    assert "no passage was left" in made.shortfall["multi_hop"]


@pytest.mark.parametrize(
    ("strategy", "step"),
    [
        (name, step)
        for name, steps in {
            "statements": ("theme", "facts", "summaries", "conclusions", "question"),
            "single": ("single",),
            "evolution": ("single", "reasoning", "constraint"),
            "adversarial": ("near_miss", "single", "counterfactual"),
            "multi-hop": ("multi_hop",),
        }.items()
        for step in steps
    ],
)
def test_a_repeated_prompt_is_rejected_at_every_step(strategy: str, step: str) -> None:
    """A repeated prompt is rejected."""
    made = run(strategy, {step: "echo"})

    concerned = [d for d in made.drafts if any(s.name == step for s in d.steps)]
    assert concerned
    # A list that repeats a prompt of facts gives these facts.
    told = (
        "statements only repeat the facts" if step in _FROM_FACTS else "model repeated the prompt"
    )
    assert {d.reason for d in concerned} == {f"{step}: the {told}"}


def test_a_text_with_numbers_is_not_a_table() -> None:
    """Sentences with numbers and signs are accepted."""
    text = "In 1850 the town had 3,200 people; by 1900 (the census says) 4,100, i.e. 28% more."

    assert not is_table_or_code(text)


def test_a_duplicate_passage_is_used_once() -> None:
    """The copy is refused with a reason."""
    held = corpus(2)
    twice = Corpus.from_passages([*held, Passage("copy", held.at(0).text)])

    assert usable(twice, in_language="English").refused == {"copy": "its text is a duplicate"}


def test_a_question_that_the_token_limit_cut_is_rejected() -> None:
    """A truncated question is rejected; the last line of a truncated list is left out."""
    made = run(faults={"question": "cut"}, count=1, rounds=1)
    listed = run(faults={"facts": "cut"}, count=1, rounds=1)

    assert made.drafts[0].reason == "question: the reply was cut within the question"
    assert "facts: the reply was cut" in listed.drafts[0].notes
    assert all(fact.endswith(".") for fact in listed.drafts[0].facts)


def test_a_title_is_not_a_statement() -> None:
    """A list that has only the passage's title has no fact."""
    made = run(script=lambda _: "- Ardmoor", passages=corpus(1), count=1)
    titled = corpus(1).at(0).title + " and its market"
    held = Corpus.from_passages([Passage("p", corpus(1).at(0).text, title=titled)])
    again = run(script=lambda _: f"- {titled}", passages=held, count=1)

    assert made.drafts[0].reason == "facts: the reply has no statement"
    assert again.drafts[0].reason == "facts: no statement of the passage: the passage's title alone"


def test_a_sample_larger_than_the_data_set_is_noted(tmp_path: Path) -> None:
    """All queries are labelled, and the first line reports it."""
    with FakeModelServer(answer=lambda _: "Verdict: [[summary]]") as server:
        arguments = [
            *("label", "sample", "-o", str(tmp_path / "l.jsonl"), "--limit", "9999"),
            *("--model", f"chat(model=x, base_url={server.url})"),
            *("--calls", str(tmp_path / "c.sqlite")),
        ]
        done = CliRunner().invoke(command, arguments)

    assert "queries, fewer than 9,999: all are labelled" in done.output
