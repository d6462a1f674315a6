"""The reply of your own system: its answer, and the report with it.

`answer` is required, null for a failure with its `reason`. The module
`ragstone.data.readers.reported` describes the other fields; unknown ones are ignored.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, Final

from ragstone.calls.reply_json import token_count
from ragstone.calls.types import AttemptError, Reply
from ragstone.data.readers.reported import read_reported
from ragstone.data.readers.rows import FieldError, show
from ragstone.types import Prediction, Reported

FIELDS: Final = ("answer", "passage_ids", "passages", "contexts", "steps", "usage", "confidence")
"""Fields of a reply that are read."""


_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""Half a character, as a text cut by another program may have; no file can contain it."""


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
