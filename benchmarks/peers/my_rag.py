"""The system under test: a function that returns recorded answers, and fails for some queries.

It needs the standard library alone, because it runs in the environment of every peer.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def read_rows() -> list[dict[str, Any]]:
    """Return the queries with gold answers and recorded answers: the file `PEER_ROWS`."""
    lines = Path(os.environ["PEER_ROWS"]).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


ROWS = read_rows()
_KNOWN = {row["query"]: row for row in ROWS}


def answer(query: str) -> str:
    """Return the recorded answer of a query, or raise if its row has `fails`."""
    row = _KNOWN[query]
    if row["fails"]:
        raise RuntimeError("500 Internal Server Error")
    return str(row["answer"])


def hand_over(**printed: Any) -> None:
    """Print what the tool's own summary says, as a line of JSON that __main__.py reads."""
    print("summary:", json.dumps(printed))
