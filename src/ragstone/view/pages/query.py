"""The page of one query: how a system came to its answer, and its answer to a changed query."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Final, TypeAlias

from ragstone.errors import RagstoneError
from ragstone.results.chain import QueryChain, query_chain, query_chains
from ragstone.results.query_page import find_query
from ragstone.results.results import Results
from ragstone.results.what_if import WhatIf
from ragstone.types import Query
from ragstone.view.page import ActionAnswer, Document, ViewAction, ViewPage
from ragstone.view.query_filter import QueryFilter, found_queries, own_address
from ragstone.view.query_parts import (
    further_trials,
    metric_rows,
    passage_rows,
    rank_rows,
    setting_columns,
    system_rows,
)
from ragstone.view.store_view import StoreView
from ragstone.view.what_if_form import PROMPTS, asked_form, change_of, entered_form
from ragstone.web.errors import PageError, StateText, page_error
from ragstone.web.page_query import PageQuery, page_address

Ask: TypeAlias = Callable[[Results, QueryChain, WhatIf], str]
"""Asks a query of an experiment again, and returns the name of the counterfactual."""

_KEPT: Final = frozenset({"system", "setting", "from", "scheme"})
"""Values of the address that the next query of a list is shown with."""
_OF_A_LIST: Final = frozenset({"cause", "label", "right", "q"})
"""Values that restrict the list if `from` does not name one."""


def query_document(
    view: StoreView,
    query: PageQuery,
    entered: Mapping[str, str] | None = None,
    problem: StateText | None = None,
) -> Document:
    """Return the chain of a query, its further trials, and the form that asks it again.

    Args:
        view: the store.
        query: the address.
        entered: the values of the form, if it was sent and nothing was done.
        problem: why nothing was done.
    """
    results = _results(view, query)
    asked = find_query(results, query.part("query_id"))
    document = {
        "experiment": results.name,
        "basis": view.experiment(results.name).digest,
        "query": _query(asked),
        "list": _place(results, asked.query_id, query),
        "settings": results.settings,
        "correct": str(results.correctness or ""),
        "trials": further_trials(results, asked.query_id),
        "tried": query.text("tried"),
        "problem": problem and asdict(problem),
    }
    if not results.trials:
        return {**document, "chain": None}
    chain = _chain(results, asked.query_id, query)
    columns = setting_columns(results, chain)
    form = asked_form(results, chain)
    return {
        **document,
        "chain": chain.to_dict(),
        "asked_here": chain.own is not None,
        "columns": columns,
        "metrics": metric_rows(columns),
        "passages": passage_rows(results, chain),
        "systems": system_rows(results, asked.query_id),
        "ranks": rank_rows(results, chain),
        "form": asdict(entered_form(form, entered or {})),
        "prompt_names": PROMPTS,
    }


def _results(view: StoreView, query: PageQuery) -> Results:
    """Return the experiment of the address, else the last one that has the query."""
    if name := query.text("experiment"):
        return view.results(name)
    first = None
    for one in view.experiments():
        if not one.problem:
            results = view.results(one.name)
            if query.part("query_id") in results.queries:
                return results
            first = first or results
    if first is None:
        raise PageError(404, StateText("No experiment in this store can be read."))
    return first


def _query(asked: Query) -> Document:
    labels = dict(asked.labels)
    return {
        "query_id": asked.query_id,
        "text": asked.text,
        "rewrite": asked.rewrite if asked.rewrite != asked.text else "",
        "gold_answers": list(asked.gold_answers),
        "history": [[message.role, message.text] for message in asked.history],
        "labels": labels,
        "conversation": str(labels.get("conversation") or (asked.history and asked.query_id) or ""),
    }


def _chain(results: Results, query_id: str, query: PageQuery) -> QueryChain:
    """Return the chain of the address; by default the first one that is wrong, else the first."""
    systems = list(dict.fromkeys(trial.system for trial in results.trials))
    system = query.choice("system", systems)
    of = [t.setting for t in results.trials if system in ("", t.system)]
    setting = query.choice("setting", of)
    if system and setting:
        return query_chain(results, query_id, system, setting)
    if setting:
        trials = [t.system for t in results.trials if t.setting == setting]
        chains = [query_chain(results, query_id, one, setting) for one in trials]
    else:
        chains = query_chains(results, query_id, system or None)
    return next((one for one in chains if one.right is False), chains[0])


def _list_address(results: Results, query: PageQuery) -> str:
    """Return the address of the list that led here: `from`, or the list of the filters."""
    address = own_address(query.text("from"))
    if QueryFilter.of_address(address).experiment in ("", results.name) and address:
        return address
    given = QueryFilter.of(query.values).values() if _OF_A_LIST & query.values.keys() else {}
    return page_address("/queries", {**given, "experiment": results.name})


def _place(results: Results, query_id: str, query: PageQuery) -> Document:
    """Return the place of a query in the list that led here, with its neighbours."""
    address = _list_address(results, query)
    wanted = QueryFilter.of_address(address)
    try:
        ids = [one.query.query_id for one in found_queries(results, wanted)]
    except PageError:  # the list has values of its own
        ids = list(results.queries)
    if query_id not in ids:
        return {"address": address, "total": len(ids), "position": None, "links": {}}
    at = ids.index(query_id)
    # The list decides which system and setting the next query is shown with.
    kept = {name: v for name, v in query.values.items() if name in _KEPT | _OF_A_LIST}
    kept["experiment"] = results.name
    near = {"prev": ids[at - 1] if at else None, "next": ids[at + 1] if at + 1 < len(ids) else None}
    links = {name: page_address(f"/query/{one}", kept) for name, one in near.items() if one}
    return {"address": address, "total": len(ids), "position": at + 1, "links": links}


def _ask(ask: Ask, view: StoreView, values: Mapping[str, str]) -> ActionAnswer:
    """Ask a query again with the changes; the entered values stay if that is not possible."""
    query_id = values.get("query_id", "")
    names = ("experiment", "system", "setting", "from")
    place = {name: values[name] for name in names if values.get(name)}
    query = PageQuery(f"/query/{query_id}", {"query_id": query_id}, place)
    results = view.results(values.get("experiment", ""))
    chain = query_chain(results, query_id, place.get("system", ""), place.get("setting", ""))
    form = asked_form(results, chain)
    try:
        change = change_of(form, entered_form(form, values))
        tried = ask(results, chain, change)
    except (PageError, RagstoneError) as error:
        state = error.state if isinstance(error, PageError) else page_error(error).state
        document = query_document(view, query, values, state)
        return ActionAnswer(page=QUERY, query=query, document=document)
    return ActionAnswer(address=query.link({"tried": tried}) + "#tried")


def _basis(view: StoreView, values: Mapping[str, str]) -> str:
    """Return the state of the experiment whose query is asked again."""
    return view.experiment(values.get("experiment", "")).digest


QUERY: Final = ViewPage(
    "/query/{query_id:.+}", "Query", "query.html", query_document, marks="/queries"
)


def what_if_action(ask: Ask) -> ViewAction:
    """Return the button that asks a query again, with the function that asks it."""
    return ViewAction("/what-if", functools.partial(_ask, ask), _basis)
