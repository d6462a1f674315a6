"""Parts of the data for training: nothing in common, shares met, declared overlaps refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import SharedData

from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.training_marks import FILE, document_of, overlap, read_marks
from ragstone.data_quality.duplicates import near_query_pairs
from ragstone.errors import ConfigError
from ragstone.text.words import words
from ragstone.training.splits import PARTS, Splits, split

TOPICS = ("river", "bridge", "castle", "harbour", "mayor", "tunnel", "museum", "station", "market")


def dataset(documents: Sequence[int], texts: Sequence[str] = (), name: str = "records") -> Dataset:
    """Return a data set whose query n has a gold passage of document `documents[n]`."""
    return Dataset.from_records(
        queries=[
            {"query_id": f"q{n}", "text": texts[n] if texts else question(n)}
            for n in range(len(documents))
        ],
        passages=[
            {"passage_id": f"{name}-p{n}", "text": f"{name} text {n}", "document_id": f"d{one}"}
            for n, one in enumerate(documents)
        ],
        qrels=[(f"q{n}", f"{name}-p{n}", 1) for n in range(len(documents))],
        name=name,
    )


def question(number: int) -> str:
    """Return a question that is not nearly equal to that of another number."""
    digits = [int(digit) for digit in str(number)]
    return " ".join(f"{TOPICS[digit % 9]}{digit} {TOPICS[-digit]}" for digit in digits)


def parts(found: Splits) -> Mapping[str, tuple[str, ...]]:
    """Return part -> query ids."""
    return {part: getattr(found, part) for part in PARTS}


def documents(data: Dataset, query_ids: Sequence[str]) -> set[str]:
    """Return the documents of the gold passages of some queries."""
    return {document_of(data, passage) for q in query_ids for passage in data.qrels.get(q, {})}


@given(st.lists(st.integers(0, 12), min_size=8, max_size=60), st.integers(0, 5))
def test_the_parts_have_no_document_in_common(of: list[int], seed: int) -> None:
    """Each query is in one part, and each document, too."""
    data = dataset(of)
    try:
        found = split(data, 0.2, 0.2, seed)
    except ConfigError:
        assert max(map(of.count, of)) > len(of) / 4
        return

    assert sorted(i for ids in parts(found).values() for i in ids) == sorted(data.qrels)
    held = [documents(data, ids) for ids in parts(found).values()]
    assert sum(map(len, held)) == len(set(of))


@given(st.lists(st.text("ab c?", min_size=1).filter(str.strip), min_size=4, max_size=30))
def test_the_parts_have_no_question_in_common(texts: list[str]) -> None:
    """Nearly equal questions are in one part."""
    data = dataset(range(len(texts)), texts)
    try:
        found = split(data, 0.25, 0.25, 0)
    except ConfigError:
        return
    part_of = {i: part for part, ids in parts(found).items() for i in ids}

    ids = [query.query_id for query in data.queries]
    near = near_query_pairs(data.queries)
    assert all(part_of[ids[pair.first]] == part_of[ids[pair.second]] for pair in near)
    asked = [" ".join(words(text)) or text.strip() for text in texts]
    assert len({*zip(asked, map(part_of.get, ids), strict=True)}) == len(set(asked))


def test_the_shares_are_met_and_the_seed_decides() -> None:
    """Groups of one query give exact shares; another seed gives other parts."""
    data = dataset(range(200))

    found = split(data, 0.1, 0.2, 3)

    assert found.facts() == {
        "train": 140,
        "validation": 20,
        "test": 40,
        "documents": 200,
        "groups": 200,
        "seed": 3,
    }
    assert found == split(data, 0.1, 0.2, 3)
    assert found.test != split(data, 0.1, 0.2, 4).test


def test_the_order_of_the_file_has_no_influence() -> None:
    """The same queries in another order are in the same parts."""
    data = dataset([n // 2 for n in range(60)])

    found, other = split(data, 0.1, 0.2, 0), split(data.select(range(59, -1, -1)), 0.1, 0.2, 0)

    assert {p: set(ids) for p, ids in parts(found).items()} == {
        p: set(ids) for p, ids in parts(other).items()
    }


def test_turns_of_a_conversation_are_together() -> None:
    """A later turn repeats the earlier ones in its history."""
    turns = [{"user": "Who built it?", "agent": "Ann."}, {"user": "When?", "agent": "1912."}]
    data = Dataset.from_records(
        conversations=[
            {
                "conversation_id": f"c{n}",
                "turns": [{**t, "user": f"{question(n)} {t['user']}"} for t in turns],
            }
            for n in range(20)
        ]
    )

    found = split(data, 0.1, 0.3, 0)

    conversations = {q.query_id: q.labels["conversation"] for q in data.queries}
    held = [{conversations[i] for i in ids} for ids in parts(found).values()]
    assert sum(map(len, held)) == 20


def test_a_large_group_does_not_starve_the_test() -> None:
    """A document with half of the queries is learned; a part that stays empty is an error."""
    assert len(split(dataset([0] * 10 + list(range(1, 11))), 0, 0.3, 0).test) == 6
    with pytest.raises(ConfigError, match="no query is left for test: 10 of 10 queries are one"):
        split(dataset([0] * 10), 0, 0.3, 0)


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.9, 0.2)])
def test_shares_that_leave_nothing_are_refused(shares: tuple[float, float]) -> None:
    """Validation and test together are less than everything."""
    with pytest.raises(ConfigError, match="nothing is left to train on"):
        split(dataset(range(9)), *shares, 0)


def test_a_declared_test_leaves_all_of_the_data_to_learn() -> None:
    """A share is taken from the first data set, a declared set is a part as it is."""
    test = dataset(range(5), [f"which {topic} is old" for topic in TOPICS[:5]], name="other")

    found = split(dataset(range(50)), 0.2, test, 0)

    assert (len(found.train), len(found.validation), len(found.test)) == (40, 10, 5)
    assert found.data["test"] is test


def test_an_overlap_of_declared_sets_is_listed() -> None:
    """Query, document and both sets are named, and the number."""
    data = dataset(range(30))
    same_question = dataset(
        range(100, 102), ["  " + question(3).upper() + "?", "nothing alike here"], "other"
    )

    with pytest.raises(ConfigError) as error:
        split(data, 0.1, same_question, 0)
    assert "(train: records, test: other): 2 queries share" in str(error.value)
    assert "train 'q3' and test 'q0' (nearly equal texts" in str(error.value)
    with pytest.raises(ConfigError, match=r"60 queries.*document 'd0'.*'d3'.*and 26 more"):
        split(dataset(range(30)), 0.1, dataset(range(30), [f"{n}" * 9 for n in range(30)]), 0)
    with pytest.raises(ConfigError, match=r"validation: records, test: records\)"):
        split(
            dataset(range(30), name="own"),
            dataset([7], ["aaaa bbbb"]),
            dataset([7], ["cccc dddd"]),
            0,
        )


def test_the_test_queries_are_not_touched_by_the_marks(tmp_path: Path) -> None:
    """The marks of a training meet all of its queries, and none of its test."""
    data = dataset([n // 2 for n in range(60)])
    found = split(data, 0.1, 0.2, 0)
    files = found.files()
    (tmp_path / FILE).write_text(files[FILE], encoding="utf-8")

    touched = overlap(read_marks(tmp_path / FILE), data)

    assert set(touched) == {*found.train, *found.validation}
    assert files["splits/test.txt"].split("\n") == [*found.test, ""]


def test_an_empty_data_set_has_empty_parts() -> None:
    """Nothing is split, and nothing fails."""
    assert parts(split(Dataset.from_records(), 0.1, 0.2, 0)) == dict.fromkeys(PARTS, ())


def test_real_questions_are_split_by_article(shared_data: SharedData) -> None:
    """1,955 real questions: shares to the query, no article in two parts."""
    data = load_dataset(shared_data("nq_singlehop"))

    found = split(data, 0.1, 0.2, 0)

    sizes = {part: len(ids) for part, ids in parts(found).items()}
    assert sizes == {"train": 1369, "validation": 195, "test": 391}
    held = [documents(data, ids) for ids in parts(found).values()]
    assert sum(map(len, held)) == len(set().union(*held)) > 1000
