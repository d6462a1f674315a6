"""Failures by class: which answers and verdicts are missing, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ragstone.results.reader import StoredResults
from ragstone.results.same_rows import SameRows
from ragstone.results.wording import plain_reason


@dataclass(frozen=True, slots=True)
class FailureClass:
    """The failures with one reason, of the answers of one trial or of a judge's verdicts on it."""

    what: str
    """`answer`, or the name of a judge."""
    system: str
    setting: str
    reason: str
    """The reason without the parts that vary between calls."""
    n: int
    of: int
    """Number of answers, or of verdicts."""


def failure_classes(results: StoredResults, same: SameRows) -> list[FailureClass]:
    """Return the failures by trial, the most frequent reasons first; shared answers count once."""
    return [*_answers(results, same), *_verdicts(results, same)]


def _answers(results: StoredResults, same: SameRows) -> Iterator[FailureClass]:
    for trial in results.trials:
        if same.is_first(trial.system, trial.setting):
            of = trial.usage.answered + trial.usage.failed
            yield from _classes("answer", trial.system, trial.setting, trial.unanswered, of)


def _verdicts(results: StoredResults, same: SameRows) -> Iterator[FailureClass]:
    for trial in results.record.trials:
        if not same.is_first(trial.system, trial.setting):
            continue
        for folder in dict.fromkeys(f for one in trial.every for f in one.verdicts):
            found = results.manifests.get(folder, {})
            if found.get("failed") and found.get("reasons"):
                judge = results.part_name(folder)
                reasons, of = found["reasons"], found["rows"]
                yield from _classes(judge, trial.system, trial.setting, reasons, of)


def _classes(
    what: str, system: str, setting: str, reasons: Mapping[str, int], of: int
) -> Iterator[FailureClass]:
    found: Counter[str] = Counter()
    for reason, n in reasons.items():
        found[plain_reason(reason)] += n
    for reason, n in found.most_common():
        yield FailureClass(what, system, setting, reason, n, of)
