"""One block of a step after another: rows in order, and the facts of all blocks."""

from __future__ import annotations

from pathlib import Path

from ragstone.calls.identity import digest_folder
from ragstone.components.retrievers.bm25 import BM25
from ragstone.core.component_error import error_log
from ragstone.core.schemas import SEARCHES, to_table
from ragstone.data.corpus import Corpus
from ragstone.experiment.block_work import BlockWork, Tally
from ragstone.experiment.maker import use_folder
from ragstone.experiment.steps import Step
from ragstone.protocols import Services
from ragstone.types import Passage


def test_blocks_share_the_tables_and_add_their_facts() -> None:
    """The corpus without labels if the table of the key has none; reasons are counted."""
    corpus = Corpus.from_passages([Passage("a", "Lisbon"), Passage("b", "Rome")])
    work = BlockWork(
        Step("retrieve", BM25(top_k=1), {}),
        {"corpus": corpus.unlabelled.table},
        Services(corpus=corpus),
    )
    tally, found = Tally(), list[str]()
    for query_id, text in (("q1", "Rome"), ("q2", ""), ("q3", "Lisbon")):
        block = to_table(SEARCHES, {"query_id": [query_id], "text": [text]})
        found += work.result({"searches": block}, tally).column("passage_id").to_pylist()
    assert found == ["b", "a"]
    assert tally.to_dict() == {"reasons": {"the search text is empty": 1}, "failed": 0}


def test_a_process_keeps_its_files_in_the_store(tmp_path: Path) -> None:
    """Tracebacks of components, and the key of addresses."""
    before = error_log.get(), digest_folder.get()
    use_folder(tmp_path)
    try:
        assert error_log.get() == tmp_path / "errors.log"
        assert digest_folder.get() == tmp_path
    finally:
        error_log.set(before[0])
        digest_folder.set(before[1])
