"""Causes and gains as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ragstone.results.causes.found import FoundCauses, causes_of
from ragstone.results.causes.gains import gains_of
from ragstone.results.reader import StoredResults


def causes_document(results: StoredResults, found: FoundCauses | None = None) -> dict[str, Any]:
    """Return causes, gains, wrong answers and marks as plain data (`show --causes --json`).

    Gains are those of the trials that `found` has; docs/causes.md lists the keys.
    """
    found = causes_of(results) if found is None else found
    trials = {(one.system, one.setting) for one in found.counts}
    gains = [one for one in gains_of(results) if (one.system, one.setting) in trials]
    return {
        "causes": [asdict(one) for one in found.shares],
        "gains": [asdict(one) for one in gains],
        "queries": [asdict(one) for one in found.queries],
        "marks": [asdict(one) for one in found.marks],
    }
