"""The report of a system with its answer: passages, steps, usage and confidence.

    {"answer": "In 1912.", "passage_ids": ["p7"], "contexts": [{"id": "p7", "text": "..."}],
     "steps": [{"query": "Which ship was it?", "passages": ["p3", {"id": "p9", "score": 7.5}]},
               {"query": "When did it sink?", "contexts": ["It sank in 1912."], "latency_s": 0.2}],
     "usage": {"tokens_in": 210, "tokens_out": 4, "cost": 0.0002, "seconds": 0.8},
     "confidence": 0.9}

`passages` is another name of `passage_ids`. An item of `contexts` is a text or an object with
`text`, `id` or both. A step has a `query`, and the passages that it found as `passages`,
`passage_ids` or `contexts`; a text in `passages` is an id if it has no white space. `tokens` and
`latency_s` of a step are optional. The values of `usage` may also be beside the answer.
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
_USAGE: Final = {"tokens_in": int, "tokens_out": int, "cost": float, "seconds": float}

_NAMES: Final = frozenset({*_PASSAGES, "steps", "confidence", "usage", *_USAGE})
"""All fields of a report."""


def read_reported(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the report in a reply or a row, by the field of `Prediction`.

    As many texts without ids as `passage_ids` have these ids. If every text has an id of its own,
    `passage_ids` may be absent. A part of `usage` that is not reported is absent, and any other
    field None.

    >>> found = read_reported({"passage_ids": ["p7"], "contexts": ["It sank."], "seconds": 2})
    >>> found["contexts"], found["seconds"], found["confidence"]
    ((Passage(passage_id='p7', text='It sank.'),), 2.0, None)

    Raises:
        FieldError: a field has another form.
    """
    if row.keys().isdisjoint(_NAMES):  # an answer alone, as most files have
        return dict.fromkeys(("passage_ids", "contexts", "steps", "confidence"))
    ids, contexts = _passage_ids(row), _contexts(row)
    if contexts is not None and ids is None and all(one.passage_id for one in contexts):
        ids = tuple(one.passage_id for one in contexts)
    elif contexts and ids and len(ids) == len(contexts) and not any(p.passage_id for p in contexts):
        contexts = tuple(Passage(i, p.text) for i, p in zip(ids, contexts, strict=True))
    return {
        "passage_ids": ids,
        "contexts": contexts,
        "steps": _steps(row),
        "confidence": _confidence(row),
        **_usage(row),
    }


def _passage_ids(row: Mapping[str, Any]) -> tuple[str, ...] | None:
    given = row.get("passage_ids", row.get("passages"))
    if given is None:
        return None
    items = given if isinstance(given, list | tuple) else [None]
    ids = [_id_of(item) if isinstance(item, Mapping) else item for item in items]
    texts = tuple(item for item in ids if isinstance(item, str))
    if len(texts) < len(ids):
        raise FieldError(
            "'passage_ids' must be a list of ids, or 'passages' a list of objects with "
            f"'passage_id'; found {show(given)}"
        )
    return texts


def _contexts(row: Mapping[str, Any]) -> tuple[Passage, ...] | None:
    given = row.get("contexts")
    if given is None:
        return None
    if not isinstance(given, list | tuple):
        raise FieldError(f"'contexts' must be a list of texts or objects, found {show(given)}")
    return tuple(_passage(item, "contexts") for item in given)


def _steps(row: Mapping[str, Any]) -> tuple[Hop, ...] | None:
    given = cell_value(row.get("steps"))
    if given is None:
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
    passages = tuple(_passage(item, name) for item in items)
    return Hop(query, passages, _tokens(step), _number(step, "latency_s"))


def _tokens(step: Row) -> int | None:
    value = step.get("tokens")
    if value is not None and (type(value) is not int or not 0 <= value < 2**63):
        raise FieldError(f"'tokens' must be a whole number of 0 or more, found {show(value)}")
    return value


def cell_value(cell: Any) -> Any:
    """Return the data in a cell of a table, where lists and objects are JSON; None if it is blank.

    >>> cell_value('{"cost": 2}'), cell_value("much"), cell_value(" ")
    ({'cost': 2}, 'much', None)
    """
    if not isinstance(cell, str):
        return cell
    try:
        return parse_json(cell.encode()) if cell.strip() else None
    except ValueError:
        return cell


def _usage(row: Mapping[str, Any]) -> dict[str, Any]:
    usage = row.get("usage")
    if not isinstance(usage, Mapping | None):
        raise FieldError(
            f"'usage' must be an object such as {{'tokens_in': 210}}, found {show(usage)}"
        )
    held = {**row, **(usage or {})}
    found = {name: _number(held, name) for name in _USAGE}
    return {name: _USAGE[name](value) for name, value in found.items() if value is not None}


def _confidence(row: Mapping[str, Any]) -> float | None:
    value = _number(row, "confidence")
    if value is not None and value > 1:
        raise FieldError(f"'confidence' must be a number from 0 to 1, found {show(value)}")
    return value


def _number(row: Mapping[str, Any], name: str) -> float | None:
    value = row.get(name)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value < 0:
        raise FieldError(f"{name!r} must be a number of 0 or more, found {show(value)}")
    return float(value)


def _passage(item: object, name: str) -> Passage:
    """Return an item of the list `name`: a text, an id, or an object with `text`, `id` or both.

    A text is an id in `passage_ids`, and in `passages` if it has no white space.

    >>> _passage("p7", "passages"), _passage("It sank.", "passages")
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
    passage_id, text = _id_of(given) or "", given.get("text") or ""
    if not (isinstance(passage_id, str) and isinstance(text, str) and (passage_id or text)):
        raise FieldError(
            f"an item of {name!r} must be a text, or an object with 'text', 'id' or both, found "
            f"{show(item)}"
        )
    return Passage(passage_id, text)


def _id_of(item: Mapping[str, Any]) -> Any:
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
