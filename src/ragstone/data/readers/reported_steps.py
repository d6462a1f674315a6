"""The searches that a system of several hops reports with its answer.

    {"answer": "In 1912.", "steps": [
        {"query": "Which ship was it?", "passages": ["p3", {"id": "p9", "score": 7.5}]},
        {"query": "When did it sink?", "contexts": ["It sank in 1912."], "latency_s": 0.2}]}

A step has a `query`, and the passages that it found as `passages`, `passage_ids` or `contexts`. A
text in `passages` is an id if it has no white space. `tokens` and `latency_s` are optional.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ragstone.core import limits
from ragstone.core.parsing import parse_json
from ragstone.data.readers.rows import FieldError, Row, show, within
from ragstone.types import Hop, Passage

_ID_NAMES: Final = ("id", "passage_id")
_PASSAGES: Final = ("passages", "passage_ids", "contexts")


def read_steps(row: Mapping[str, Any]) -> tuple[Hop, ...] | None:
    """Return the steps of a reply or a row; None if it has none.

    >>> read_steps({"steps": [{"query": "When?", "passages": ["p7"]}]})[0].passages
    (Passage(passage_id='p7', text=''),)

    Raises:
        FieldError: `steps` or one of them has another form.
    """
    given = row.get("steps")
    if isinstance(given, str) and given.strip():
        given = _parsed(given)
    if given is None or given == "":
        return None
    if not isinstance(given, list | tuple):
        raise FieldError(f"'steps' must be a list of objects, found {show(given)}")
    if len(given) > limits.MAX_STEPS:
        raise FieldError(
            f"'steps' has {len(given):,} items, more than {limits.MAX_STEPS:,}; report one step "
            "per search"
        )
    found = []
    for place, step in enumerate(given, start=1):
        with within(f"step {place}"):
            found.append(step if isinstance(step, Hop) else _hop(Row.of(step)))
    return tuple(found)


def _parsed(text: str) -> Any:
    """Return the steps in a cell of a CSV file."""
    try:
        return parse_json(text.encode())
    except ValueError as error:
        raise FieldError(f"'steps' must be JSON, found {show(text)}") from error


def _hop(step: Row) -> Hop:
    names = [name for name in _PASSAGES if step.get(name) is not None]
    if len(names) != 1:
        found = " and ".join(map(repr, names)) or ", ".join(map(repr, step)) or "no field"
        raise FieldError(f"expected one of {', '.join(map(repr, _PASSAGES))}, found {found}")
    (name,) = names
    items = step[name]
    if not isinstance(items, list | tuple):
        raise FieldError(f"{name!r} must be a list, found {show(items)}")
    query = step.take_text("query", optional=True)
    passages = tuple(read_passage(item, name) for item in items)
    return Hop(query, passages, _tokens(step), _seconds(step))


def _tokens(step: Row) -> int | None:
    value = step.get("tokens")
    if value is not None and (type(value) is not int or not 0 <= value < 2**63):
        raise FieldError(f"'tokens' must be a whole number of 0 or more, found {show(value)}")
    return value


def _seconds(step: Row) -> float | None:
    value = step.get("latency_s")
    if value is None:
        return None
    if type(value) not in (int, float) or not math.isfinite(value) or value < 0:
        raise FieldError(f"'latency_s' must be a number of 0 or more, found {show(value)}")
    return float(value)


def read_passage(item: object, name: str) -> Passage:
    """Return an item of the list `name`: a text, an id, or an object with `text`, `id` or both.

    A text is an id in `passage_ids`, and in `passages` if it has no white space.

    >>> read_passage("p7", "passages"), read_passage("It sank.", "passages")
    (Passage(passage_id='p7', text=''), Passage(passage_id='', text='It sank.'))

    Raises:
        FieldError: the item has another form.
    """
    if isinstance(item, Passage):
        return Passage(item.passage_id, item.full_text)
    if isinstance(item, str) and (item.strip() or name == "contexts"):
        is_id = name == "passage_ids" or (name == "passages" and not any(map(str.isspace, item)))
        return Passage(item, "") if is_id else Passage("", item)
    given = item if isinstance(item, Mapping) else {}
    passage_id, text = id_of(given) or "", given.get("text") or ""
    if not (isinstance(passage_id, str) and isinstance(text, str) and (passage_id or text)):
        raise FieldError(
            f"an item of {name!r} must be a text, or an object with 'text', 'id' or both, found "
            f"{show(item)}"
        )
    return Passage(passage_id, text)


def id_of(item: Mapping[str, Any]) -> Any:
    """Return the id of a passage in a reply, or None."""
    return next((item[name] for name in _ID_NAMES if item.get(name) is not None), None)


def passages_of(steps: Iterable[Hop]) -> tuple[Passage, ...]:
    """Return the passages of all steps in order, each once, with a text if any step has it.

    They are the context of an answer whose system reports its steps and no context.

    >>> ids = [["p1", "p2"], ["p2", "p3"]]
    >>> steps = [Hop("When?", tuple(Passage(p, "") for p in found)) for found in ids]
    >>> [passage.passage_id for passage in passages_of(steps)]
    ['p1', 'p2', 'p3']
    """
    found: dict[str, Passage] = {}
    for hop in steps:
        for one in hop.passages:
            key = one.passage_id or one.text
            found[key] = found[key] if key in found and found[key].text else one
    return tuple(found.values())
