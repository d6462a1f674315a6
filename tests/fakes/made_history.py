"""Passports of made-up runs of one experiment, for tests of histories."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.fakes.made_results import made_results

from ragstone.results.passport import make_passport

Change = Callable[[dict[str, Any]], None]


def made_passports(
    root: Path, runs: int = 6, changes: dict[int, Change] | None = None, texts: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Return a passport per day, whose means rise by 0.02 from run to run.

    `changes` maps the number of a run, from 0, to a change that stays in all later runs.
    """
    systems = texts[:2] or ("bm25 + small", "dense + small")
    results = made_results(root, systems=systems, settings=["none", "gold"], texts=texts)
    passport = make_passport(results)
    passport["experiment"]["systems"] = [{"name": name} for name in passport["systems"]]
    found = []
    for run in range(runs):
        if change := (changes or {}).get(run):
            change(passport)
        made = copy.deepcopy(passport)
        made["finished"] = f"2026-03-{run + 1:02}T10:04:31+00:00"
        made["checksum"] = f"checksum {run}"
        for entry in made["experiment"]["systems"]:
            entry["release"] = f"v1.{run // 2}"
        for row in (*made["numbers"]["leaderboard"], *made["numbers"]["retrieval"]):
            if row["mean"] is not None:
                row["mean"] += 0.02 * run
                row["interval"] = [row["mean"] - 0.06, row["mean"] + 0.05]
        found.append(made)
    return found
