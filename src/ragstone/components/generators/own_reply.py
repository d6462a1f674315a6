"""The reply of your own system: its answer, and what it reports with it.

`answer` is required, null for a failure with its `reason`. The module
`ragstone.data.readers.reported` describes the other fields; unknown ones are ignored.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from ragstone.calls.types import AttemptError, Reply, token_count
from ragstone.data.readers.reported import read_reported
from ragstone.data.readers.rows import FieldError, show
from ragstone.types import Prediction, Reported

FIELDS: Final = ("answer", "passage_ids", "passages", "contexts", "steps", "usage", "confidence")
"""Fields of a reply that are read."""


def read_answer(value: object, name: str) -> Reply:
    """Return the reply for a value that your own system returned.

    The value is a text, a `Prediction`, or a mapping of the form of this module.

    >>> read_answer({"answer": "1912", "passage_ids": ["p7"]}, "mine").passage_ids
    ('p7',)

    Raises:
        AttemptError: the value has another form, or is a failed prediction.
    """
    if isinstance(value, str):
        return Reply(value)
    if isinstance(value, Prediction):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if not isinstance(value, Mapping):
        kind = type(value).__name__
        raise AttemptError(
            f"{name} returned {kind} ({show(value)}); expected a text, or a mapping with 'answer'",
            kind="unreadable",
        )
    answer = value.get("answer")
    if "answer" in value and answer is None:
        raise AttemptError(f"{name} failed: {value.get('reason') or 'no reason given'}")
    if not isinstance(answer, str):
        keys = ", ".join(sorted(map(str, value))) or "nothing"
        raise AttemptError(
            f"{name} returned no text under 'answer'; it returned: {keys}", kind="unreadable"
        )
    try:
        return _reply(answer, value)
    except FieldError as error:
        raise AttemptError(
            f"{name} returned a reply of an unexpected shape: {error}", kind="unreadable"
        ) from error


def _reply(answer: str, value: Mapping[str, Any]) -> Reply:
    found = read_reported(value)
    tokens_in, tokens_out = (found.pop(name, None) for name in ("tokens_in", "tokens_out"))
    passage_ids, reported = found.pop("passage_ids"), Reported(**found)
    return Reply(
        answer,
        tokens_in=token_count(tokens_in),
        tokens_out=token_count(tokens_out),
        passage_ids=passage_ids,
        reported=None if reported == Reported() else reported,
    )
