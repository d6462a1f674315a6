"""Payloads of spans: texts, messages and documents in the shapes that frameworks write them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from ragstone.data.readers.reported import cell_value
from ragstone.data.readers.traces.span import TracedPassage

_QUERIES: Final = ("query", "question", "user_input", "input", "prompt", "text", "content")
_ANSWERS: Final = ("answer", "response", "output", "result", "completion", "text", "content")
_LISTS: Final = ("documents", "source_documents", "passages", "results", "matches", "nodes")
_IDS: Final = ("id", "passage_id", "document_id", "doc_id", "chunk_id", "_id", "id_")
_TEXTS: Final = ("content", "text", "page_content", "pageContent", "chunk")
_SCORES: Final = ("score", "relevance_score", "similarity")
_USERS: Final = frozenset({"user", "human"})
_ASSISTANTS: Final = frozenset({"assistant", "ai", "model", "agent"})
_ROLES: Final = _USERS | _ASSISTANTS | {"system", "developer", "tool", "function"}
_DIGITS: Final = 10
"""A place in a list has fewer digits."""
_INEXACT_FROM: Final = 2**53
"""Whole numbers from here on are not exact in JSON."""
HIDDEN: Final = "__REDACTED__"
"""The value that OpenInference writes in place of a hidden text."""


def loaded(value: Any) -> Any:
    """Return the data of a JSON text; any other value is returned unchanged.

    >>> loaded('{"query": "Why?"}'), loaded("Why?")
    ({'query': 'Why?'}, 'Why?')
    """
    is_json = isinstance(value, str) and value[:1] in ("{", "[", '"')
    return cell_value(value) if is_json else value


def query_text(value: Any) -> str:
    """Return the query in an input: a text, messages, or an object with a usual field; else "".

    >>> query_text([{"role": "user", "content": "Why?"}]), query_text({"a": 1, "b": 2})
    ('Why?', '')
    """
    return _text(value, _QUERIES, _USERS)


def answer_text(value: Any) -> str:
    """Return the answer in an output; an object of another shape is returned as its JSON.

    >>> answer_text({"answer": "1912", "sources": []}), answer_text({"year": 1912, "sure": True})
    ('1912', '{"year":1912,"sure":true}')
    """
    found = _text(value, _ANSWERS, _ASSISTANTS)
    is_other = isinstance(value, dict) and not _messages(value) and len(value) > 1
    return found or (orjson.dumps(value, default=str).decode() if is_other else "")


def _text(value: Any, names: Sequence[str], roles: frozenset[str]) -> str:
    """Return the text of a value, of the last message of these roles, or of the first field."""
    for _ in range(_NESTED):
        if isinstance(value, str):
            return "" if value == HIDDEN else value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        if messages := _messages(value):
            texts = [message_text(m) for m in messages if _role(m) in roles]
            return next((text for text in reversed(texts) if text), "")
        if isinstance(value, list):
            return message_text({"content": value})
        if not isinstance(value, dict):
            return ""
        known = [value[name] for name in names if value.get(name) is not None]
        value = known[0] if known else next(iter(value.values())) if len(value) == 1 else None
    return ""


_NESTED: Final = 5
"""Objects within each other in which a text is searched: frameworks wrap it once or twice."""


def _messages(value: Any) -> list[Mapping[str, Any]]:
    """Return the chat messages that a value is or contains."""
    if isinstance(value, dict):
        inner = value.get("messages")
        value = inner if isinstance(inner, list) else [value] if "role" in value else []
    if not isinstance(value, list):
        return []
    if len(value) == 1 and isinstance(value[0], list):
        value = value[0]  # LangChain writes one list of messages per prompt of a batch.
    found: list[Mapping[str, Any]] = [item for item in value if isinstance(item, dict)]
    return found if found and all(_role(item) in _ROLES for item in found) else []


def _role(message: Mapping[str, Any]) -> str:
    return str(message.get("role") or message.get("type") or "").lower()


def message_text(message: Mapping[str, Any]) -> str:
    """Return the text of a chat message, without reasoning, tool calls and pictures.

    >>> message_text({"role": "user", "parts": [{"type": "text", "content": "Why?"}]})
    'Why?'
    """
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        return "" if content == HIDDEN else content
    parts = content if isinstance(content, list) else [content]
    texts = [part if isinstance(part, str) else _part_text(part) for part in parts]
    return "\n".join(text for text in texts if text)


def _part_text(part: Any) -> str:
    if not isinstance(part, dict) or part.get("type", "text") not in ("text", "output_text"):
        return ""
    found = part.get("content", part.get("text"))
    return found if isinstance(found, str) and found != HIDDEN else ""


def all_texts(value: Any) -> str:
    r"""Return every text in a payload, one per line.

    >>> all_texts([{"role": "user", "content": ["a", {"text": "b"}]}])
    'user\na\nb'
    """
    return "\n".join(_strings(value))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def indexed(attributes: Mapping[str, Any], prefix: str, noun: str = "") -> list[Any]:
    """Return a list that is written as one attribute per item and field, or as one JSON text.

    Args:
        attributes: the attributes of a span.
        prefix: the name of the list.
        noun: a word that every field begins with, which is left out.

    >>> indexed({"docs.0.document.id": "p1", "docs.1.document.id": "p2"}, "docs", "document")
    [{'id': 'p1'}, {'id': 'p2'}]
    """
    if isinstance(whole := loaded(attributes.get(prefix)), list):
        return [_without(item, noun) if isinstance(item, dict) else item for item in whole]
    found: dict[int, dict[str, Any]] = {}
    start = f"{prefix}."
    for name, value in attributes.items():
        if name.startswith(start):
            place, _, rest = name[len(start) :].partition(".")
            if place.isdecimal() and len(place) < _DIGITS:
                found.setdefault(int(place), {})[rest] = value
    return [_without(found[place], noun) for place in sorted(found)]


def _without(item: Mapping[str, Any], noun: str) -> dict[str, Any]:
    return {str(name).removeprefix(f"{noun}."): value for name, value in item.items()}


def passages_in(value: Any) -> tuple[TracedPassage, ...]:
    """Return the passages in the output of a search.

    An item is a text, an object with a text, an id or both, or a pair of it and a score. The object
    may be inside `document` or `node`, and its id inside `metadata`.

    >>> passages_in({"documents": [{"page_content": "It sank.", "metadata": {"id": "p7"}}]})
    (TracedPassage(passage_id='p7', text='It sank.', score=None),)
    """
    if isinstance(value, dict):
        value = next((value[name] for name in _LISTS if isinstance(value.get(name), list)), None)
    items = value if isinstance(value, list | tuple) else ()
    return tuple(found for found in map(_passage, items) if found is not None)


def _passage(item: Any) -> TracedPassage | None:
    if isinstance(item, str):
        return TracedPassage(text=item)
    if isinstance(item, list | tuple) and len(item) == 2:  # noqa: PLR2004
        inner = _passage(item[0])
        return inner and TracedPassage(inner.passage_id, inner.text, number(item[1]))
    if not isinstance(item, dict):
        return None
    parts = _parts(item)
    passage_id, text = _first(parts, _IDS, str | int), _first(parts, _TEXTS, str)
    score = number(_first(parts, _SCORES, int | float | str))
    found = TracedPassage("" if passage_id is None else str(passage_id), text or "", score)
    return found if found.passage_id or found.text else None


def _parts(item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return an object and the objects in it that describe a passage, its own fields first."""
    found = [item]
    for name in ("document", "node", "metadata"):
        found += [inner for part in found if isinstance(inner := loaded(part.get(name)), dict)]
    return found


def _first(parts: Iterable[Mapping[str, Any]], names: Iterable[str], kind: Any) -> Any:
    """Return the first value of a kind under one of some names; an empty or hidden one is none."""
    values = (part.get(name) for part in parts for name in names)
    return next((v for v in values if isinstance(v, kind) and v not in ("", HIDDEN)), None)


def number(value: Any) -> float | None:
    """Return a finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def count(value: Any) -> int | None:
    """Return a number of tokens: whole and not negative, or None."""
    found = number(value)
    return None if found is None or not 0 <= found < _INEXACT_FROM else int(found)
