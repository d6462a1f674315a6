"""Machine-made qrels: a judge grades pairs of a query and a passage."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.components.judges.llm_base import ModelJudge
from ragstone.components.judges.umbrela import HIGHEST, Umbrela
from ragstone.components.judges.verdict import Item
from ragstone.core.fingerprint import fingerprint
from ragstone.core.times import utc_text
from ragstone.data.machine_qrels import QrelsMark, mark_path
from ragstone.data.readers.rows import listed
from ragstone.data.writers.folder import json_line, judgement_lines, write_lines
from ragstone.errors import DatasetError
from ragstone.protocols import Services
from ragstone.types import Ranking

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset


@dataclass(frozen=True)
class MadeQrels:
    """The grades of some pairs."""

    grades: Mapping[tuple[str, str], int]
    """(query id, passage id) -> grade from 0 to 3."""
    failed: Mapping[str, int]
    """Reason -> pairs without a grade."""

    @property
    def counts(self) -> dict[str, int]:
        """Grade -> number of pairs, the lowest first."""
        return {str(g): n for g, n in sorted(Counter(self.grades.values()).items())}


def pairs_to_grade(
    dataset: Dataset, runs: Iterable[Mapping[str, Ranking]], depth: int
) -> list[tuple[str, str]]:
    """Return the pairs (query id, passage id) of the first ranks of runs, each once.

    Without a run, the pairs are those of the data set's qrels.

    Raises:
        DatasetError: there is no pair, or a run names a passage that is not in the corpus.
    """
    ids = [query.query_id for query in dataset.queries]
    pools = [
        {query_id: ranking.passage_ids[:depth] for query_id, ranking in run.items()} for run in runs
    ]
    pools = pools or [{query_id: list(grades) for query_id, grades in dataset.qrels.items()}]
    found = dict.fromkeys((i, p) for i in ids for pool in pools for p in pool.get(i, ()))
    absent = [f"{p!r} (query {i!r})" for i, p in found if p not in dataset.corpus]
    if absent:
        raise DatasetError(
            f"{len(absent):,} passages to grade are not in the corpus of {dataset.name!r}: "
            f"{listed(absent)}"
        )
    if not found:
        raise DatasetError(
            f"there is nothing to grade: no query of {dataset.name!r} has qrels, or a ranking in "
            "the runs; name a run of these queries with --run"
        )
    return list(found)


def grade_pairs(
    dataset: Dataset, pairs: Sequence[tuple[str, str]], judge: Umbrela, services: Services
) -> MadeQrels:
    """Return the grade of each pair; a mean of several replies is rounded, halves up."""
    queries = {query.query_id: query for query in dataset.queries}
    items = [Item(queries[i], "", (dataset.corpus[p].full_text,)) for i, p in pairs]
    grades, failed = {}, Counter[str]()
    for pair, verdict in zip(pairs, judge.verdicts(items, services), strict=True):
        if verdict.value is None:
            failed[verdict.reason] += 1
        else:
            grades[pair] = math.floor(verdict.value * HIGHEST + 0.5)
    return MadeQrels(grades, failed)


def write_machine_qrels(made: MadeQrels, judge: Umbrela, path: Path) -> list[Path]:
    """Write qrels in BEIR's three columns, and their mark; return both files.

    Raises:
        DatasetError: a file exists already, or no pair has a grade.
    """
    if not made.grades:
        (reason, *_) = made.failed
        raise DatasetError(f"no pair has a grade: {reason}")
    lines = list(judgement_lines((*pair, grade) for pair, grade in made.grades.items()))
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    mark = mark_of(judge, len(made.grades), sum(made.failed.values()), digest)
    # The mark comes first: qrels without it would pass for those of people.
    mark_file, *rest = write_lines({mark_path(path): [json_line(mark.document())], path: lines})
    return [*rest, mark_file]


def mark_of(judge: ModelJudge, pairs: int, failed: int, sha256: str) -> QrelsMark:
    """Return the mark of qrels that a judge made today.

    Args:
        judge: the judge.
        pairs: pairs of a query and a passage with a grade.
        failed: pairs without one.
        sha256: digest of the file of qrels.
    """
    return QrelsMark(
        judge=judge.name,
        models=judge.model_names,
        prompt=fingerprint(dict(judge.templates)),
        made=utc_text()[:10],
        pairs=pairs,
        failed=failed,
        sha256=sha256,
    )


def check_new_file(path: Path) -> None:
    """Raise `DatasetError` if qrels cannot be written to a path, before anything is spent."""
    if path.suffix not in (".tsv", ".txt"):
        raise DatasetError(f"{path.name}: end the name of the qrels with .tsv or .txt", path=path)
    found = [one for one in (path, mark_path(path)) if one.exists()]
    if found:
        raise DatasetError(f"{found[0]} already exists; name another file, or remove it", path=path)
