"""The reply of your own system: its answer, context, steps, usage and confidence.

    {"answer": "In 1912.", "passage_ids": ["p7"], "contexts": [{"id": "p7", "text": "..."}],
     "steps": [{"query": "When did it sink?", "passages": ["p7", "p2"]}],
     "usage": {"tokens_in": 210, "tokens_out": 4, "cost": 0.0002, "seconds": 0.8},
     "confidence": 0.9}

`answer` is required, null for a failure. An item of `contexts` is a text or an object with `text`,
`id` or both. `passages` is another name of `passage_ids`. Other fields are ignored. The module
`ragstone.data.readers.reported_steps` describes `steps`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ragstone.calls.types import AttemptError, Reply, token_count
from ragstone.data.readers.reported_steps import id_of, read_passage, read_steps
from ragstone.data.readers.reported_usage import read_confidence, read_usage
from ragstone.data.readers.rows import FieldError, show
from ragstone.types import Passage, Prediction, Reported

FIELDS: Final = ("answer", "passage_ids", "passages", "contexts", "steps", "usage", "confidence")
"""Fields of a reply that are read."""


_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""Half a character, as a text cut by another program may have; no file can hold it."""


class Sources(NamedTuple):
    """The passages that a system reports: all ids, and the context of its answer."""

    passage_ids: tuple[str, ...] | None
    contexts: tuple[Passage, ...] | None


def read_answer(value: object, name: str) -> Reply:
    """Return the reply for a value that your own system returned.

    The value is a text, a `Prediction`, or a mapping of the form of this module.

    >>> read_answer({"answer": "1912", "passage_ids": ["p7"]}, "mine").passage_ids
    ('p7',)

    Raises:
        AttemptError: the value has another form, or is a failed prediction.
    """
    if isinstance(value, Prediction):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, str):
        return Reply(_writable(value))
    if not isinstance(value, Mapping):
        kind = type(value).__name__
        raise AttemptError(
            f"{name} returned {kind} ({show(value)}); expected a text, or a mapping with 'answer'",
            kind="unreadable",
        )
    given: dict[str, Any] = _writable(value)
    answer = given.get("answer")
    if "answer" in given and answer is None:
        raise AttemptError(f"{name} failed: {given.get('reason') or 'no reason given'}")
    if not isinstance(answer, str):
        keys = ", ".join(sorted(map(str, given))) or "nothing"
        raise AttemptError(
            f"{name} returned no text under 'answer'; it returned: {keys}", kind="unreadable"
        )
    try:
        return _reply(answer, given)
    except FieldError as error:
        raise AttemptError(
            f"{name} returned a reply of an unexpected shape: {error}", kind="unreadable"
        ) from error


def _writable(value: Any) -> Any:
    r"""Return a value whose texts have U+FFFD for a lone surrogate, as those of a service have.

    >>> _writable({"answer": "cut: \ud83d"}) == {"answer": "cut: \ufffd"}
    True
    """
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {name: _writable(item) for name, item in value.items()}
    return list(map(_writable, value)) if isinstance(value, list | tuple) else value


def _reply(answer: str, value: Mapping[str, Any]) -> Reply:
    sources, usage = read_sources(value), read_usage(value)
    reported = Reported(
        contexts=sources.contexts,
        confidence=read_confidence(value),
        cost=usage.get("cost"),
        seconds=usage.get("seconds"),
        steps=read_steps(value),
    )
    return Reply(
        answer,
        tokens_in=token_count(usage.get("tokens_in")),
        tokens_out=token_count(usage.get("tokens_out")),
        passage_ids=sources.passage_ids,
        reported=None if reported == Reported() else reported,
    )


def read_sources(row: Mapping[str, Any]) -> Sources:
    """Return the passages of a reply.

    As many texts without ids as `passage_ids` have these ids. If every text has an id of its own,
    `passage_ids` may be absent.

    >>> read_sources({"passage_ids": ["p7"], "contexts": ["It sank."]}).contexts
    (Passage(passage_id='p7', text='It sank.'),)

    Raises:
        FieldError: `passage_ids`, `passages` or `contexts` has another form.
    """
    ids, contexts = _passage_ids(row), _contexts(row)
    if contexts is None:
        return Sources(ids, None)
    if ids is None and all(passage.passage_id for passage in contexts):
        ids = tuple(passage.passage_id for passage in contexts)
    elif ids and len(ids) == len(contexts) and not any(p.passage_id for p in contexts):
        contexts = tuple(Passage(i, p.text) for i, p in zip(ids, contexts, strict=True))
    return Sources(ids, contexts)


def _passage_ids(row: Mapping[str, Any]) -> tuple[str, ...] | None:
    given = row.get("passage_ids", row.get("passages"))
    if given is None:
        return None
    items = given if isinstance(given, list | tuple) else [None]
    ids = [id_of(item) if isinstance(item, Mapping) else item for item in items]
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
    return tuple(read_passage(item, "contexts") for item in given)
