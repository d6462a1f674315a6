"""Files of labels: one label per item or several, of one taxonomy or several.

A row has the item's id and a field per taxonomy. For a single taxonomy, `ragstone data label`
writes the field `label`, and the taxonomy's name in `taxonomy`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ragstone.core.schemas import queries_to_table
from ragstone.data.readers.rows import Row, json_rows, read_bytes
from ragstone.errors import DatasetError

if TYPE_CHECKING:
    from ragstone.components.judges.verdict import Verdict
    from ragstone.data.dataset import Dataset

SEPARATOR: Final = ";"
"""Separates the labels of a query in one text."""
LabelSets: TypeAlias = dict[str, tuple[str, ...]]
"""Query id -> its labels."""
_IDS: Final = ("query_id", "item_id", "_id", "id")
_NO_LABELS: Final = frozenset({*_IDS, "status", "reason", "reasons", "taxonomy"})


def read_label_sets(path: Path, key: str = "label") -> LabelSets:
    """Return item id -> labels of a file: JSON lines, or CSV or TSV with a header line.

    The id is in the field `query_id`, `item_id`, `_id` or `id`; the labels are a list, or a text
    with `;` between them. Rows without a label are left out.

    Raises:
        DatasetError: a row has no id, an id has two rows with other labels, or there is no label.
    """
    found: LabelSets = {}
    for number, row in _label_rows(path):
        item_id, labels = _item_id(path, number, row), _labels(row.get(key))
        if not labels:
            continue
        if found.setdefault(item_id, labels) != labels:
            raise DatasetError(
                f"{path}, line {number}: {item_id!r} is labelled {SEPARATOR.join(labels)!r}, and "
                f"before {SEPARATOR.join(found[item_id])!r}; an annotator labels an item once"
            )
    if not found:
        raise DatasetError(f"{path} has no row with the field {key!r}")
    return found


def label_sets(source: str, label: str) -> LabelSets:
    """Return query id -> labels of a file of labels, or of a data set's own label.

    Args:
        source: a file for `read_label_sets`, or a data set.
        label: the field of a file, its taxonomy's name, or the label of a data set.

    Raises:
        DatasetError: there is no such label.
    """
    from ragstone.data.load import load_dataset

    path = Path(source)
    if path.is_file() and path.name.endswith((".jsonl", ".csv", ".tsv")):
        fields = label_fields(path)
        named = next((f for f, called in fields.items() if label in (f, called)), "label")
        return read_label_sets(path, named)
    found = dataset_labels(load_dataset(source), label)
    if not found:
        raise DatasetError(
            f"{source}: no query has the label {label!r}; name another one, or let a model give "
            f"it: ragstone data label {source} -o labels.jsonl"
        )
    return found


def label_fields(path: Path) -> dict[str, str]:
    """Return field -> name of the label for every field of a file with labels.

    The label in the field `label` has the name in the field `taxonomy`, or else "taxonomy".
    """
    found: dict[str, str] = {}
    for _, row in _label_rows(path):
        for name in row.keys() - _NO_LABELS:
            if _labels(row[name]):
                called = str(row.get("taxonomy") or "taxonomy") if name == "label" else name
                found.setdefault(name, called)
    return dict(sorted(found.items()))


def labelled(dataset: Dataset, files: Sequence[Path]) -> Dataset:
    """Return a data set whose queries have the labels of files besides their own.

    Raises:
        DatasetError: a file has a query that is not in the data set, or no labels.
    """
    added: dict[str, dict[str, Any]] = {query.query_id: {} for query in dataset.queries}
    for path in files:
        fields = label_fields(path)
        if not fields:
            raise DatasetError(f"{path} has no labels")
        for name, called in fields.items():
            for item_id, labels in read_label_sets(path, name).items():
                if item_id not in added:
                    raise DatasetError(f"{path}: {dataset.name} has no query {item_id!r}")
                added[item_id][called] = labels if len(labels) > 1 else labels[0]
    queries = [replace(q, labels={**q.labels, **added[q.query_id]}) for q in dataset.queries]
    return replace(dataset, query_table=queries_to_table(queries))


def _labels(value: Any) -> tuple[str, ...]:
    parts = value if isinstance(value, list) else str("" if value is None else value).split(";")
    return tuple(dict.fromkeys(text for part in parts if (text := str(part).strip())))


def _item_id(path: Path, number: int, row: Mapping[str, Any]) -> str:
    names = [name for name in _IDS if row.get(name)]
    if not names:
        raise DatasetError(f"{path}, line {number}: no id; looked for {', '.join(_IDS)}")
    return Row({"_id": str(row[names[0]])}).take_id()


def _label_rows(path: Path) -> Iterable[tuple[int, Mapping[str, Any]]]:
    return _tabled(path) if path.name.endswith((".csv", ".tsv")) else json_rows(path)


def _tabled(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    text = read_bytes(path).decode("utf-8", "replace")
    rows = csv.DictReader(text.splitlines(), delimiter="\t" if path.suffix == ".tsv" else ",")
    try:
        yield from enumerate(rows, start=2)
    except csv.Error as error:
        raise DatasetError(
            f"{path}, line {rows.line_num + 1}: {error}; shorten the field, or write JSON lines"
        ) from error


def written(found: Mapping[str, Sequence[Verdict]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file: one per item, with its label or list of labels per taxonomy.

    Args:
        found: taxonomy -> its verdicts, all on the same items.
    """
    for verdicts in zip(*found.values(), strict=True):
        row: dict[str, Any] = {"query_id": verdicts[0].item_id}
        if len(found) == 1:
            (verdict,) = verdicts
            row |= {"taxonomy": next(iter(found)), "label": _shown(verdict)}
            yield row | {"status": verdict.status, "reason": verdict.reason}
            continue
        named = dict(zip(found, verdicts, strict=True))
        reasons = {name: verdict.reason for name, verdict in named.items() if verdict.reason}
        yield row | {name: _shown(v) for name, v in named.items()} | {"reasons": reasons}


def _shown(verdict: Verdict) -> str | list[str]:
    labels = verdict.label.split(SEPARATOR)
    return labels if len(labels) > 1 else verdict.label


def dataset_labels(dataset: Dataset, label: str) -> LabelSets:
    """Return query id -> its values of one label; queries without it are left out."""
    values = ((query.query_id, query.labels.get(label)) for query in dataset.queries)
    return {
        i: tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)
        for i, value in values
        if value is not None
    }
