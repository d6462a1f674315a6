"""Queries of an experiment that trained parts of its systems and judges have seen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.core.component import Component
from ragstone.data.training_marks import FILE, overlap, read_marks
from ragstone.errors import ConfigError
from ragstone.experiment.independence import parts_of
from ragstone.results.trained_parts import TrainedPart

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.experiment.system import SharedInputs, System

_RECORD: Final = "training.json"
_RANKING: Final = frozenset({"query_former", "retriever", "reranker"})
_FACTS: Final = ("kind", "base", "base_digest", "method", "digest", "data")


def trained_parts(
    systems: Iterable[System], shared: SharedInputs, dataset: Dataset
) -> tuple[TrainedPart, ...]:
    """Return the parts that `ragstone train` made, with the queries that each has seen.

    A part that ranks is measured on the ranked queries, another one on the answered ones.

    Raises:
        ConfigError: the files of a training cannot be read.
    """
    places = list(_folders(systems, shared))
    tables = {True: shared.ranked, False: shared.answered} if places else {}
    asked = {
        ranks: frozenset(table.table.column("query_id").to_pylist())
        for ranks, table in tables.items()
    }
    seen: dict[Path, frozenset[str]] = {}
    found = []
    for name, step, folder in places:
        if folder not in seen:
            seen[folder] = frozenset(overlap(read_marks(folder / FILE), dataset))
        queries = asked[step in _RANKING]
        facts = _facts(folder)
        found.append(
            TrainedPart(name, step, **facts, seen=len(seen[folder] & queries), asked=len(queries))
        )
    return tuple(found)


def _folders(systems: Iterable[System], shared: SharedInputs) -> Iterator[tuple[str, str, Path]]:
    """Yield system and step, or judge and "judge", with the folder of each training."""
    places = [(s.name, step, part) for s in systems for step, part in s.components.items()]
    places += [(str(judge), "judge", judge) for judge in shared.judges]
    for name, step, component in places:
        held = (p.training_folder for p in parts_of(component) if isinstance(p, Component))
        for folder in dict.fromkeys(held):
            if folder is not None and (folder / FILE).is_file():
                yield name, step, folder


def _facts(folder: Path) -> Mapping[str, Any]:
    """Return the facts of a training that records and passports name."""
    path = folder / _RECORD
    try:
        record = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return {name: record[name] for name in _FACTS if name in record}
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"{path} is not a record of a training: {error}", path=path) from error
