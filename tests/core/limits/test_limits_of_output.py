"""Limits of findings, reports, the terminal and test sets, each with its effect on an output."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner
from tests.fakes.made_results import made_results
from tests.fakes.made_test_set import corpus, run, writer

import ragstone
from ragstone.building.draft import Draft
from ragstone.building.generate import Generated, GenerationPlan
from ragstone.building.labels import gold_items
from ragstone.building.passages import Usable
from ragstone.cli import data_generate, progress_bars, root
from ragstone.cli.data import _counts, command
from ragstone.core import limits
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.writers.mtrag import Submission, write_tasks
from ragstone.data_quality import check
from ragstone.data_quality.duplicates import _copies
from ragstone.data_quality.finding import Finding, distribution
from ragstone.data_quality.lenient_reader import read_leniently
from ragstone.data_quality.shingles import Pair, near_pairs, word_shingles
from ragstone.data_quality.text_faults import _around
from ragstone.experiment.load import load_experiment
from ragstone.results.conversation_page import dialogues
from ragstone.results.html import render_report
from ragstone.results.kept_board import leaderboard_parts
from ragstone.results.leaderboards import results_document
from ragstone.results.query_page import query_pages
from ragstone.results.reader import StepNote
from ragstone.results.results import Results
from ragstone.testing import FakeModelServer, ScriptedCalls
from ragstone.types import Ranking


def lower(monkeypatch: pytest.MonkeyPatch, **changed: int) -> None:
    """Set limits to other values."""
    for name, value in changed.items():
        monkeypatch.setattr(limits, name, value)


def findings(folder: Path, **rows: Sequence[Mapping[str, Any]]) -> dict[str, Finding]:
    """Return the doctor's findings about a data set of those rows, by name."""
    folder.mkdir(exist_ok=True)
    for name, each in rows.items():
        text = "".join(f"{json.dumps(row)}\n" for row in each)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    qrels = [f"{row['_id']}\tp{n}\t1\n" for row in rows["queries"] for n in row.get("gold", ())]
    (folder / "qrels.tsv").write_text("".join(qrels), encoding="utf-8")
    return {found.check: found for found in check(read_leniently(folder))}


def talk(folder: Path, **more: Any) -> Results:
    """Run an experiment over two conversations of the sample, without an answer to any query."""
    sample = load_dataset("sample")
    answers = [
        {"query_id": query.query_id, "answer": None, "reason": f"reason {n} of the server"}
        for n, query in enumerate(sample.queries)
    ]
    text = "".join(f"{json.dumps(row)}\n" for row in answers)
    (folder / "answers.jsonl").write_text(text, encoding="utf-8")
    generator = {"name": "recorded", "path": str(folder / "answers.jsonl")}
    document = {
        "data": "sample",
        "store": str(folder / "store"),
        "sample": {"where": {"conversation": ["c-places-01", "c-people-01"]}},
        "systems": {"a": {"retriever": "bm25(top_k=5)", "generator": generator}},
        "settings": ["gold"],
        "metrics": ["nDCG@5", "Match"],
        **more,
    }
    return load_experiment(document).run()


def test_examples_of_findings_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids, answers, queries and the text around a damaged character."""
    lower(monkeypatch, MAX_EXAMPLE_IDS=2, EXAMPLE_ANSWER_CHARACTERS=4)
    lower(monkeypatch, EXAMPLE_QUERY_CHARACTERS=9, EXAMPLE_MARGIN_CHARACTERS=3)
    no = {"answerability": "unanswerable"}
    passages = ("The guild rings a bell in autumn.", "Ships sail.", "Bees fly.")
    found = findings(
        tmp_path,
        corpus=[{"_id": f"p{n}", "text": text} for n, text in enumerate(passages)],
        queries=[
            {"_id": "q1", "text": "Which colour?", "answers": ["vermilion"], "gold": (0, 1, 2)},
            {"_id": "q2", "text": "When is the bell?", "answers": ["in autumn"], **no},
            {"_id": "q3", "text": "Which guild rings a bell autumn?", **no},
        ],
    )
    assert found["answers/not-in-passage"].examples == ("q1: 'verm...' not in p0, p1",)
    assert found["unanswerable/answer-in-corpus"].examples == ("q2: 'in a...' in p0",)
    assert found["unanswerable/covered"].examples[0].startswith("q3: Which gui... (")
    assert _copies(["a", "b", "c"], {"a": "text"}) == "a = b: text"
    assert _around("one two caf\ufffd by the bridge", 11) == "caf\ufffd b"


def test_a_distribution_has_the_most_frequent_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are left out."""
    lower(monkeypatch, MAX_DISTRIBUTION_VALUES=2)
    assert distribution(Counter("aaabbc")) == "a 3, b 2"


def test_a_label_with_many_values_is_not_checked_for_balance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the maximum it is not a category."""
    queries = [{"_id": str(n), "text": f"Who {n}?", "kind": str(n > 0)} for n in range(40)]
    rows = {"corpus": [{"_id": "p1", "text": "A text."}], "queries": queries}
    assert "labels/kind" in findings(tmp_path, **rows)
    lower(monkeypatch, MAX_CATEGORY_VALUES=1)
    assert "labels/kind" not in findings(tmp_path, **rows)


def test_a_large_group_of_similar_texts_is_compared_with_its_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beyond the maximum there are no other pairs."""
    sets = word_shingles(["one two three four five six"] * 4)
    assert len(near_pairs(sets, 0.8)) == 6
    lower(monkeypatch, MAX_BUCKET_TEXTS=3)
    assert near_pairs(sets, 0.8) == [Pair(0, n, 1.0) for n in (1, 2, 3)]


def test_a_report_has_pages_of_the_first_queries(tmp_path: Path) -> None:
    """All queries are counted."""
    count = limits.REPORT_QUERIES + 1
    results = made_results(tmp_path, queries=count, systems=["one"], settings=["none"])
    pages = query_pages(results)
    assert (len(pages["queries"]), pages["total"]) == (limits.REPORT_QUERIES, count)


def test_many_systems_are_compared_with_the_best_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranks without all pairs are wider; each system still has one."""
    lower(monkeypatch, MAX_RANKED_SYSTEMS=2)
    results = made_results(tmp_path, systems=["a", "b", "c"], settings=["none"])
    standing = results.standings["none", "Match"]
    assert len(standing.pairs) == 2
    assert set(standing.places) == {"a", "b", "c"}


def test_the_texts_of_the_first_ranks_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of relevant passages too, each up to a length."""
    lower(monkeypatch, REPORT_QUERIES=2, STORED_RANKS=1, STORED_PASSAGE_CHARACTERS=20)
    results = talk(tmp_path)
    (ranking,) = results.rankings
    asked = list(results.queries)[:2]
    first = {ranking.rankings[query_id].passage_ids[0] for query_id in asked}
    gold = {p for q in asked for p, grade in results.qrels[q].items() if grade > 0}
    assert set(results.texts) == first | gold
    assert all(len(text.removesuffix(" [...]")) == 20 for text in results.texts.values())


def test_a_report_shows_the_worst_conversations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to a number; a label that is a text is left out."""
    results = talk(tmp_path)
    first, second = dialogues(results)
    assert "domain" in first.labels
    assert second.conversation in render_report(results)
    lower(monkeypatch, REPORT_CONVERSATIONS=1, MAX_LABEL_CHARACTERS=2)
    (shown,) = dialogues(results)
    assert shown.conversation == first.conversation
    assert "domain" not in shown.labels


def test_reasons_of_failures_are_counted_up_to_a_maximum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a step's manifest and in the terminal, with the number of the others; JSON has all."""
    lower(monkeypatch, STORED_REASONS=2)
    results = talk(tmp_path)
    whole = [note for note in results.failures if note.step == "generate"]
    assert len(whole) == 3
    assert min(note.what for note in whole).endswith("other reasons")
    results.__dict__["failures"] = [StepNote("generate", "m", f"why {n}", 9) for n in range(3)]
    shown = [note["what"] for note in results_document(results)["failures"]]
    assert shown == ["why 0", "why 1", "why 2"]
    lower(monkeypatch, SHOWN_FAILURES=1, REASON_CHARACTERS=12)
    text = "\n".join(map(str, leaderboard_parts(results)))
    assert "  9 x m: ...\n  and 2 other reasons" in text


def test_a_data_set_is_shown_up_to_a_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries, texts, and the values of a label that is an id."""
    lower(monkeypatch, SHOWN_QUERIES=2, SHOWN_CELL_CHARACTERS=12)
    sample = load_dataset("sample")
    text = "\n".join(map(str, sample.parts()))
    shown = [query.query_id in text for query in sample.queries[:3]]
    assert shown == [True, True, False]
    assert sample.queries[0].text not in text
    lower(monkeypatch, STORED_LABEL_VALUES=4, SHOWN_LABEL_VALUES=3, SHOWN_VALUES_OF_MANY=1)
    counts = {"a": 4, "b": 3, "c": 2, "d": 1}
    assert _counts(counts, values=4) == "a 4, b 3, c 2 and 1 more values"
    assert _counts(counts, values=5) == "a 4 and 4 more values"


def test_lost_judgements_are_shown_up_to_a_maximum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`ragstone data chunk` names the file with the others."""
    lower(monkeypatch, SHOWN_LOST_JUDGEMENTS=1)
    rows = [{"_id": str(n), "text": f"two {n}", "document": "d"} for n in range(3)]
    for name, each in {"queries": [{"_id": "q", "text": "?"}], "corpus": rows}.items():
        text = "".join(f"{json.dumps(row)}\n" for row in each)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "qrels.tsv").write_text("q\t0\t1\nq\t1\t1\nq\t2\t1\n", encoding="utf-8")
    documents = tmp_path / "documents.json"
    documents.write_text('{"_id": "d", "text": "seven eight"}', encoding="utf-8")
    arguments = ["chunk", tmp_path, tmp_path / "cut", "--documents", documents]
    output = CliRunner().invoke(command, list(map(str, arguments))).output
    assert output.count("  not transferred: ") == 1
    assert "  and 2 more, all in cutting.json" in output


def test_reasons_of_rejected_queries_are_shown_up_to_a_maximum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`ragstone data generate` names the file with the others; a shortfall has the first ones."""
    lower(monkeypatch, SHOWN_REJECTION_REASONS=1, MAX_SHORTFALL_REASONS=2)
    reasons = ["too long", "too long", "no question", "no answer"]
    drafts = [Draft("single", "summary", (), reason=reason) for reason in reasons]
    plan = GenerationPlan(count=1, mix={"summary": 1.0})
    made = Generated(plan, "m", drafts, Usable(list(corpus()), {}))
    lines = list(data_generate._lines(made.summary()))
    assert "      2  too long" in lines
    assert "         and 2 more reasons, see items.jsonl" in lines
    (shortfall,) = made.shortfall.values()
    assert "4 were tried; too long (2), no question (1);" in shortfall


def test_rejected_queries_are_replaced_in_some_rounds() -> None:
    """Each round tries another passage; then the shortfall names their number."""
    made = run(script=lambda _: "", count=1, mix={"summary": 1.0})
    assert len(made.drafts) == limits.GENERATION_ROUNDS
    assert f"{limits.GENERATION_ROUNDS} rounds were made" in made.shortfall["summary"]


def test_gold_passages_of_a_prompt_have_a_maximum() -> None:
    """The best grades come first."""
    count = limits.MAX_GOLD_PASSAGES + 1
    dataset = Dataset.from_records(
        queries=[{"query_id": "q", "text": "Why?"}],
        passages=[{"passage_id": f"p{n}", "text": f"text {n}"} for n in range(count)],
        qrels=[("q", f"p{n}", n + 1) for n in range(count)],
    )
    (item,) = gold_items(dataset)
    assert item.passages == tuple(f"text {n}" for n in range(count - 1, 0, -1))


def tokens_of(*arguments: str) -> set[int]:
    """Return the maxima of tokens that a command of `ragstone data` sends to its model."""
    with FakeModelServer(answer=lambda _: "Verdict: [[summary]]") as server:
        model = ("--model", f"chat(model=x, base_url={server.url})")
        done = CliRunner().invoke(command, [arguments[0], "sample", *arguments[1:], *model])
        assert done.exit_code == 0, done.output
        return {body["max_tokens"] for body in server.bodies}


def test_replies_of_writers_and_judges_have_a_maximum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rating, a label with or without a reason, and a written text."""
    monkeypatch.chdir(tmp_path)
    lower(monkeypatch, RATING_TOKENS=301, LABEL_TOKENS=302, EXPLAINED_LABEL_TOKENS=303)
    few = ("-o", str(tmp_path / "found.jsonl"), "--limit", "1")
    assert min(tokens_of("critique", *few)) == 301
    assert min(tokens_of("label", *few, "--no-explain")) == 302
    assert min(tokens_of("label", *few)) == 303
    assert writer(ScriptedCalls(lambda _: "")).max_tokens == limits.WRITER_TOKENS


def test_mtrageval_accepts_some_passages_of_a_ranking(tmp_path: Path) -> None:
    """The first ones are written."""
    sample = load_dataset("sample").select([0])
    ids = [sample.corpus.at(n).passage_id for n in range(limits.MTRAG_CONTEXTS + 2)]
    ranking = Ranking(ids, [float(-n) for n in range(len(ids))])
    submitted = Submission(rankings={sample.queries[0].query_id: ranking})
    row = json.loads(write_tasks(sample, tmp_path / "a.jsonl", "a", submitted).read_text("utf-8"))
    found = [context["document_id"] for context in row["contexts"]]
    assert found == ids[: limits.MTRAG_CONTEXTS]


def test_help_has_a_maximum_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a wider terminal too."""
    monkeypatch.setenv("COLUMNS", "300")
    top = click.Context(root, **root.context_settings)
    text = click.Context(data_generate.generate_command, parent=top).get_help()
    assert 80 < max(map(len, text.splitlines())) <= limits.HELP_COLUMNS


def test_a_log_file_gets_a_progress_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first after the delay, the next ones after the time between two lines."""
    now = [0]
    monkeypatch.setattr(progress_bars, "time", SimpleNamespace(monotonic=lambda: now[0]))
    lower(monkeypatch, PROGRESS_DELAY_SECONDS=2, PROGRESS_LINE_SECONDS=4)
    bar = progress_bars.PlainBar("Counting", 9)
    for now[0] in range(9):
        bar.advance()
    shown = [line.split(",")[0] for line in capsys.readouterr().err.splitlines()]
    assert shown == ["Counting: 3 of 9", "Counting: 7 of 9"]


def test_a_title_of_a_plan_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """The state stays on the line."""
    lower(monkeypatch, PLAN_TITLE_CHARACTERS=12)
    document = {"data": "sample", "systems": {"a": {"retriever": "bm25"}}, "metrics": ["nDCG@3"]}
    assert "\n    retri... to do" in load_experiment(document).plan().text()


def test_flipped_queries_in_the_terminal_are_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Per direction and for the first pairs; a long text ends with the number of characters."""
    made = made_results(tmp_path / "store", systems=("a", "b", "c"), queries=40)
    results = Results(made.store, made.record)
    found = ragstone.compare({s: results.evaluation(s, "retrieved(3)") for s in results.systems})
    lower(monkeypatch, SHOWN_FLIPPED_QUERIES=1, SHOWN_FLIPPED_PAIRS=1, SHOWN_TEXT_CHARACTERS=10)
    text = str(found)

    assert text.count(", 1 shown") == 2
    assert "When does ... (24 more characters)" in text
    # `REPORT_FLIPPED_QUERIES` and `REPORT_TEXT_CHARACTERS`: tests/results/test_comparison_page.py
