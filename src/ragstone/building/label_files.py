"""Files of labels: one label per item or several, by one taxonomy or several.

A row has the item's id and a field per taxonomy. For a single taxonomy, `ragstone data label`
writes the field `label`, and the taxonomy's name in `taxonomy`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ragstone.core.schemas import queries_to_table
from ragstone.data.readers.ratings import read_ratings
from ragstone.data.readers.rows import Row, json_rows, read_bytes, reading
from ragstone.data.taxonomy import SEPARATOR
from ragstone.errors import DatasetError

if TYPE_CHECKING:
    from ragstone.components.judges.verdict import Verdict
    from ragstone.data.dataset import Dataset

LabelSets: TypeAlias = dict[str, tuple[str, ...]]
"""Query id -> its labels."""
_ANY: Final = "label"
"""The field of a file with one label per item; of ratings, their only property."""
_IDS: Final = ("item_id", "query_id", "_id", "id")
_NO_LABELS: Final = frozenset({*_IDS, "passage_id", "status", "reason", "reasons", "taxonomy"})


def read_label_sets(path: Path, key: str = "label") -> LabelSets:
    """Return item id -> labels of a file: JSON lines, or CSV or TSV with a header line.

    The id is in the field `item_id`, `query_id`, `_id` or `id`; the labels are a list, or a text
    with `;` between them. Rows without a label are left out.

    Raises:
        DatasetError: a row has no id, an id has two rows with different labels, or there are no
            labels.
    """
    found: LabelSets = {}
    for number, row in _file_rows(path):
        item_id, labels = _item_id(path, number, row), _labels(row.get(key))
        if labels and found.setdefault(item_id, labels) != labels:
            raise DatasetError(
                f"{path}, line {number}: {item_id!r} is labelled {SEPARATOR.join(labels)!r}, but "
                f"{SEPARATOR.join(found[item_id])!r} in an earlier line; keep one of the two"
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
        named = next((f for f, name in fields.items() if label in (f, name)), "label")
        return read_label_sets(path, named)
    values = ((query.query_id, query.labels.get(label)) for query in load_dataset(source).queries)
    found = {
        query_id: tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)
        for query_id, value in values
        if value is not None
    }
    if not found:
        raise DatasetError(
            f"{source}: no query has the label {label!r}; name another one, or let a model label "
            f"the queries: ragstone data label {source} -o labels.jsonl"
        )
    return found


def rater_label_sets(source: str, field: str) -> dict[str, LabelSets]:
    """Return rater -> labels of a file in the ratings form; {} for another source.

    Args:
        source: the file.
        field: the property; "label" for the only one of the file.

    Raises `DatasetError` if the file has no such property, or several and none is chosen.
    """
    path = Path(source)
    if not (path.is_file() and path.name.endswith((".jsonl", ".jsonl.gz"))):
        return {}
    first = next(iter(json_rows(path)), (0, Row()))[1]
    if not {"rater", "property"} <= first.keys():
        return {}
    ratings = read_ratings(path, "" if field == _ANY else field)
    properties = list(dict.fromkeys(one.property for one in ratings))
    if len(properties) > 1:
        named = ", ".join(map(repr, properties))
        raise DatasetError(f"{path} has the properties {named}; choose one with --field", path=path)
    found: dict[str, LabelSets] = {}
    for one in ratings:
        item_id = " ".join(filter(None, astuple(one.item)))
        found.setdefault(one.rater, {})[item_id] = _labels(_text(one.value))
    return found


def _text(value: float | str) -> str:
    """Return a value as text; a whole number has no point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def label_fields(path: Path) -> dict[str, str]:
    """Return field -> name of the label, for every field of a file with labels.

    The name of the field `label` is the value of the field `taxonomy`, or else "taxonomy".
    """
    found: dict[str, str] = {}
    for _, row in _file_rows(path):
        for name in row.keys() - _NO_LABELS:
            if _labels(row[name]):
                taxonomy = str(row.get("taxonomy") or "taxonomy")
                found.setdefault(name, taxonomy if name == "label" else name)
    return dict(sorted(found.items()))


def labelled(dataset: Dataset, files: Sequence[Path]) -> Dataset:
    """Return a data set whose queries have the labels of files in addition to their own.

    Raises:
        DatasetError: a file has a query that is not in the data set, or no labels.
    """
    added: dict[str, dict[str, Any]] = {query.query_id: {} for query in dataset.queries}
    for path in files:
        fields = label_fields(path)
        if not fields:
            raise DatasetError(f"{path} has no labels")
        for field, name in fields.items():
            for item_id, labels in read_label_sets(path, field).items():
                if item_id not in added:
                    raise DatasetError(f"{path}: {dataset.name} has no query {item_id!r}")
                added[item_id][name] = labels if len(labels) > 1 else labels[0]
    queries = [replace(q, labels={**q.labels, **added[q.query_id]}) for q in dataset.queries]
    return replace(dataset, query_table=queries_to_table(queries))


def _labels(value: Any) -> tuple[str, ...]:
    parts = value if isinstance(value, list) else str("" if value is None else value).split(";")
    return tuple(dict.fromkeys(text for part in parts if (text := str(part).strip())))


def _item_id(path: Path, number: int, row: Mapping[str, Any]) -> str:
    found = next((row[name] for name in _IDS if row.get(name)), None)
    if found is None:
        raise DatasetError(f"{path}, line {number}: no id; looked for {', '.join(_IDS)}")
    with reading(path, number):
        return Row({"_id": str(found)}).take_id()


def _file_rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if not path.name.endswith((".csv", ".tsv")):
        yield from json_rows(path)
        return
    text = read_bytes(path).decode("utf-8", "replace")
    rows = csv.DictReader(text.splitlines(), delimiter="\t" if path.suffix == ".tsv" else ",")
    try:
        yield from enumerate(rows, start=2)
    except csv.Error as error:
        raise DatasetError(
            f"{path}, line {rows.line_num + 1}: {error}; shorten the field, or write JSON lines"
        ) from error


def label_rows(found: Mapping[str, Sequence[Verdict]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file: one per item, with its label or list of labels per taxonomy."""
    for verdicts in zip(*found.values(), strict=True):
        first = verdicts[0]
        named = dict(zip(found, verdicts, strict=True))
        if len(named) == 1:
            row = {"taxonomy": next(iter(named)), "label": _shown(first), "status": first.status}
            row["reason"] = first.reason
        else:
            row = {name: _shown(verdict) for name, verdict in named.items()}
            row["reasons"] = {name: v.reason for name, v in named.items() if v.reason}
        yield {"query_id": first.item_id, **row}


def _shown(verdict: Verdict) -> str | list[str]:
    labels = verdict.label.split(SEPARATOR)
    return labels if len(labels) > 1 else verdict.label
