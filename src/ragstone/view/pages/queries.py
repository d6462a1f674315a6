"""The list of an experiment's queries, filtered, and buttons that make files of it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TypeAlias

from ragstone.causes.order import CAUSES
from ragstone.core.times import utc_text
from ragstone.data.dataset import Dataset
from ragstone.data.writers.folder import write_dataset
from ragstone.results.results import Results
from ragstone.view.made_files import ANNOTATION, DATA_SETS, csv_bytes, new_folder
from ragstone.view.page import ActionAnswer, Document, ViewAction, ViewPage
from ragstone.view.query_filter import (
    RIGHT,
    FoundAnswer,
    FoundQuery,
    QueryFilter,
    found_queries,
    label_values,
)
from ragstone.view.store_view import StoreView
from ragstone.web import limits
from ragstone.web.errors import PageError, StateText
from ragstone.web.page_query import PageQuery, page_address

Select: TypeAlias = Callable[[Results, Collection[str], str], Dataset]
"""Returns the data set of an experiment with some of its queries, under a name."""
Annotate: TypeAlias = Callable[[Path, Results, Mapping[str, str], Sequence[FoundAnswer]], int]
"""Writes answers of an experiment as an annotation project, with the filters of their list, and
returns its number of items."""
_COLUMNS: Final = ("query_id", "query", "gold_answers", "system", "setting", "right", "answer")


def queries_document(view: StoreView, query: PageQuery) -> Document:
    """Return the queries that match the filter, a page of them."""
    wanted = QueryFilter.of({name: query.text(name) for name in query.values})
    name = wanted.experiment or _last(view)
    if not name:
        return {"experiment": "", "total": 0}
    results = view.results(name)
    wanted = QueryFilter.of({**wanted.values(), "experiment": name})
    found = found_queries(results, wanted)
    start = query.number("from", 0, most=max(0, len(found)))
    here = page_address("/queries", {**wanted.values(), "from": start or ""})
    here = here if len(here) <= limits.VIEW_PARAMETER_CHARACTERS else ""
    return {
        "experiment": name,
        "basis": view.experiment(name).digest,
        "filter": wanted.values(),
        "systems": list(dict.fromkeys(trial.system for trial in results.trials)),
        "settings": results.settings,
        "causes": [one.name for one in CAUSES] if results.correctness else [],
        "labels": label_values(results)[: limits.VIEW_ROWS],
        "correct": str(results.correctness or ""),
        "total": len(results.queries),
        "found": len(found),
        "answers": sum(len(one.answers) for one in found),
        "from": start,
        "queries": [_row(one, wanted, here) for one in found[start : start + limits.VIEW_ROWS]],
        "name": f"{name.replace('.', '-')}-{utc_text()[:10]}",
    }


def _last(view: StoreView) -> str:
    """Return the name of the readable experiment that started last; "" if there is none."""
    return next((one.name for one in view.experiments() if not one.problem), "")


def _row(one: FoundQuery, wanted: QueryFilter, here: str) -> Document:
    causes = dict.fromkeys(a.cause for a in one.answers if a.cause)
    known = [a.right for a in one.answers if a.right is not None]
    only = one.answers[0] if len(one.answers) == 1 else None
    first = next((a for a in one.answers if a.right is False), None) or only
    place = {"system": first.system, "setting": first.setting} if first else {}
    chosen = {n: getattr(wanted, n) for n in ("system", "setting") if getattr(wanted, n)}
    values = {"experiment": wanted.experiment, **(place if wanted.cause else {}), **chosen}
    return {
        "query_id": one.query.query_id,
        "text": one.query.text,
        "gold_answers": list(one.query.gold_answers),
        "answers": len(one.answers),
        "right": sum(known),
        "known": len(known),
        "failed": sum(a.answer is None for a in one.answers),
        "causes": list(causes),
        "only": only and asdict(only),
        "link": page_address(f"/query/{one.query.query_id}", {**values, "from": here}),
    }


def _found(view: StoreView, values: Mapping[str, str]) -> tuple[Results, list[FoundQuery]]:
    """Return the queries of a form; raise `PageError` if the filter selects none."""
    wanted = QueryFilter.of(values)
    results = view.results(wanted.experiment)
    if found := found_queries(results, wanted):
        return results, found
    link = page_address("/queries", {"experiment": wanted.experiment})
    said = "The filters select no query. Nothing was written."
    raise PageError(404, StateText(said, link=link, link_text="Show all queries"))


def _csv(view: StoreView, values: Mapping[str, str]) -> ActionAnswer:
    """Return the answers of a list as CSV, with the scores of all metrics."""
    results, found = _found(view, values)
    trials = {(one.system, one.setting): one.first for one in results.trials}
    metrics = list(dict.fromkeys(name for one in trials.values() for name in one.scores))
    said = {right: word for word, right in RIGHT.items()}

    def rows(one: FoundQuery) -> list[list[Any]]:
        query = one.query
        own = [query.query_id, query.text, list(query.gold_answers)]
        if not one.answers:
            return [[*own, *([None] * (6 + len(metrics)))]]
        made = []
        for answer in one.answers:
            scores = trials[answer.system, answer.setting].scores_of(query.query_id)
            values = [scores[name].value if name in scores else None for name in metrics]
            place = [answer.system, answer.setting, said[answer.right], answer.answer]
            made.append([*own, *place, answer.reason, answer.cause, *values])
        return made

    header = [*_COLUMNS, "reason", "cause", *metrics]
    body = csv_bytes(header, (row for one in found for row in rows(one)))
    return ActionAnswer(file_name=f"{results.name}.csv", body=body)


def _back(values: Mapping[str, str]) -> str:
    return page_address("/queries", QueryFilter.of(values).values())


def _dataset(select: Select, view: StoreView, values: Mapping[str, str]) -> ActionAnswer:
    """Write the queries of a list as a data set with all passages of their experiment's."""
    name, folder = new_folder(view, DATA_SETS, values.get("name", ""), _back(values))
    results, found = _found(view, values)
    made = select(results, [one.query.query_id for one in found], name)
    files = write_dataset(made, folder)
    return _written(
        name, folder, files, queries=made.query_table.num_rows, passages=len(made.corpus)
    )


def _project(annotate: Annotate, view: StoreView, values: Mapping[str, str]) -> ActionAnswer:
    """Write the answers of a list as an annotation project."""
    name, folder = new_folder(view, ANNOTATION, values.get("name", ""), _back(values))
    results, found = _found(view, values)
    answers = [answer for one in found for answer in one.answers]
    items = annotate(folder, results, QueryFilter.of(values).values(), answers)
    files = sorted(folder.iterdir())
    return _written(name, folder, files, queries=len(found), items=items)


def _written(name: str, folder: Any, files: Any, **counts: int) -> ActionAnswer:
    document = {"name": name, "folder": str(folder), "files": [path.name for path in files]}
    return ActionAnswer(document={**document, **counts})


def _basis(view: StoreView, values: Mapping[str, str]) -> str:
    """Return the state of the experiment that a list was made from."""
    return view.experiment(values.get("experiment", "")).digest


QUERIES: Final = ViewPage("/queries", "Queries", "queries.html", queries_document, tab="Queries")
QUERIES_CSV: Final = ViewAction("/queries/csv", _csv, reads=True)


def dataset_action(select: Select) -> ViewAction:
    """Return the button that makes a data set, with the function that selects its queries."""
    return ViewAction("/queries/dataset", functools.partial(_dataset, select), _basis)


def annotation_action(annotate: Annotate) -> ViewAction:
    """Return the button that makes an annotation project, with the function that writes it."""
    return ViewAction("/queries/annotation", functools.partial(_project, annotate), _basis)
