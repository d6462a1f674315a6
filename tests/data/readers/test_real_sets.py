"""Real sets, counted, with their first, tenth and last rows pinned.

What is expected stands in the READMEs of the shared data, or was read off the files by eye.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.errors import DatasetError

SharedData = Callable[[str], Path]


def counts(dataset: Dataset) -> tuple[int, int, int]:
    """Return the numbers of passages, queries and judgements."""
    return len(dataset.corpus), dataset.query_table.num_rows, dataset.qrel_table.num_rows


def test_nq_singlehop(shared_data: SharedData) -> None:
    """13,752 passages, 1,955 queries of which 300 unanswerable, 1,676 judgements."""
    dataset = load_dataset(shared_data("nq_singlehop"))
    assert counts(dataset) == (13_752, 1_955, 1_676)
    first, tenth, last = (dataset.queries[place] for place in (0, 9, -1))
    assert first.query_id == "qed_-3290814144789249484"
    assert first.text == "who got the first nobel prize in physics"
    assert first.gold_answers[0] == "Wilhelm Conrad Röntgen , of Germany"
    assert first.labels == {"kind": "short", "answerable": True, "source": "qed-dev"}
    assert tenth.text == "where is gall bladder situated in human body"
    assert dataset.qrels[tenth.query_id] == {"qed_2673329117028914160": 1}
    assert last.query_id == "clapnq_818002923934435137"
    assert last.query_id not in dataset.qrels
    assert sum(query.labels["answerable"] is False for query in dataset.queries) == 300
    ids = dataset.corpus.passage_ids
    assert ids[0] == "502521937_10538-10692-0-150"
    assert (ids[9], ids[-1]) == ("502521937_296-544-0-248", "qed_97369777493072047")
    sources = Counter(passage.labels["source"] for passage in dataset.corpus)
    assert sources["mtrag-clapnq"] == 11_909


def test_mirage(shared_data: SharedData) -> None:
    """7,560 queries of five sources; the pool is not part of the copy."""
    dataset = load_dataset(shared_data("mirage"))
    assert counts(dataset) == (0, 7_560, 0)
    assert Counter(query.labels["source"] for query in dataset.queries) == {
        "naturalqa": 3_578,
        "popqa": 3_075,
        "triviaqa": 584,
        "ifqa": 248,
        "drop": 75,
    }
    first, tenth, last = (dataset.queries[place] for place in (0, 9, -1))
    assert first.text == "What is John Mayne's occupation?"
    assert first.gold_answers == ("journalist", "journo", "journalists")
    assert tenth.text == "What is Akari Hayami's occupation?"
    assert last.text == "what is the processor for google nexus 5"


@pytest.mark.parametrize("language", ["ar", "de", "el", "en", "es", "ro", "ru", "tr", "vi", "zh"])
def test_xquad(language: str, shared_data: SharedData) -> None:
    """Ten languages of 1,190 questions on 240 paragraphs, with the same ids in each of them."""
    dataset = load_dataset(shared_data("xquad") / f"xquad.{language}.json.gz")
    assert counts(dataset) == (240, 1_190, 1_190)
    assert dataset.name == f"xquad.{language}"
    assert dataset.qrels["56beb4343aeaaa14008c925b"] == {"1-1": 1}
    assert dataset.qrels["5737a25ac3c5551400e51f54"] == {"48-5": 1}
    assert all(query.gold_answers for query in dataset.queries)


def test_squad_it(shared_data: SharedData) -> None:
    """7,609 questions on 2,010 paragraphs, of which three repeat an earlier one to the letter."""
    dataset = load_dataset(shared_data("squad_it"))
    assert counts(dataset) == (2_010 - 3, 7_609, 7_609)
    first, tenth, last = (dataset.queries[place] for place in (0, 9, -1))
    assert first.gold_answers == ("ottobre 1973", "ottobre", "1973")
    assert tenth.gold_answers == ("Nel settembre 1971", "settembre 1971")
    assert last.text == "Qual era il nome cinese della Segreteria Centrale?"
    assert dataset.qrels[last.query_id] == {"48-46": 1}


def test_jsquad(shared_data: SharedData) -> None:
    """4,442 questions on 1,145 paragraphs, none of them impossible."""
    dataset = load_dataset(shared_data("jsquad"))
    assert counts(dataset) == (1_145, 4_442, 4_442)
    assert {query.labels["answerability"] for query in dataset.queries} == {"answerable"}
    first, tenth, last = (dataset.queries[place] for place in (0, 9, -1))
    assert first.gold_answers == ("小笠原諸島", "小笠原諸島を除く日本")
    assert (tenth.query_id, tenth.gold_answers) == ("a10336p10q3", ("シベリア気団",))
    assert (last.query_id, last.gold_answers) == ("a95156p6q3", ("日本",))


def test_a_real_beir_folder(shared_data: SharedData, tmp_path: Path) -> None:
    """A domain of mtRAG, laid out as BEIR does: every judged passage is in the corpus."""
    mtrag = shared_data("mtrag")
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl.gz").symlink_to(mtrag / "corpus" / "fiqa.jsonl.gz")
    (tmp_path / "queries.jsonl").symlink_to(mtrag / "queries" / "fiqa_lastturn.jsonl")
    (tmp_path / "qrels" / "test.tsv").symlink_to(mtrag / "qrels" / "human_fiqa.tsv")
    dataset = load_dataset(tmp_path)
    assert len(dataset.corpus) == 15_282
    assert len({passage for grades in dataset.qrels.values() for passage in grades}) == 479
    assert dataset.qrels["e9dd465e8dd63a80dda8f3ce9cba6848<::>1"]["471123-0-798"] == 1


def test_real_trec_qrels(shared_data: SharedData, tmp_path: Path) -> None:
    """CACM's qrels have TREC's four columns, and 55 ids without the corpus's leading zeros.

    A set as old as this one shows why such judgements are an error until they are dropped.
    """
    cacm = shared_data("cacm")
    (tmp_path / "corpus.jsonl.gz").symlink_to(cacm / "docs.jsonl.gz")
    (tmp_path / "queries.jsonl").symlink_to(cacm / "queries.jsonl")
    (tmp_path / "qrels.tsv").symlink_to(cacm / "qrels.txt")
    expected = r"of 796 judgements 55 name passages that do not exist: 'CACM-756' \(line 27\)"
    with pytest.raises(DatasetError, match=expected):
        load_dataset(tmp_path)
    kept = load_dataset({"path": str(tmp_path), "dangling_qrels": "drop"})
    assert counts(kept) == (3_204, 64, 796 - 55)
