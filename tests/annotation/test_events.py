"""Events as a browser sends them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragstone.annotation.events import read_events
from ragstone.data.readers.rows import FieldError
from ragstone.web import limits


def event(**values: Any) -> dict[str, Any]:
    """Return the JSON of an event."""
    return {"client_id": "a", "kind": "label", "item_id": "q", **values}


@pytest.mark.parametrize(
    ("posted", "problem"),
    [
        ([event()] * (limits.POSTED_EVENTS + 1), "at most 1,000 events"),
        (event(value="x" * limits.EVENT_VALUE_BYTES), "event 1: the field 'value' is larger"),
        (event(part="x" * (limits.EVENT_ID_CHARACTERS + 1)), "'part' has more than 500"),
        (event(kind="reply"), "must be one of"),
        (event(client_id="a\0"), "'client_id' has the character NUL"),
        (event(item_id="q\0"), "'item_id' has the character NUL"),
        (event(kin="x"), "unknown field 'kin'"),
    ],
)
def test_what_is_wrong_with_an_event_is_named(posted: Any, problem: str) -> None:
    """The number of the event, the field and the value."""
    with pytest.raises(FieldError, match=problem):
        read_events(json.dumps(posted).encode())
