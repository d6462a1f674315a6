"""The data of an experiment for a tracker."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragstone.core import limits
from ragstone.results.kept_board import write_report
from ragstone.results.passport import make_passport
from ragstone.results.passport_file import digest, write_passport
from ragstone.results.passport_numbers import flat, numbered
from ragstone.results.reader import StoredResults


@dataclass(frozen=True)
class TrackedRun:
    """Parameters, numbers and files of the results of one experiment."""

    experiment: str
    """The name of the experiment, or of the file that describes several data sets."""
    name: str
    key: str
    """Equal for equal results: a tracker keeps one run of each."""
    parameters: Mapping[str, str]
    numbers: Mapping[str, float]
    """`system/setting/metric` and, below it, `low`, `high`, `n` and `failed`."""
    files: tuple[Path, ...]
    """The report and the passport."""


def tracked_run(results: StoredResults, folder: Path) -> TrackedRun:
    """Return the data for a tracker; the report and the passport are written to a folder."""
    passport = make_passport(results)
    files = (
        write_report(results, folder / "report.html"),
        write_passport(passport, folder / "passport.json"),
    )
    return TrackedRun(
        results.record.campaign or results.name,
        results.name,
        digest([results.name, [step["digest"] for step in passport["steps"]]])[:32],
        {key: _short(value) for key, value in _parameters(passport)},
        dict(_numbers(passport["numbers"])),
        files,
    )


def plain_name(name: str) -> str:
    """Return a name with the characters that trackers allow.

    >>> plain_name("bm25/retrieved(3)/R@10"), plain_name("e5 + Qwen3-0.6B/gold/Match/low")
    ('bm25/retrieved_3/R_10', 'e5_Qwen3-0.6B/gold/Match/low')
    """
    parts = ("".join(c if c.isalnum() or c in "-." else " " for c in p) for p in name.split("/"))
    return "/".join("_".join(part.split()) for part in parts)


def _parameters(passport: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "ragstone", passport["ragstone"]
    yield "data.digest", passport["data"].get("digest", "")
    for key, value in flat(passport["experiment"]):
        if key == "systems":
            for system in value:
                yield from flat(system, f"systems.{plain_name(system['name'])}.")
        elif value not in (None, []):
            yield key, value


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    most = limits.TRACKED_CHARACTERS
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _numbers(tables: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield each mean with its interval and counts; names that become equal get a number."""
    taken: set[str] = set()
    for (_, system, setting, metric), row in numbered(tables).items():
        if row.get("mean") is None:
            continue
        name = plain_name("/".join(part for part in (system, setting, metric) if part))
        while name in taken:
            name += "_"
        taken.add(name)
        yield name, row["mean"]
        if row["interval"]:
            yield f"{name}/low", row["interval"][0]
            yield f"{name}/high", row["interval"][1]
        yield f"{name}/n", row["n"]
        yield f"{name}/failed", row["failed"]
