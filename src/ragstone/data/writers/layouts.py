"""Layouts for writing a data set, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, get_args

from ragstone.data.dataset import Dataset
from ragstone.data.writers.folder import write_beir, write_dataset
from ragstone.data.writers.mirage import write_mirage
from ragstone.data.writers.mtrag import TaskForm, write_mtrag, write_tasks


def write_mtrageval(dataset: Dataset, folder: Path) -> list[Path]:
    """Write the inputs of MTRAGEval's tasks A, B and C and return the files."""
    return [write_tasks(dataset, folder / f"task_{f}.jsonl", f) for f in get_args(TaskForm)]


WRITERS: Final[Mapping[str, Callable[[Dataset, Path], list[Path]]]] = {
    "ragstone": write_dataset,
    "beir": write_beir,
    "mirage": write_mirage,
    "mtrag": write_mtrag,
    "mtrageval": write_mtrageval,
}
