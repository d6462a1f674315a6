"""Files that other tools wrote: the same three answers, questions and gold answers in each format.

`tools/foreign_fixtures.py` wrote the files with the tools' own packages, whose versions are in
`versions.json`.
"""

from __future__ import annotations

import contextlib
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.data.load import layout
from ragstone.data.readers import foreign_formats
from ragstone.data.readers.answer_rows import read_answer_rows
from ragstone.data.readers.foreign_formats import FORMATS, ForeignFormat, format_of
from ragstone.data.readers.foreign_rows import HISTORY
from ragstone.data.readers.table import table_dataset
from ragstone.data.readers.table_files import read_table
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Message

FOLDER = Path(__file__).parent / "foreign"
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (FOLDER / "ragas.jsonl").read_text("utf-8").splitlines()
]
"""The answers in ragas' form, which the other files have too."""
ANSWERS = {
    "deepeval.csv": "deepeval",
    "deepeval.json": "deepeval",
    "deepeval.jsonl": "deepeval",
    "deepeval-test-run.json": "deepeval",
    "langchain.jsonl": "langchain",
    "langchain-dumps.json": "langchain",
    "langsmith-experiment.csv": "langsmith-runs",
    "langsmith-runs.jsonl": "langsmith-runs",
    "llama-index-responses.jsonl": "llama-index-responses",
    "open-rag-eval.csv": "open-rag-eval",
    "promptfoo.json": "promptfoo",
    "promptfoo.jsonl": "promptfoo",
    "promptfoo.csv": "promptfoo-table",
    "ragas.jsonl": "ragas",
    "ragas.csv": "ragas",
    "ragas-0.0.json": "ragas-0.1",
    "ragas-0.1.csv": "ragas-0.1",
    "nuggetizer.jsonl": "nuggetizer",
    "trec-rag-2024.jsonl": "trec-rag",
    "trec-rag-2025.jsonl": "trec-rag",
}
"""File with answers -> format."""
WITHOUT_GOLD = ("open-rag-eval", "nuggetizer", "trec-rag")
JOINED = ("promptfoo-table", "nuggetizer", "trec-rag")
"""Formats that do not keep the contexts of an answer apart, or that have ids alone or none."""
GOLD_CONTEXTS = (
    "deepeval.csv",
    "deepeval.json",
    "ragas.jsonl",
    "ragas.csv",
    "llama-index-rag.json",
)


@pytest.mark.parametrize(("name", "format_name"), ANSWERS.items())
def test_the_answers_of_every_format_are_read(name: str, format_name: str) -> None:
    """With contexts, and gold answers if the format has them; the format is recognised and told."""
    path = FOLDER / name
    table = read_answer_rows(path)

    assert table.columns.format == format_name
    assert f"{name}: the format is {format_name}; " in table.columns.note(path)
    assert f"--format {format_name}" in table.columns.note(path)
    rows = next(iter(table.systems.values()))
    assert [query.text for query in rows.queries] == [row["user_input"] for row in ROWS]
    gold = [query.gold_answers for query in rows.queries]
    expected = [() if format_name in WITHOUT_GOLD else (row["reference"],) for row in ROWS]
    assert gold == expected
    for query, row in zip(rows.queries, ROWS, strict=True):
        assert rows.predictions[query.query_id].answer == row["response"]
        if format_name not in JOINED:
            shown = rows.contexts[query.query_id].passages
            assert [passage.text for passage in shown] == row["retrieved_contexts"]


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_rows_of_answers_are_questions_too(name: str) -> None:
    """The answers of systems are neither gold answers nor labels."""
    dataset = ragstone.load_dataset(FOLDER / name)

    assert [query.text for query in dataset.queries] == [row["user_input"] for row in ROWS]
    expected = [() if ANSWERS[name] in WITHOUT_GOLD else (row["reference"],) for row in ROWS]
    assert [query.gold_answers for query in dataset.queries] == expected
    labels = {label for query in dataset.queries for label in query.labels}
    assert labels <= {"name", "rubrics", "vars.topic"}


@pytest.mark.parametrize("name", GOLD_CONTEXTS)
def test_gold_contexts_are_the_corpus(name: str) -> None:
    """And relevant to the query of their row."""
    dataset = ragstone.load_dataset(FOLDER / name)

    found = [
        [dataset.corpus[passage_id].text for passage_id in dataset.qrels[query.query_id]]
        for query in dataset.queries
    ]
    assert found == [row["reference_contexts"] for row in ROWS]


def test_questions_without_answers() -> None:
    """LangSmith's examples have ids; LlamaIndex's pairs have a corpus beyond the gold passages."""
    examples = ragstone.load_dataset(FOLDER / "langsmith-examples.jsonl")
    assert [query.gold_answers for query in examples.queries] == [(r["reference"],) for r in ROWS]
    assert examples.queries[0].query_id == "00000000-0000-0000-0000-00000000000a"
    pairs = ragstone.load_dataset(FOLDER / "llama-index-pairs.json")
    assert len(pairs.corpus) == sum(len(row["retrieved_contexts"]) for row in ROWS)
    assert pairs.qrels == {f"q{n}": {f"n{n}-0": 1} for n in range(len(ROWS))}
    with pytest.raises(ConfigError, match=r"no column of answers.*--columns answer=COLUMN"):
        read_answer_rows(FOLDER / "llama-index-rag.json")


def test_a_conversation_has_its_history_and_last_answer() -> None:
    """The id depends on the history: the same words may follow other messages."""
    path = FOLDER / "ragas-conversation.jsonl"
    (query,) = ragstone.load_dataset(path).queries
    rows = read_answer_rows(path).of("")

    assert query.text == ROWS[0]["user_input"]
    assert query.history == (
        Message("user", "Tell me about Lisbon."),
        Message("agent", "It is a city."),
    )
    assert rows.queries == [query]
    assert rows.predictions[query.query_id].answer == ROWS[0]["response"]
    assert query.query_id != ragstone.load_dataset(FOLDER / "ragas.csv").queries[0].query_id


def test_providers_and_runs_are_systems(tmp_path: Path) -> None:
    """Promptfoo's providers, with their prompt if there are several; a failure has its reason."""
    for name in ("promptfoo.json", "promptfoo.jsonl"):
        second = read_answer_rows(FOLDER / name).of("second")
        reasons = [prediction.reason for prediction in second.predictions.values()]
        assert reasons == ["", "timed out", ""]
    assert list(read_answer_rows(FOLDER / "promptfoo.csv").systems) == ["first", "second"]
    results = [json.loads(x) for x in (FOLDER / "promptfoo.jsonl").read_text("utf-8").splitlines()]
    others = [{**row, "prompt": {"label": "short"}} for row in results]
    path = tmp_path / "two-prompts.json"
    path.write_text(json.dumps({"results": {"results": results + others}}))
    label = results[0]["prompt"]["label"]
    assert set(read_answer_rows(path).systems) == {
        f"{provider} | {prompt}" for provider in ("first", "second") for prompt in (label, "short")
    }
    text = (FOLDER / "open-rag-eval.csv").read_text("utf-8")
    again = text + text.partition("\n")[2].replace("?,1,", "?,2,")
    (tmp_path / "runs.csv").write_text(again, encoding="utf-8")
    assert list(read_answer_rows(tmp_path / "runs.csv").systems) == ["run 1", "run 2"]


def test_ids_of_contexts_are_kept_if_all_have_one() -> None:
    """open-rag-eval's `[1]` is a place in one answer, not an id."""
    rows = read_answer_rows(FOLDER / "langchain-dumps.json").of("")
    (first, *_) = rows.contexts.values()
    assert first.passage_ids == ("d0-0", "d0-1")
    (first, *_) = read_answer_rows(FOLDER / "open-rag-eval.csv").of("").contexts.values()
    assert first.passage_ids == ("1", "2")
    trec = read_answer_rows(FOLDER / "trec-rag-2025.jsonl").of("own")
    assert trec.predictions["0"].passage_ids == ("msmarco_v2.1_doc_00#0", "msmarco_v2.1_doc_00#1")


def test_the_format_can_be_pinned(tmp_path: Path) -> None:
    """A pinned format with pinned columns is not told; `plain` reads what a tool wrote as it is."""
    path = FOLDER / "ragas-0.1.csv"
    columns = {"text": "question", "gold_answers": "ground_truth"}
    table = read_answer_rows(path, columns, format_name="ragas-0.1")
    assert (table.columns.format, table.columns.note(path)) == ("ragas-0.1", "")
    assert read_answer_rows(path, format_name="plain").columns.format == ""
    with pytest.raises(ConfigError, match=r"unknown format 'raggas'; did you mean 'ragas'\?"):
        read_answer_rows(path, format_name="raggas")
    copy = shutil.copy(path, tmp_path / "rows.csv")
    plain = {"path": copy, "format": "plain"}
    assert ragstone.load_dataset(plain).queries[0].gold_answers == ("on the Tagus",)


def test_two_fields_for_one_role_are_both_named() -> None:
    """In an object of another tool, too; the only other field needs no usual name."""
    row = {"inputs": {"question": "Where?", "query": "Wo?"}, "outputs": {"capital": "Rome"}}
    with pytest.raises(
        ConfigError, match=r"'inputs.question' and 'inputs.query' may both be text; .*--columns"
    ):
        table_dataset([(1, row)], Path("rows"))
    (query,) = table_dataset([(1, row)], Path("rows"), {"text": "inputs.query"}).queries
    assert (query.text, query.gold_answers) == ("Wo?", ("Rome",))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"user_input": [], "response": "a"}, "line 3: .*no message of a user"),
        (
            {"references": [], "run_id": "a", "answer": [{"text": 3}]},
            "line 3: sentence 1: it has no text",
        ),
    ],
)
def test_a_malformed_row_is_named(row: dict[str, Any], message: str) -> None:
    """With its file and line."""
    with pytest.raises(DatasetError, match=message):
        table_dataset([(3, row)], Path("rows"))


def test_damaged_pairs_are_named(tmp_path: Path) -> None:
    """A relevant passage that the corpus lacks."""
    document = {"queries": {"q": "Where?"}, "corpus": {}, "relevant_docs": {"q": ["n"]}}
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps(document))
    with pytest.raises(DatasetError, match="query 'q' names 'n', which 'corpus' lacks"):
        ragstone.load_dataset(path)


def test_own_and_plain_rows_are_of_no_format() -> None:
    """Ragstone's own names, rows of SQuAD, and tables of questions."""
    for row in (
        {"query_id": "1", "query": "a", "answer": "b", "contexts": ["c"], "gold_answers": ["d"]},
        {"id": "1", "question": "a", "context": "b", "answers": {"text": ["c"]}},
        {"input": "a", "output": "b"},
        {"question": "a", "answer": "b", "source": "c"},
    ):
        assert format_of([row]) is None


def test_every_format_has_a_file_and_a_version() -> None:
    """Except for the test sets of ragas before 0.2, which are given in the test below."""
    read = {*ANSWERS.values(), "langsmith-examples", "llama-index", "llama-index-embedding-pairs"}
    assert {one.name for one in FORMATS} - read == {"ragas-0.1-test-set"}
    assert len(json.loads((FOLDER / "versions.json").read_text())) == 9
    assert len({one.name for one in FORMATS}) == len(foreign_formats.FORMATS)


def test_the_contexts_of_a_test_set_of_ragas_are_gold() -> None:
    """Its columns up to 0.1, whose answers' rows have the contexts of a system there."""
    row = {
        "question": "Where?",
        "contexts": ["On the Tagus."],
        "ground_truth": "the Tagus",
        "evolution_type": "simple",
        "episode_done": True,
    }
    dataset = table_dataset([(1, row)], Path("rows"))
    assert len(dataset.corpus) == 1
    (query,) = dataset.queries
    assert (query.gold_answers, dict(query.labels)) == (
        ("the Tagus",),
        {"evolution_type": "simple"},
    )


def test_the_layout_of_json_is_known_by_its_content(tmp_path: Path) -> None:
    """A document of a tool and JSON lines called .json are tables; SQuAD's form is not."""
    assert layout(FOLDER / "promptfoo.json") == "table"
    assert layout(FOLDER / "ragas-0.0.json") == "table"
    path = tmp_path / "a.json"
    path.write_text('{"data": [{"paragraphs": []}]}')
    assert layout(path) == "squad"
    path.write_text('{"results": []}')
    assert layout(path) == "squad"
    with pytest.raises(DatasetError, match="a list of objects, or the rows of a known tool"):
        read_answer_rows(path)


JUNK: list[Any] = [
    *(None, 1, 1.5, True, "", "x", "{", "{'a': 1}", '{"a": [1]}', "[1]", "\t", "a\nb", {}, []),
    *(["a"], [1], [None], [[]], {"a": 1}, {"question": "q"}, {"text": ["a"]}, [{"text": "a"}]),
    *([{"content": "a", "type": "human"}], [{"role": "user", "content": [{"text": "a"}]}]),
    *([{"page_content": 3}], [{"kwargs": {"page_content": "x", "id": "q"}}]),
]
OTHERS = ("history", "reason", "testCase", "prompt", "chat_history", "passage", "error", HISTORY)


@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one.name)
def test_whatever_a_row_holds_the_error_is_one_of_ours(one: ForeignFormat, tmp_path: Path) -> None:
    """Values of every kind in the columns of every format."""
    chance = random.Random(one.name)  # noqa: S311 - test data
    path = tmp_path / "rows.jsonl"
    for _ in range(40):
        names = [chance.choice(group) for group in one.needs]
        names += [name for group in one.columns.values() for name in group if chance.random() < 0.2]
        names += [name for name in OTHERS if chance.random() < 0.2]
        row: dict[str, Any] = {}
        for name in names:
            first, is_list, field = name.replace("*", "other").partition("[].")
            value = chance.choice(JUNK)
            row[first] = [{field: value}] if is_list else value
        path.write_text(json.dumps(row))
        assert json.loads(path.read_text()) == row
        for read in (read_answer_rows, lambda p: table_dataset(read_table(p), p)):
            with contextlib.suppress(ConfigError, DatasetError):
                read(path)
