"""The reply of a system to a query that is not of a data set."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.types import Context, Prediction


@dataclass(frozen=True, slots=True)
class LiveReply:
    """A system's answer to a new query, the context that it is from, and the search text."""

    prediction: Prediction
    context: Context
    search: str = ""
    """Empty if the system retrieves by itself."""
