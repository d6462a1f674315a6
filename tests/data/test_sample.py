"""Checks that the bundled sample data set is complete, consistent and well formed."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

SAMPLE = Path(__file__).parents[2] / "src" / "ragstone" / "data" / "sample"

DOMAINS = {"places", "products", "rules", "people"}
QUESTION_TYPES = {
    "factoid",
    "keyword",
    "how-to",
    "explanation",
    "comparative",
    "summarization",
    "troubleshooting",
    "composite",
    "opinion",
}
TAXONOMY = {"fact_single", "summary", "reasoning", "unanswerable"}
QUERY_ANSWERABILITY = {"answerable", "partial", "unanswerable"}
TURN_ANSWERABILITY = QUERY_ANSWERABILITY | {"conversational"}

Record = dict[str, Any]
Qrels = dict[str, dict[str, int]]


def read_jsonl(name: str) -> list[Record]:
    """Read every line of a JSON Lines file of the sample set."""
    lines = (SAMPLE / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def read_qrels_rows() -> list[Record]:
    """Read the rows of the relevance file as dictionaries keyed by its header."""
    with (SAMPLE / "qrels.tsv").open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


def contains(text: str, answer: str) -> bool:
    """Return whether the answer occurs in the text as whole words, ignoring case."""
    return re.search(rf"(?<!\w){re.escape(answer.lower())}(?!\w)", text.lower()) is not None


@pytest.fixture(scope="module")
def corpus() -> dict[str, Record]:
    """Give the passages by id."""
    return {passage["_id"]: passage for passage in read_jsonl("corpus.jsonl")}


@pytest.fixture(scope="module")
def queries() -> dict[str, Record]:
    """Give the queries by id."""
    return {query["_id"]: query for query in read_jsonl("queries.jsonl")}


@pytest.fixture(scope="module")
def conversations() -> list[Record]:
    """Give the conversations in file order."""
    return read_jsonl("conversations.jsonl")


@pytest.fixture(scope="module")
def turns(conversations: list[Record]) -> dict[str, Record]:
    """Give the conversation turns by their id in the relevance file."""
    return {
        f"{conversation['_id']}::{number}": turn
        for conversation in conversations
        for number, turn in enumerate(conversation["turns"], start=1)
    }


@pytest.fixture(scope="module")
def qrels() -> Qrels:
    """Give the relevance scores by query or turn id, then by passage id."""
    scores: Qrels = defaultdict(dict)
    for row in read_qrels_rows():
        scores[row["query-id"]][row["corpus-id"]] = int(row["score"])
    return dict(scores)


def test_counts_reach_the_minimums(
    corpus: dict[str, Record],
    queries: dict[str, Record],
    conversations: list[Record],
    qrels: Qrels,
) -> None:
    """The set is as large and as varied as it promises to be."""
    answerability = Counter(query["answerability"] for query in queries.values())
    assert len(corpus) >= 165
    assert min(Counter(passage["domain"] for passage in corpus.values()).values()) >= 40
    assert sum("near_miss_of" in passage for passage in corpus.values()) >= 35
    assert len(queries) >= 96
    assert answerability["unanswerable"] >= 14
    assert answerability["partial"] >= 5
    assert sum(len(qrels.get(query_id, {})) >= 2 for query_id in queries) >= 12
    assert sum(query.get("famous", False) for query in queries.values()) >= 12
    assert len({query["question_type"] for query in queries.values()}) >= 6
    assert len(conversations) >= 10


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "conversations.jsonl"])
def test_ids_are_unique(name: str) -> None:
    """No id occurs twice in a file."""
    ids = [record["_id"] for record in read_jsonl(name)]
    assert len(ids) == len(set(ids))


def test_passages_are_unique_and_of_moderate_length(corpus: dict[str, Record]) -> None:
    """Every passage has its own title and text, of 40 to 95 words."""
    assert len({passage["title"] for passage in corpus.values()}) == len(corpus)
    assert len({passage["text"] for passage in corpus.values()}) == len(corpus)
    for passage in corpus.values():
        assert 40 <= len(passage["text"].split()) <= 95, passage["_id"]


def test_documents_are_cut_into_several_passages(corpus: dict[str, Record]) -> None:
    """A named document has at least two passages, all of one domain."""
    parts: dict[str, list[str]] = defaultdict(list)
    for passage in corpus.values():
        if "document" in passage:
            parts[passage["document"]].append(passage["domain"])
    assert parts
    for document, domains in parts.items():
        assert len(domains) >= 2, document
        assert len(set(domains)) == 1, document


def test_labels_come_from_the_allowed_sets(
    corpus: dict[str, Record],
    queries: dict[str, Record],
    conversations: list[Record],
    turns: dict[str, Record],
) -> None:
    """Domains, types, taxonomy and answerability use only the documented labels."""
    for record in [*corpus.values(), *queries.values(), *conversations]:
        assert record["domain"] in DOMAINS, record["_id"]
        assert record["domain"] in record["_id"].split("-"), record["_id"]
    for query_id, query in queries.items():
        assert query["question_type"] in QUESTION_TYPES, query_id
        assert query["taxonomy"] in TAXONOMY, query_id
        assert query["answerability"] in QUERY_ANSWERABILITY, query_id
        assert query.get("famous", True) is True, query_id
    for turn_id, turn in turns.items():
        assert turn["question_type"] in QUESTION_TYPES, turn_id
        assert turn["answerability"] in TURN_ANSWERABILITY, turn_id


def test_unanswerable_labels_agree(queries: dict[str, Record]) -> None:
    """Exactly the unanswerable queries have that taxonomy and no answers."""
    for query_id, query in queries.items():
        unanswerable = query["answerability"] == "unanswerable"
        assert (query["taxonomy"] == "unanswerable") is unanswerable, query_id
        assert (query["answers"] == []) is unanswerable, query_id


def test_qrels_are_well_formed(
    corpus: dict[str, Record],
    queries: dict[str, Record],
    turns: dict[str, Record],
) -> None:
    """Each judgement is made once, scores 1 or 2, and names a known query and passage."""
    rows = read_qrels_rows()
    assert list(rows[0]) == ["query-id", "corpus-id", "score"]
    pairs = [(row["query-id"], row["corpus-id"]) for row in rows]
    assert len(pairs) == len(set(pairs))
    for row in rows:
        assert row["query-id"] in queries or row["query-id"] in turns, row
        assert row["corpus-id"] in corpus, row
        assert row["score"] in {"1", "2"}, row


def test_judgements_exist_exactly_where_there_is_an_answer(
    queries: dict[str, Record],
    turns: dict[str, Record],
    qrels: Qrels,
) -> None:
    """Answerable and partial items have judgements; unanswerable and small talk have none."""
    for item_id, item in {**queries, **turns}.items():
        grounded = item["answerability"] in {"answerable", "partial"}
        assert (item_id in qrels) is grounded, item_id
        assert bool(item["answers"]) is grounded, item_id


def test_near_misses_are_not_relevant(
    corpus: dict[str, Record],
    queries: dict[str, Record],
    qrels: Qrels,
) -> None:
    """A near miss names a known query, is not relevant to it, and lacks its answer."""
    for passage_id, passage in corpus.items():
        if "near_miss_of" not in passage:
            continue
        query = queries[passage["near_miss_of"]]
        assert passage_id not in qrels.get(query["_id"], {}), passage_id
        for answer in query["answers"][:1]:
            assert not contains(passage["text"], answer), passage_id


def test_single_fact_answers_occur_in_a_relevant_passage(
    corpus: dict[str, Record],
    queries: dict[str, Record],
    qrels: Qrels,
) -> None:
    """The first answer of a single-fact query occurs verbatim in a relevant passage."""
    for query_id, query in queries.items():
        if query["taxonomy"] == "fact_single":
            texts = [corpus[passage_id]["text"] for passage_id in qrels[query_id]]
            assert any(contains(text, query["answers"][0]) for text in texts), query_id


def test_answers_are_not_given_away(
    queries: dict[str, Record],
    turns: dict[str, Record],
) -> None:
    """No answer occurs in its own question, and short answers are numbers."""
    for item_id, item in {**queries, **turns}.items():
        question = item.get("rewrite") or item["text"]
        for answer in item["answers"]:
            assert not contains(question, answer), (item_id, answer)
            assert len(answer) >= 3 or answer.isdigit(), (item_id, answer)


def test_reference_replies_give_the_answer(turns: dict[str, Record]) -> None:
    """The reference reply of a grounded turn contains its first short answer."""
    for turn_id, turn in turns.items():
        if turn["answers"]:
            assert contains(turn["agent"], turn["answers"][0]), turn_id


def test_conversations_have_the_promised_shape(conversations: list[Record]) -> None:
    """Conversations run to 5-8 turns, and only the first turn is not multi-turn."""
    for conversation in conversations:
        first, *later = [turn["multi_turn"] for turn in conversation["turns"]]
        assert 5 <= len(conversation["turns"]) <= 8, conversation["_id"]
        assert first == "n/a", conversation["_id"]
        assert set(later) <= {"follow-up", "clarification"}, conversation["_id"]


def test_conversations_cover_every_kind_of_turn(turns: dict[str, Record]) -> None:
    """Unanswerable, partial, conversational and clarifying turns all occur often enough."""
    answerability = Counter(turn["answerability"] for turn in turns.values())
    assert answerability["unanswerable"] >= 6
    assert answerability["partial"] >= 5
    assert answerability["conversational"] >= 6
    assert Counter(turn["multi_turn"] for turn in turns.values())["clarification"] >= 8


def test_conversations_move_on_to_other_passages(
    conversations: list[Record],
    qrels: Qrels,
) -> None:
    """The turns of a conversation rest on at least three different passages."""
    for conversation in conversations:
        used: set[str] = set()
        for number in range(1, len(conversation["turns"]) + 1):
            used.update(qrels.get(f"{conversation['_id']}::{number}", {}))
        assert len(used) >= 3, conversation["_id"]


def strings_in(value: object) -> list[str]:
    """Collect every string within nested lists and dictionaries."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in strings_in(item)]
    if isinstance(value, list):
        return [text for item in value for text in strings_in(item)]
    return []


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "conversations.jsonl"])
def test_texts_are_clean(name: str) -> None:
    """No text is empty, padded with white space, or broken over lines."""
    for record in read_jsonl(name):
        for text in strings_in(record):
            assert text, record["_id"]
            assert text == " ".join(text.split()), (record["_id"], text)


def test_readme_states_the_true_counts(
    corpus: dict[str, Record],
    queries: dict[str, Record],
    conversations: list[Record],
    turns: dict[str, Record],
    qrels: Qrels,
) -> None:
    """The table of counts in the README agrees with the files."""
    answerability = Counter(query["answerability"] for query in queries.values())
    expected = {
        "passages": len(corpus),
        "passages marked as near misses": sum("near_miss_of" in p for p in corpus.values()),
        "queries": len(queries),
        "unanswerable queries": answerability["unanswerable"],
        "partly answerable queries": answerability["partial"],
        "famous-fact queries": sum("famous" in query for query in queries.values()),
        "queries with two or more relevant passages": sum(
            len(qrels.get(query_id, {})) >= 2 for query_id in queries
        ),
        "conversations": len(conversations),
        "conversation turns": len(turns),
        "relevance judgements": len(read_qrels_rows()),
    }
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    stated = {
        label: int(count)
        for label, count in re.findall(r"^\| ([^|]+) \| (\d+) \|$", readme, re.MULTILINE)
    }
    assert stated == expected
