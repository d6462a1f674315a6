"""The Arrow schemas of all tables, and conversions between tables and records.

Tables are stored as Parquet. Labels and histories differ between data sets, so they are columns of
JSON text, which gives every data set the same schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

import numpy as np
import orjson
from arro3.core import Array, ChunkedArray, DataType, Field, Schema, Table, list_array

from ragstone.core import limits
from ragstone.core.rankings import Rankings
from ragstone.errors import RagstoneError
from ragstone.types import (
    Context,
    ContextPassage,
    Hop,
    Label,
    Message,
    Passage,
    Prediction,
    Query,
    Ranking,
    Role,
    Score,
)

_STR, _F64, _I64 = DataType.string(), DataType.float64(), DataType.int64()
_STRS = DataType.list(Field("item", DataType.string(), nullable=True))
_KINDS = {"": _STR, "int": _I64, "float": _F64, "texts": _STRS}


def _schema(columns: str) -> Schema:
    """Return a schema of columns with their kinds; one without a kind is text."""
    named = (column.partition(":") for column in columns.split())
    return Schema([Field(name, _KINDS[kind], nullable=True) for name, _, kind in named])


QUERIES: Final = _schema("query_id text gold_answers:texts history rewrite labels")
CORPUS: Final = _schema("passage_id text title document_id labels")
QRELS: Final = _schema("query_id passage_id relevance:int")
CLUSTERS: Final = _schema("query_id cluster")
COLLECTIONS: Final = _schema("query_id collection")
LANGUAGES: Final = _schema("query_id language")
TRANSLATIONS: Final = _schema("passage_id counts_as")
"""Relevant passages with several translations in a datastore, which count as one."""
NOT_APPLICABLE: Final = _schema("query_id reason")
REPEAT: Final = _schema("repeat:int")
"""One row with the number of a repeat, from 0; the first one has no such table."""
REJECTIONS: Final = _schema("item_id text stage reason")
SEARCHES: Final = _schema("query_id text")
RUN: Final = _schema("query_id passage_id score:float rank:int")
TEXTS: Final = _schema("passage_id text")
PASSAGE_LANGUAGES: Final = _schema("passage_id language parallel")
"""The language of passages, and the id that translations share; "" without one."""
CONTEXTS: Final = _schema("query_id setting passage_ids:texts texts:texts origins:texts")
PREDICTIONS: Final = _schema(
    "query_id answer reason call_key tokens_in:int tokens_out:int seconds:float cost:float "
    "passage_ids:texts dropped status"
)
_REPORTED: Final = _schema("contexts confidence:float")
_STEPS: Final = _schema("steps")
_REASONING: Final = _schema("tokens_reasoning:int")
_SENTENCES: Final = _schema("sentences")
_QUEUED: Final = _schema("queued:float")
_REPORTS: Final = (_REPORTED, _STEPS, _REASONING, _SENTENCES, _QUEUED)
"""Columns of predictions of which at least one has such a value."""
HOPS: Final = _schema(
    "query_id hop:int query passage_ids:texts texts:texts tokens:int seconds:float"
)
"""The searches of a query that an own system reports, numbered from 1."""
SCORES: Final = _schema("query_id metric value:float status reason")
SYSTEM_SCORES: Final = _schema("system setting query_id metric value:float status reason")
SUMMARIES: Final = _schema(
    "mean:float low:float high:float n:int failed:int not_applicable:int missing:int "
    "unscored:int mean_of_answered:float policy"
)
BOARD_CELLS: Final = _schema(
    "metric setting mean:float low:float high:float n:int failed:int group:int best:int data"
)
"""The axes of the table are before these columns; `best` is 1 or 0."""
PAIRS: Final = _schema(
    "metric a b difference:float low:float high:float p:float adjusted_p:float n:int verdict"
)
"""The difference is that of b minus a."""
GAINS: Final = _schema(
    "model data setting metric before:float after:float gain:float low:float high:float n:int "
    "p:float adjusted_p:float outcome failed_before:int failed_after:int"
)
"""The gain is the mean after a training minus that before it."""


def to_table(schema: Schema, columns: Mapping[str, Sequence[Any]]) -> Table:
    """Return a table of `schema` from one sequence per column.

    The arrays are always new: equal values give equal bytes, and so an equal digest.
    """
    return Table.from_arrays(
        [_array(columns[name], schema.field(name).type) for name in schema.names], schema=schema
    )


def _records_to_table(schema: Schema, records: Sequence[Any], **others: Sequence[Any]) -> Table:
    """Return a table with one row per record; a column is in `others` or a field of the record."""
    fields = set(schema.names) - set(others)
    return to_table(schema, {n: [getattr(r, n) for r in records] for n in fields} | others)


def _labels(records: Sequence[Query] | Sequence[Passage]) -> list[str]:
    return [labels_to_json(record.labels) for record in records]


def _array(values: Sequence[Any], kind: DataType) -> Array:
    if kind != _STRS:
        return Array(list(values), type=kind)
    lengths = [0 if value is None else len(value) for value in values]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    flat = [item for value in values if value is not None for item in value]
    absent = np.array([value is None for value in values], dtype=bool)
    mask = Array.from_numpy(absent) if absent.any() else None
    return list_array(Array.from_numpy(offsets), Array(flat, type=_STR), type=_STRS, mask=mask)


def with_texts(table: Table, **texts: str | Sequence[str]) -> Table:
    """Return the table with columns of text in front of its own; a single text is repeated."""
    for place, (name, given) in enumerate(texts.items()):
        values = [given] * table.num_rows if isinstance(given, str) else list(given)
        column = ChunkedArray([Array(values, type=_STR)])
        table = table.add_column(place, Field(name, _STR, nullable=True), column)
    return table


def joined(tables: Iterable[Table], schema: Schema) -> Table:
    """Return one table with the rows of all tables, which have this schema."""
    batches = [batch for table in tables for batch in table.combine_chunks().to_batches()]
    return Table.from_batches(batches, schema=schema)


def columns(table: Table) -> dict[str, list[Any]]:
    """Return the table's columns as Python lists."""
    return {name: list(table.column(name).to_pylist()) for name in table.column_names}


def rows(table: Table) -> Iterable[dict[str, Any]]:
    """Yield the table's rows as dictionaries, built batch by batch to save memory."""
    for start in range(0, table.num_rows, limits.TABLE_BATCH_ROWS):
        lists = columns(table.slice(start, min(limits.TABLE_BATCH_ROWS, table.num_rows - start)))
        for values in zip(*lists.values(), strict=True):
            yield dict(zip(lists, values, strict=True))


def labels_to_json(labels: Mapping[str, Label]) -> str:
    """Return labels as JSON text with sorted keys, or "" if there are none."""
    return orjson.dumps(dict(labels), option=orjson.OPT_SORT_KEYS).decode() if labels else ""


def labels_from_json(text: str) -> dict[str, Label]:
    """Return the labels in JSON text of `labels_to_json`; lists become tuples."""
    parsed: dict[str, Any] = orjson.loads(text) if text else {}
    return {key: tuple(v) if isinstance(v, list) else v for key, v in parsed.items()}


def queries_to_table(queries: Sequence[Query]) -> Table:
    """Return the QUERIES table of some queries."""
    history = [
        json.dumps([[m.role, m.text] for m in q.history], ensure_ascii=False) if q.history else ""
        for q in queries
    ]
    return _records_to_table(QUERIES, queries, history=history, labels=_labels(queries))


class Withheld:
    """A placeholder for a field that a component does not declare; every use of it raises."""

    def __init__(self, field: str) -> None:
        self._field = field

    def __repr__(self) -> str:
        """Return a text without the field's value."""
        return "<withheld>"

    def __eq__(self, other: object) -> bool:
        """Return whether another field is withheld too."""
        return isinstance(other, Withheld)

    def _refuse(self, *_: object) -> Any:
        raise RagstoneError(
            f"this component reads {self._field.replace('_', ' ')}, which are not part of its key; "
            f"add {self._field!r} to `uses` in its class: uses = frozenset({{{self._field!r}}})"
        )

    __bool__ = __contains__ = __getitem__ = __iter__ = __len__ = _refuse
    get = items = keys = values = _refuse
    __hash__ = object.__hash__


WITHHELD: Final[Mapping[str, Any]] = {
    name: Withheld(name) for name in ("gold_answers", "labels", "passage_labels")
}
"""Field -> its value if the component does not declare it."""


def table_to_queries(table: Table) -> list[Query]:
    """Return the queries of a QUERIES table; an absent column is withheld."""
    return [
        Query(
            query_id=row["query_id"],
            text=row["text"],
            gold_answers=(
                tuple(row["gold_answers"] or ())
                if "gold_answers" in row
                else WITHHELD["gold_answers"]
            ),
            history=tuple(
                Message(cast("Role", role), text)
                for role, text in (json.loads(row["history"]) if row["history"] else ())
            ),
            rewrite=row["rewrite"],
            labels=labels_from_json(row["labels"]) if "labels" in row else WITHHELD["labels"],
        )
        for row in rows(table)
    ]


def passages_to_table(passages: Sequence[Passage]) -> Table:
    """Return the CORPUS table of some passages."""
    return _records_to_table(CORPUS, passages, labels=_labels(passages))


def rankings_to_table(query_ids: Sequence[str], rankings: Sequence[Ranking]) -> Table:
    """Return the RUN table of one ranking per query; a query without hits has no row."""
    return to_table(
        RUN,
        {
            "query_id": [
                q for q, r in zip(query_ids, rankings, strict=True) for _ in range(len(r))
            ],
            "passage_id": [p for r in rankings for p in r.passage_ids],
            "score": [float(s) for r in rankings for s in r.scores],
            "rank": [rank for r in rankings for rank in range(1, len(r) + 1)],
        },
    )


def table_to_rankings(table: Table) -> Rankings:
    """Return query id -> ranking of a RUN table, whose rows are in rank order."""
    return Rankings(table)


def predictions_to_table(predictions: Sequence[Prediction]) -> Table:
    """Return the PREDICTIONS table of some predictions, with the systems' further reports."""
    table = _records_to_table(PREDICTIONS, predictions)
    if any(one.contexts is not None or one.confidence is not None for one in predictions):
        contexts = [_pairs_to_json(one.contexts) for one in predictions]
        table = _extended(table, _records_to_table(_REPORTED, predictions, contexts=contexts))
    if any(one.steps is not None for one in predictions):
        table = _extended(table, to_table(_STEPS, {"steps": list(map(_steps_json, predictions))}))
    if any(one.tokens_reasoning is not None for one in predictions):
        table = _extended(table, _records_to_table(_REASONING, predictions))
    if any(one.sentences is not None for one in predictions):
        sentences = [
            None if one.sentences is None else orjson.dumps(one.sentences).decode()
            for one in predictions
        ]
        table = _extended(table, to_table(_SENTENCES, {"sentences": sentences}))
    if any(one.queued is not None for one in predictions):
        table = _extended(table, _records_to_table(_QUEUED, predictions))
    return table


def uniform_predictions(tables: Iterable[Table]) -> Iterator[Table]:
    """Yield PREDICTIONS tables with the same columns, as if they were parts of one table."""
    made = list(tables)
    for one in _REPORTS:
        if any(one.names[0] in table.column_names for table in made):
            made = [_with_columns(table, one) for table in made]
    order = [*PREDICTIONS.names, *(name for one in _REPORTS for name in one.names)]
    for table in made:
        yield table.select([name for name in order if name in table.column_names])


def _with_columns(table: Table, schema: Schema) -> Table:
    if schema.names[0] in table.column_names:
        return table
    return _extended(table, to_table(schema, dict.fromkeys(schema.names, [None] * table.num_rows)))


def _extended(table: Table, more: Table) -> Table:
    for name in more.column_names:
        table = table.append_column(more.schema.field(name), more.column(name))
    return table


def _steps_json(prediction: Prediction) -> str | None:
    steps = prediction.steps
    return None if steps is None else orjson.dumps(steps_to_lists(steps)).decode()


def steps_to_lists(steps: Sequence[Hop]) -> list[list[Any]]:
    """Return steps as plain data: query, pairs of id and text, tokens, seconds."""
    return [
        [hop.query, [[p.passage_id, p.full_text] for p in hop.passages], hop.tokens, hop.seconds]
        for hop in steps
    ]


def lists_to_steps(lists: Iterable[Sequence[Any]]) -> tuple[Hop, ...]:
    """Return the inverse of `steps_to_lists`."""
    return tuple(
        Hop(query, tuple(Passage(*pair) for pair in pairs), *facts)
        for query, pairs, *facts in lists
    )


def _pairs_to_json(passages: Sequence[Passage] | None) -> str | None:
    if passages is None:
        return None
    return orjson.dumps([[p.passage_id, p.full_text] for p in passages]).decode()


def table_to_predictions(table: Table) -> list[Prediction]:
    """Return the predictions of a PREDICTIONS table."""
    found = []
    for row in rows(table):
        ids, pairs = row.pop("passage_ids"), row.pop("contexts", None)
        contexts = None if pairs is None else tuple(Passage(*p) for p in orjson.loads(pairs))
        given, lists = None if ids is None else tuple(ids), row.pop("steps", None)
        row["steps"] = None if lists is None else lists_to_steps(orjson.loads(lists))
        if (cited := row.pop("sentences", None)) is not None:
            row["sentences"] = tuple((text, tuple(places)) for text, places in orjson.loads(cited))
        found.append(Prediction(**row, passage_ids=given, contexts=contexts))
    return found


def table_to_hops(table: Table) -> dict[str, tuple[Hop, ...]]:
    """Return query id -> searches in order, of a HOPS table."""
    found: dict[str, list[Hop]] = {}
    for row in rows(table):
        passages = tuple(map(Passage, row["passage_ids"], row["texts"]))
        hop = Hop(row["query"], passages, row["tokens"], row["seconds"])
        found.setdefault(row["query_id"], []).append(hop)
    return {query_id: tuple(hops) for query_id, hops in found.items()}


def scores_to_table(scores: Sequence[Score]) -> Table:
    """Return the SCORES table of some scores."""
    return _records_to_table(SCORES, scores)


def table_to_scores(table: Table) -> list[Score]:
    """Return the scores of a SCORES table."""
    return [Score(**row) for row in rows(table)]


def table_to_relevance(qrels: Table) -> dict[str, dict[str, int]]:
    """Return query id -> passage id -> relevance of a QRELS table."""
    found: dict[str, dict[str, int]] = {}
    for row in rows(qrels):
        found.setdefault(row["query_id"], {})[row["passage_id"]] = row["relevance"]
    return found


def contexts_to_table(contexts: Iterable[Context]) -> Table:
    """Return the CONTEXTS table of some contexts."""
    listed = list(contexts)
    texts = [[p.text for p in context.passages] for context in listed]
    origins = [[p.origin for p in context.passages] for context in listed]
    return _records_to_table(CONTEXTS, listed, texts=texts, origins=origins)


def table_to_contexts(table: Table) -> Iterator[Context]:
    """Yield the contexts of a CONTEXTS table."""
    for row in rows(table):
        shown = zip(row["passage_ids"], row["texts"], row["origins"], strict=True)
        yield Context(row["query_id"], row["setting"], tuple(ContextPassage(*p) for p in shown))
