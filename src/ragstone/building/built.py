"""A built benchmark as files: a data set, the rejected items, and how it was made.

`build.json` has the steps with their counts, the recipe and its parameters, models, calls and
cost. `rejected.parquet` has one row per rejected item.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from ragstone.building.funnel import Funnel
from ragstone.building.qrels import mark_of
from ragstone.components.judges.llm_base import ModelJudge
from ragstone.core.atomic_files import atomic_files
from ragstone.core.fingerprint import digest_file
from ragstone.core.parquet_blocks import write_table
from ragstone.core.schemas import REJECTIONS, to_table
from ragstone.data.dataset import Dataset
from ragstone.data.machine_qrels import mark_path
from ragstone.data.writers.folder import write_dataset
from ragstone.errors import DatasetError

BUILD: Final = "build.json"
REJECTED: Final = "rejected.parquet"
CALLS: Final = "calls.sqlite"
_QRELS: Final = "qrels.tsv"
_DATA: Final = frozenset({"queries.jsonl", "corpus.jsonl", _QRELS, mark_path(Path(_QRELS)).name})
"""Files of a data set, which an earlier build may have left and an empty one does not replace."""


@dataclass(frozen=True)
class Built:
    """A benchmark and how it was made."""

    dataset: Dataset
    funnel: Funnel
    recipe: Mapping[str, Any]
    """The command, its parameters, the models and the sources: enough to repeat the build."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Statistics of the result: composition, positives per query, balance, warnings."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Further files by name, such as a sample for people."""
    judge: ModelJudge | None = None
    """The judge whose labels alone are the judgements, which are then marked as machine-made."""

    def document(self, folder: Path) -> dict[str, Any]:
        """Return the plain data of `build.json` and of `--json`."""
        return {
            "stages": self.funnel.stages_document(),
            "dataset": str(folder),
            "queries": self.dataset.query_table.num_rows,
            "passages": len(self.dataset.corpus),
            "partial": self.funnel.partial,
            "recipe": dict(self.recipe),
            **self.about,
        }


def check_target(folder: Path, own: str = BUILD, what: str = "built benchmark") -> None:
    """Raise `DatasetError` if a folder has files, but neither its `own` file nor kept replies."""
    foreign = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    # A build that is killed in its first moment has a file beside the call log alone.
    log = f"{Path(CALLS).stem}."
    if foreign and not any(name == own or name.startswith(log) for name in foreign):
        raise DatasetError(
            f"{folder} has {foreign[0]} and is not a {what}; choose an empty folder",
            path=folder,
        )


def write_built(built: Built, folder: Path) -> list[Path]:
    """Write a benchmark into a folder, in place of an earlier one, and return its files."""
    check_target(folder)
    try:
        with atomic_files(folder) as temporary:
            if built.dataset.query_table.num_rows:
                write_dataset(built.dataset, temporary)
                _mark(built, temporary)
            rejections = built.funnel.rejections
            columns = {
                name: [getattr(one, name) for one in rejections] for name in REJECTIONS.names
            }
            write_table(to_table(REJECTIONS, columns), temporary / REJECTED)
            document = orjson.dumps(built.document(folder), option=orjson.OPT_INDENT_2)
            (temporary / BUILD).write_bytes(document)
            for name, content in built.files.items():
                (temporary / name).write_bytes(content)
            names = sorted(path.name for path in temporary.iterdir())
        for name in _DATA.difference(names):
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise DatasetError(f"cannot write the benchmark into {folder}: {error}") from error
    return [folder / name for name in names]


def _mark(built: Built, folder: Path) -> None:
    """Write the mark of machine-made judgements beside them, if a judge made them."""
    path, pairs = folder / _QRELS, built.dataset.qrel_table.num_rows
    if built.judge is not None and path.is_file():
        mark = mark_of(built.judge, pairs, built.about.get("without_verdict", 0), digest_file(path))
        mark_path(path).write_bytes(orjson.dumps(mark.document()))
