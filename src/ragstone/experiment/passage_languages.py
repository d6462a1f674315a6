"""The languages of gold and ranked passages, stored with the results."""

from __future__ import annotations

from collections.abc import Iterable

from ragstone.components.metrics.same_language import passage_languages
from ragstone.core.schemas import PASSAGE_LANGUAGES, to_table
from ragstone.core.stored_table import StoredTable
from ragstone.data.dataset import Dataset
from ragstone.data.readers.parallel import parallel_ids


def passage_languages_table(dataset: Dataset, runs: Iterable[StoredTable]) -> StoredTable | None:
    """Return language and label `parallel` of the passages that the qrels and runs name.

    None if no passage has the label `language`.
    """
    corpus = dataset.corpus
    if not corpus.language_counts:
        return None
    ids = {passage_id: None for grades in dataset.qrels.values() for passage_id in grades}
    for run in runs:
        for block in run.blocks():
            ids |= dict.fromkeys(block.column("passage_id").to_pylist())
    languages = passage_languages(corpus, ids)
    names = parallel_ids(corpus)
    shared = [names.get(corpus.position(passage_id), "") for passage_id in languages]
    columns = {"passage_id": [*languages], "language": [*languages.values()], "parallel": shared}
    return StoredTable.in_memory(to_table(PASSAGE_LANGUAGES, columns))
