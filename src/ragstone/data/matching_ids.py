"""Ids of two files that belong together: none in common is an error, few are a warning."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain, combinations
from typing import Final

from ragstone.data.readers.rows import listed
from ragstone.errors import DatasetError
from ragstone.types import Ranking

_LOG: Final = logging.getLogger(__name__)
_FEW: Final = 0.5
"""Share of common ids below which the files may not belong together."""
_REPAIRS: Final[Mapping[str, Callable[[str], str]]] = {
    "in lower case": str.lower,
    "in upper case": str.upper,
    "without leading zeros": lambda i: i.lstrip("0"),
    "without the part after the last '-'": lambda i: i.rpartition("-")[0],
    "without the last two fields after '-'": lambda i: i.rsplit("-", 2)[0],
    "without the part after the last '_'": lambda i: i.rpartition("_")[0],
    "without '.0'": lambda i: i.removesuffix(".0"),
    "without '.txt', '.pdf', ...": lambda i: i.rpartition(".")[0],
}


def id_hint(ids: Collection[str], known: Collection[str]) -> str:
    """Return the simple change by which most ids would match, as the end of a sentence, or "".

    >>> id_hint(["Q1", "Q2"], {"q1", "q2"})
    '; 2 of them would exist in lower case'
    """
    found = {name: sum(change(i) in known for i in ids) for name, change in _REPAIRS.items()}
    name = max(found, key=lambda key: found[key])
    return f"; {found[name]:,} of them would exist {name}" if found[name] else ""


def check_ids(
    given: Collection[str], known: Collection[str], names: tuple[str, str], noun: str = "query"
) -> None:
    """Compare two collections of ids, as a share of the smaller one.

    Args:
        given: the ids of one side.
        known: the ids of the other side.
        names: the names of the two sides, such as ("the answers", "the gold answers").
        noun: noun for the items of the ids.

    Raises:
        DatasetError: both have ids, and none in common. If fewer than half are common, a warning
            has examples.
    """
    if not given or not known:
        return
    theirs = set(known)
    common = sum(i in theirs for i in given)
    size = min(len(given), len(known))
    if common >= _FEW * size:
        return
    strangers = [i for i in given if i not in theirs]
    ours = set(given)
    unmet = [i for i in known if i not in ours]
    sides = f"{names[0]} have {_some(strangers)}, and {names[1]} have {_some(unmet)}"
    hint = id_hint(strangers, theirs) or id_hint(unmet, ours)
    if not common:
        raise DatasetError(
            f"{names[0]} and {names[1]} have no {noun} id in common: {sides}{hint}; name the files "
            f"that belong together, or give both the same ids",
            value=strangers[0],
        )
    _LOG.warning(
        "%s and %s have only %s of %s %s ids in common: %s%s",
        *names,
        f"{common:,}",
        f"{size:,}",
        noun,
        sides,
        hint,
    )


def check_systems(ids: Mapping[str, Collection[str]]) -> None:
    """Compare the ids of every two systems."""
    for (a, ours), (b, theirs) in combinations(ids.items(), 2):
        check_ids(ours, theirs, (f"the scores of {a}", f"the scores of {b}"))


def check_passages(
    qrels: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Ranking | Mapping[str, float]]
) -> None:
    """Warn if no ranking contains a judged passage of its query."""
    common = [query_id for query_id in qrels if query_id in rankings]
    if any(not qrels[q].keys().isdisjoint(_passages(rankings[q])) for q in common):
        return
    judged = [passage_id for query_id in common for passage_id in qrels[query_id]]
    ranked = list(dict.fromkeys(chain.from_iterable(_passages(rankings[q]) for q in common)))
    if judged and ranked:
        _LOG.warning(
            "no ranking contains a judged passage of its query, so every value is 0: the run has "
            "passages such as %s, and the qrels %s%s",
            _some(ranked),
            _some(judged),
            id_hint(ranked, set(judged)),
        )


def _passages(ranking: Ranking | Mapping[str, float]) -> Iterable[str]:
    return ranking.passage_ids if isinstance(ranking, Ranking) else ranking


def _some(ids: Collection[str]) -> str:
    return listed(list(map(repr, ids)))
