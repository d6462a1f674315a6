"""The filter that all lists of queries share: its values in an address, and its selection.

The names of the values are the fields of `QueryFilter`. A list passes its own address to the page
of a query as `from`; the page reads the filter from it, and so knows the next query of the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from ragstone.causes.order import CAUSES
from ragstone.errors import did_you_mean
from ragstone.results.causes.found import QueryCause, causes_of
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults
from ragstone.types import Query
from ragstone.web.errors import PageError, StateText
from ragstone.web.page_query import page_address

RIGHT: Final = {"yes": True, "no": False, "unknown": None}
"""Value of the filter `right` -> whether the answer is right; None if no rule decides it."""
ANY: Final = "any"
"""Value of the filter `cause` that selects every wrong answer with a cause."""
_KEPT: Final = "_found_answers"


@dataclass(frozen=True)
class QueryFilter:
    """The restrictions of a list of queries; an empty value restricts nothing."""

    experiment: str = ""
    system: str = ""
    setting: str = ""
    cause: str = ""
    """A cause of a wrong answer; those that refine it are selected too. `ANY` has all causes."""
    label: str = ""
    """A label and its value: `domain:places`."""
    right: str = ""
    """A key of `RIGHT`."""
    q: str = ""
    """Words that the id, the query, a gold answer or an answer contains."""

    @classmethod
    def of(cls, values: Mapping[str, str]) -> QueryFilter:
        """Return the filter of the values of a form or of an address."""
        return cls(**{f.name: values.get(f.name, "").strip() for f in fields(cls)})

    @classmethod
    def of_address(cls, address: str) -> QueryFilter:
        """Return the filter of the address of a list.

        >>> QueryFilter.of_address("/queries?system=bm25&right=no&from=50").values()
        {'system': 'bm25', 'right': 'no'}
        >>> QueryFilter.of_address("/causes?system=bm25").values()
        {'system': 'bm25', 'cause': 'any'}
        """
        parts = urlsplit(address)
        always = {"cause": ANY} if parts.path == "/causes" else {}
        return cls.of(always | dict(parse_qsl(parts.query)))

    def values(self) -> dict[str, str]:
        """Return the values that restrict something."""
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in found.items() if value}


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """The first answer of a system under a setting to one query."""

    query_id: str
    system: str
    setting: str
    right: bool | None
    answer: str | None
    reason: str
    """Why there is no answer; "" if there is one."""
    cause: str = ""
    within: str = ""


@dataclass(frozen=True, slots=True)
class FoundQuery:
    """A query of a list, with its answers that the filter selects."""

    query: Query
    answers: tuple[FoundAnswer, ...]
    """Empty for an experiment that measures retrieval alone."""


def own_address(address: str) -> str:
    """Return the address of a list on this server, or "" if it is none.

    >>> own_address("/causes?cause=reading"), own_address("//elsewhere.example/x")
    ('/causes?cause=reading', '')
    """
    is_own = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if is_own and address.isprintable() else ""


def found_queries(results: StoredResults, wanted: QueryFilter) -> list[FoundQuery]:
    """Return the queries that a filter selects, in the order of the data set.

    A query is selected if one of its answers is. Raises `PageError` for a system, a setting,
    a cause or a label that does not exist.
    """
    _check(results, wanted)
    answers = _answers(results)
    chosen = [
        rows
        for (system, setting), rows in answers.items()
        if wanted.system in ("", system) and wanted.setting in ("", setting)
    ]
    words = wanted.q.lower().split()
    found = []
    for query in results.queries.values():
        if not _has_label(query, wanted.label):
            continue
        of_query = [rows[query.query_id] for rows in chosen if query.query_id in rows]
        fitting = tuple(one for one in of_query if _fits(one, wanted))
        if (answers and not fitting) or not _says(query, fitting, words):
            continue
        found.append(FoundQuery(query, fitting))
    return found


def label_values(results: StoredResults) -> list[str]:
    """Return the labels of the answered queries with their values, the most frequent first."""
    counts: dict[str, int] = {}
    for query in results.queries.values():
        for name in query.labels:
            for value in _values(query, name):
                counts[f"{name}:{value}"] = counts.get(f"{name}:{value}", 0) + 1
    return sorted(counts, key=lambda one: -counts[one])


def _check(results: StoredResults, wanted: QueryFilter) -> None:
    """Raise `PageError` for a value that does not exist, with the nearest one."""
    for kind, value, known in (
        ("system", wanted.system, results.systems),
        ("setting", wanted.setting, results.settings),
        ("cause", wanted.cause, [ANY, *(one.name for one in CAUSES)]),
        ("right", wanted.right, list(RIGHT)),
        ("label", wanted.label, label_values(results) if wanted.label else []),
    ):
        if value and value not in known:
            said = f"{results.name!r} has no {kind} {value!r}{did_you_mean(value, known)}"
            link = page_address("/queries", {"experiment": results.name})
            raise PageError(404, StateText(said, link=link, link_text="Show all queries"))
    if wanted.cause and results.correctness is None:
        said = f"{results.name!r} has no rule for correct answers (`correct`), so no causes."
        raise PageError(404, StateText(said))


def _has_label(query: Query, label: str) -> bool:
    if not label:
        return True
    # The name of a label may contain the mark itself.
    return any(
        label == f"{name}:{value}" for name in query.labels for value in _values(query, name)
    )


def _values(query: Query, name: str) -> Sequence[str]:
    """Return the values of a label as text."""
    value = query.labels[name]
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    return list(value) if isinstance(value, tuple) else [str(value)]


def _fits(one: FoundAnswer, wanted: QueryFilter) -> bool:
    causes = (one.cause, one.within, ANY if one.cause else "")
    if wanted.cause and wanted.cause not in causes:
        return False
    return not wanted.right or one.right is RIGHT[wanted.right]


def _says(query: Query, answers: Sequence[FoundAnswer], words: Sequence[str]) -> bool:
    """Return whether a query and its answers contain all words."""
    if not words:
        return True
    texts = [query.query_id, query.text, *query.gold_answers]
    text = "\n".join([*texts, *(one.answer or one.reason for one in answers)]).lower()
    return all(word in text for word in words)


def _answers(results: StoredResults) -> dict[tuple[str, str], dict[str, FoundAnswer]]:
    """Return (system, setting) -> query id -> answer; they are collected once."""
    held: dict[str, Any] = vars(results)
    if _KEPT not in held:
        causes = {(c.query_id, c.system, c.setting): c for c in causes_of(results).queries}
        held[_KEPT] = {
            (trial.system, trial.setting): dict(_of_trial(results, trial, causes))
            for trial in results.trials
        }
    found: dict[tuple[str, str], dict[str, FoundAnswer]] = held[_KEPT]
    return found


def _of_trial(
    results: StoredResults,
    trial: TrialResults,
    causes: Mapping[tuple[str, str, str], QueryCause],
) -> Iterator[tuple[str, FoundAnswer]]:
    labels = results.correct_answers(trial)
    for query_id, prediction in trial.predictions.items():
        label = labels.get(query_id)
        cause = causes.get((query_id, trial.system, trial.setting))
        yield (
            query_id,
            FoundAnswer(
                query_id,
                trial.system,
                trial.setting,
                None if label is None else label == 1,
                prediction.answer,
                "" if prediction.answer is not None else prediction.reason or prediction.status,
                cause.cause if cause else "",
                (cause.within or "") if cause else "",
            ),
        )
