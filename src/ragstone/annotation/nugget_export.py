"""Nuggets of queries, as people marked and labelled them, in the form of TREC RAG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import orjson

from ragstone.annotation.disagreements import withdrawn_items
from ragstone.annotation.items import AGAIN
from ragstone.annotation.parts import parts_of
from ragstone.data.readers.nuggets import LABELS
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.annotation.database import Database
    from ragstone.annotation.project import Project
    from ragstone.annotation.schemes import Scheme

_VITAL, _OKAY = LABELS


def nugget_lines(project: Project, database: Database) -> Iterator[bytes]:
    """Yield a line per query with its nuggets, which `ragstone.data.readers.nuggets` reads.

    The nuggets of all people and answers of a query are united: equal texts are one nugget, which
    is vital if more than half of those who labelled it chose so. Nuggets without importance,
    repeats, withdrawn items and items with known labels are left out.

    Raises `ConfigError` if the scheme has no question with the options `vital` and `okay`.
    """
    name = _importance(project.scheme)
    votes: dict[str, dict[str, Counter[str]]] = {}
    for item_id, given in _labels(project, database):
        item = project.items[item_id]
        of_query = votes.setdefault(item.query.query_id, {})
        for part in parts_of(project.scheme, item, given):
            value = given.get((name, part.part_id))
            if isinstance(value, str) and value in LABELS:
                of_query.setdefault(part.text.strip(), Counter())[value] += 1
    texts = {one.query.query_id: one.query.text for one in project.items.values()}
    for query_id, text in texts.items():
        if nuggets := votes.get(query_id):
            listed = [{"text": one, "importance": _most(n)} for one, n in nuggets.items()]
            row = {"qid": query_id, "query": text, "nuggets": listed}
            yield orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def _importance(scheme: Scheme) -> str:
    """Return the name of the question about the importance of a part."""
    for one in scheme.questions:
        if one.of == "part" and LABELS.keys() <= {option.value for option in one.options}:
            return one.name
    raise ConfigError(
        f"the scheme {scheme.name!r} has no question about a part with the options vital and okay; "
        "choose ratings",
        key="as",
        value="nuggets",
    )


def _labels(
    project: Project, database: Database
) -> Iterator[tuple[str, dict[tuple[str, str], Any]]]:
    """Yield an item and the labels of a person, in the order of the items in their file."""
    gone = withdrawn_items(database)
    order = {item_id: number for number, item_id in enumerate(project.items)}
    counts = [
        one
        for one in database.labels()
        if one.item_id in order
        and not one.item_id.endswith(AGAIN)
        and one.item_id not in gone
        and not project.items[one.item_id].known
    ]
    counts.sort(key=lambda one: (order[one.item_id], one.person))
    for (item_id, _), labels in groupby(counts, key=lambda one: (one.item_id, one.person)):
        yield item_id, {(one.field, one.part): one.value for one in labels}


def _most(votes: Counter[str]) -> str:
    return _VITAL if 2 * votes[_VITAL] > votes.total() else _OKAY
