"""A generated test set as files: a data set, every item with its calls, and the summary."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import orjson

from ragstone.building.built import check_target
from ragstone.building.generate import Generated
from ragstone.core.atomic_files import atomic_files
from ragstone.core.schemas import queries_to_table
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.table_builder import judgements
from ragstone.data.writers.folder import write_dataset
from ragstone.errors import DatasetError

ITEMS: Final = "items.jsonl"
SUMMARY: Final = "summary.json"


def generated_dataset(made: Generated, corpus: Corpus, name: str) -> Dataset:
    """Return the data set of the kept queries, with the corpus and the passages made for them."""
    judged = {(draft.item_id, p.passage_id): 1 for draft in made.kept for p in draft.relevant}
    extra = [passage for draft in made.kept for passage in draft.made_passages]
    whole = Corpus.from_passages([*corpus, *extra]) if extra else corpus
    queries = queries_to_table([draft.query() for draft in made.kept])
    return Dataset(name, queries, whole, judgements(judged))


def check_folder(folder: Path) -> None:
    """Raise `DatasetError` if a folder has files but is not a generated test set."""
    check_target(folder, ITEMS, "generated test set")


def write_generated(made: Generated, corpus: Corpus, folder: Path) -> list[Path]:
    """Write a test set into a folder, in place of an earlier one, and return the files.

    `queries.jsonl`, `corpus.jsonl` and `qrels.tsv` are a data set in Ragstone's own layout;
    `items.jsonl` has every item, kept or rejected; `summary.json` has the counts.
    """
    check_folder(folder)
    try:
        with atomic_files(folder) as temporary:
            if made.kept:
                write_dataset(generated_dataset(made, corpus, folder.name), temporary)
            rows = (orjson.dumps(draft.row(made.model)) for draft in made.drafts)
            (temporary / ITEMS).write_bytes(b"".join(row + b"\n" for row in rows))
            summary = orjson.dumps(made.summary(), option=orjson.OPT_INDENT_2)
            (temporary / SUMMARY).write_bytes(summary)
            names = sorted(path.name for path in temporary.iterdir())
    except OSError as error:
        raise DatasetError(f"cannot write the test set into {folder}: {error}") from error
    return [folder / name for name in names]
