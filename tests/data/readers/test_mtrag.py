"""mtRAG's files: the paper's counts, a round trip through the writers, errors of malformed ones."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.readers.inspector_raget import read_inspection, write_inspection
from ragstone.data.readers.mtrag import MtragReader
from ragstone.data.readers.mtrag_answers import read_submission
from ragstone.data.writers.layouts import WRITERS
from ragstone.data.writers.mtrag import Submission, write_tasks
from ragstone.errors import DatasetError
from ragstone.types import Context, ContextPassage, Prediction, Query, Ranking

SharedData = Callable[[str], Path]
USER, AGENT = {"speaker": "user", "text": "Who?"}, {"speaker": "agent", "text": "Ada."}


@pytest.fixture(scope="module")
def conversations(shared_data: SharedData) -> Dataset:
    """Return the human conversations, read from their own file."""
    folder = shared_data("mtrag") / "conversations"
    return MtragReader(folder / "mtrag_human_conversations.jsonl.gz").read()


def by_id(dataset: Dataset) -> dict[str, Query]:
    """Return the queries by id."""
    return {query.query_id: query for query in dataset.queries}


def write(folder: Path, rows: list[dict[str, Any]], name: str = "c.jsonl") -> Path:
    """Write rows as JSON lines."""
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_110_conversations_are_842_tasks_with_the_known_labels(conversations: Dataset) -> None:
    """777 of them have gold passages: the answerable and the partly answerable ones."""
    labels = [query.labels for query in conversations.queries]

    assert len({label["conversation"] for label in labels}) == 110
    assert Counter(label["answerability"] for label in labels) == {
        "answerable": 709,
        "partial": 68,
        "unanswerable": 55,
        "conversational": 10,
    }
    assert Counter(label.get("multi_turn") for label in labels) == {
        "follow-up": 622,
        "clarification": 110,
        None: 110,
    }
    assert len(conversations.qrels) == 777
    assert sum(int(str(label["gold_passages"])) <= 2 for label in labels) == 436


def test_conversations_give_the_published_tasks(
    shared_data: SharedData, conversations: Dataset
) -> None:
    """History, question, gold answer, labels and gold passages of 842 tasks, each as published."""
    tasks = MtragReader(shared_data("mtrag") / "tasks/mtrag_human_tasks.jsonl.gz").read()
    gold = {query_id: set(grades) for query_id, grades in tasks.qrels.items()}

    assert by_id(conversations) == by_id(tasks)
    assert {q: set(grades) for q, grades in conversations.qrels.items()} == gold


def test_a_domain_is_read_with_its_own_corpus(shared_data: SharedData) -> None:
    """Govt: 214 turns, 1,397 passages, 521 judgements, and the published rewrites."""
    found = MtragReader(shared_data("mtrag"), domains="govt").read()

    assert (len(found.queries), len(found.corpus), found.qrel_table.num_rows) == (214, 1397, 521)
    assert sum(bool(query.rewrite) for query in found.queries) == 201
    assert {p.labels["domain"] for p in found.corpus} == {"govt"}
    with pytest.raises(DatasetError, match="no domain 'law'"):
        MtragReader(shared_data("mtrag"), domains="law").read()


def test_writing_and_reading_again_loses_nothing(shared_data: SharedData, tmp_path: Path) -> None:
    """Queries, labels, qrels, passages; the three query files line by line as published."""
    folder = shared_data("mtrag")
    whole = MtragReader(folder, domains="govt").read()

    WRITERS["mtrag"](whole, tmp_path)
    again = MtragReader(tmp_path).read()

    assert by_id(again) == by_id(whole)
    assert again.qrels == whole.qrels
    assert list(again.corpus) == list(whole.corpus)
    for form in ("lastturn", "questions", "rewrite"):
        name = f"queries/govt_{form}.jsonl"
        published = (folder / name).read_text(encoding="utf-8").splitlines()
        written = (tmp_path / name).read_text(encoding="utf-8").splitlines()
        assert [json.loads(line) for line in written] == [json.loads(line) for line in published]


def test_the_sample_goes_through_mtrags_layout(tmp_path: Path) -> None:
    """Other ids, answers that differ from the agent's, and labels unknown to mtRAG survive."""
    sample = load_dataset("sample")
    places = [i for i, query in enumerate(sample.queries) if "turn" in query.labels]
    talks = sample.select(places)

    WRITERS["mtrag"](talks, tmp_path)
    again = MtragReader(tmp_path).read()

    for query in talks.queries:
        found = by_id(again)[query.query_id]
        derived = {"standalone", "gold_passages"}
        labels = {name: v for name, v in found.labels.items() if name not in derived}
        assert (found.text, found.history, found.rewrite) == (
            query.text,
            query.history,
            query.rewrite,
        )
        assert found.gold_answers == query.gold_answers
        assert labels == query.labels
    assert {p.passage_id: p for p in again.corpus} == {p.passage_id: p for p in talks.corpus}


def test_a_label_by_people_beats_the_rule(tmp_path: Path) -> None:
    """A turn that people call stand-alone is so, whatever its rewrite; writing keeps the label."""
    messages = [
        {"speaker": "user", "text": "Where is the Tagus?"},
        {"speaker": "agent", "text": "In Iberia."},
        {"speaker": "user", "text": "How long is it?", "rewrite": "How long is the Tagus?"},
    ]
    by_people = [messages[0], messages[1], {**messages[2], "stand-alone": True}]
    rows = [
        {"conversation_id": name, "Collection": "", "messages": held}
        for name, held in (("rule", messages), ("people", by_people))
    ]
    found = MtragReader(write(tmp_path, rows)).read()
    WRITERS["mtrag"](found, tmp_path / "again")
    again = MtragReader(tmp_path / "again").read()

    for dataset in (found, again):
        last = {q.labels["conversation"]: q.labels for q in dataset.queries if q.turn == 2}
        assert {name: held["standalone"] for name, held in last.items()} == {
            "rule": False,
            "people": True,
        }
        assert "stand-alone" not in last["people"]


def test_tasks_a_b_and_c_contain_the_output_of_a_system(tmp_path: Path) -> None:
    """Rankings, contexts, answers and failures come back; each has the checker's fields."""
    sample = load_dataset("sample").select([0, 1])
    first, second = (query.query_id for query in sample.queries)
    held = Submission(
        rankings={first: Ranking(["places-001", "places-002"], [2.0, 1.5])},
        contexts={first: Context(first, "recorded", (ContextPassage("p", "Text.", "gold"),))},
        predictions={first: Prediction(first, "18,460"), second: Prediction(second, None, "slow")},
    )

    for form in ("a", "b", "c"):
        path = write_tasks(sample, tmp_path / f"{form}.jsonl", form, held)
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            assert {"task_id", "Collection", "input", "contexts"} <= row.keys()
            assert all({"document_id", "score"} <= c.keys() for c in row["contexts"])
            assert ("predictions" in row) == (form != "a")

    assert read_submission(tmp_path / "a.jsonl").rankings == held.rankings
    found = read_submission(tmp_path / "c.jsonl")
    assert found.predictions == held.predictions
    assert found.contexts == held.contexts
    with pytest.raises(DatasetError, match="already exists"):
        write_tasks(sample, tmp_path / "a.jsonl", "a")


def test_a_file_with_nan_and_predictions_is_read(shared_data: SharedData) -> None:
    """The sample of responses is not strict JSON: NaN marks unknown values."""
    path = shared_data("mtrag") / "evaluation_sample/responses-10.jsonl"

    found = MtragReader(path).read()

    assert [query.labels["turn"] for query in found.queries[:3]] == [1, 2, 3]
    assert found.queries[0].query_id.endswith("::1")
    assert len(read_submission(path).predictions) == 10


def test_synthetic_conversations_have_the_passages_they_were_made_of(
    shared_data: SharedData,
) -> None:
    """200 conversations, 1,181 turns; without votes, the agent's passages are the gold ones."""
    found = MtragReader(shared_data("mtrag") / "synthetic/conversations.json.gz").read()

    assert (len(found.queries), len(found.corpus)) == (1181, 863)
    assert len({query.labels["conversation"] for query in found.queries}) == 200
    assert len(found.qrels) > 1000


def test_the_human_evaluation_is_read_and_written_as_it_is(
    shared_data: SharedData, tmp_path: Path
) -> None:
    """159 tasks, three systems, every rating; the written file equals the one that was read."""
    folder = shared_data("mtrag") / "human_evaluations"
    path = folder / "reference_subset_with_human_evaluations.json.gz"

    found = read_inspection(path)
    again = read_inspection(write_inspection(found, tmp_path / "again.json"))

    assert (len(found.dataset.queries), len(found.dataset.corpus)) == (159, 350)
    assert {s: len(held) for s, held in found.predictions.items()} == dict.fromkeys(
        ["reference", "llama-3.1-405b-instruct", "gpt-4o"], 159
    )
    assert sum(rating.metric == "win-rate" for rating in found.ratings) == 477 * 3
    scores = found.scores("gpt-4o", "rb_agg")
    assert sum(score.value or 0 for score in scores) / 159 == pytest.approx(0.4574, abs=5e-5)
    assert again.document == json.loads(gzip.decompress(path.read_bytes()))
    assert again.ratings == found.ratings


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ([AGENT, USER], "turn 1: the agent speaks before the user"),
        ([USER, AGENT, USER, USER], "turn 3: the user speaks twice in a row"),
        ([USER, AGENT, AGENT], "turn 1: the agent speaks twice in a row"),
        ([USER, AGENT, {"speaker": "user", "text": " \n"}], "turn 2: the user's message is empty"),
        ([USER, {"speaker": "agent"}], "turn 1: the field 'text' is missing"),
        ([{"speaker": "bot", "text": "Hi"}], "turn 1: the field 'speaker' must be"),
        (["Who?"], "expected a JSON object"),
        (
            [{**USER, "enrichments": {"Answerability": [1]}}],
            "turn 1: the dimension 'Answerability' must be a list of texts",
        ),
    ],
)
def test_an_irregular_dialogue_is_an_error_with_conversation_and_turn(
    tmp_path: Path, messages: list[Any], told: str
) -> None:
    """The error names the line too."""
    path = write(tmp_path, [{"conversation_id": "c7", "messages": messages}])

    with pytest.raises(DatasetError, match="line 1: conversation 'c7'") as caught:
        MtragReader(path).read()

    assert told in str(caught.value)


def test_an_irregular_dialogue_can_be_kept_as_it_is(tmp_path: Path) -> None:
    """A leading agent message is history; a turn nobody answered has no gold answer."""
    path = write(tmp_path, [{"conversation_id": "c", "messages": [AGENT, USER, USER, AGENT]}])

    first, second = MtragReader(path, irregular="keep").read().queries

    assert [message.role for message in first.history] == ["agent"]
    assert first.gold_answers == ()
    assert [message.role for message in second.history] == ["agent", "user"]
    assert second.gold_answers == ("Ada.",)


def test_missing_labels_are_not_added(tmp_path: Path) -> None:
    """A turn without labels gets only those that follow from its place."""
    path = write(tmp_path, [{"conversation_id": "c", "messages": [USER, AGENT]}])

    (query,) = MtragReader(path).read().queries

    assert query.labels == {"conversation": "c", "turn": 1, "gold_passages": 0}


@pytest.mark.parametrize("conversation", ["a::b", "a<::>b", "a::1<::>2"])
def test_separators_within_ids_do_not_confuse(tmp_path: Path, conversation: str) -> None:
    """The last one counts."""
    row = {"conversation_id": conversation, "messages": [USER, AGENT]}
    (query,) = MtragReader(write(tmp_path, [row])).read().queries
    task = {"task_id": query.query_id, "conversation_id": conversation, "input": [USER]}

    (again,) = MtragReader(write(tmp_path, [task], "t.jsonl")).read().queries

    assert query.query_id == f"{conversation}<::>1"
    assert again.labels["conversation"] == conversation


def test_questions_of_several_lines_stay_whole(tmp_path: Path) -> None:
    """In the text, in the history, and through the query files."""
    lines = {"speaker": "user", "text": "One?\nTwo?\n|odd|: three"}
    path = write(tmp_path, [{"conversation_id": "c", "messages": [lines, AGENT, USER]}])

    first, second = MtragReader(path).read().queries

    assert first.text == second.history[0].text == lines["text"]


@pytest.mark.parametrize(
    ("task", "told"),
    [
        ({"task_id": "c<::>x", "input": [USER]}, "contains no turn"),
        ({"task_id": "c<::>2", "turn": 3, "input": [USER]}, "the field 'turn' is 3"),
        ({"task_id": "c<::>1", "input": []}, "must end with a message of the user"),
        ({"task_id": "c<::>1", "input": [USER, AGENT]}, "must end with a message of the user"),
        ({"input": [USER]}, "the field 'task_id' is missing"),
    ],
)
def test_a_task_that_contradicts_itself_is_refused(
    tmp_path: Path, task: dict[str, Any], told: str
) -> None:
    """With the line."""
    with pytest.raises(DatasetError, match="line 1") as caught:
        MtragReader(write(tmp_path, [task])).read()

    assert told in str(caught.value)


def test_passages_that_are_not_in_the_corpus_are_an_error_or_left_out(tmp_path: Path) -> None:
    """With the task named."""
    (tmp_path / "tasks").mkdir()
    (tmp_path / "corpus").mkdir()
    task = {"task_id": "c<::>1", "input": [USER], "qrels": ["p1", "p2"]}
    write(tmp_path / "tasks", [task])
    write(tmp_path / "corpus", [{"_id": "p1", "text": "One."}])

    with pytest.raises(DatasetError, match=r"'p2' \(task 'c<::>1'\)"):
        MtragReader(tmp_path).read()
    found = MtragReader(tmp_path, dangling_qrels="drop").read()

    assert found.qrels == {"c<::>1": {"p1": 1}}


def test_one_task_twice_is_refused(tmp_path: Path) -> None:
    """A second row would count twice in every mean."""
    task = {"task_id": "c<::>1", "input": [USER]}

    with pytest.raises(DatasetError, match=r"occurs in t\.jsonl, line 1 already"):
        MtragReader(write(tmp_path, [task, task], "t.jsonl")).read()


def test_a_very_long_history_is_read(tmp_path: Path) -> None:
    """2,000 turns: each knows all before it."""
    messages = [USER, AGENT] * 2000
    found = MtragReader(write(tmp_path, [{"conversation_id": "c", "messages": messages}])).read()

    assert len(found.queries) == 2000
    assert len(found.queries[-1].history) == 3998
