"""Facts about the judges of an experiment: parts shared with systems, and probes.

A note belongs beside every number of the judge's metrics.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from ragstone.evaluation.judge_independence import SharedPart, shared_sentences
from ragstone.evaluation.judge_probe_text import flagged_text, other_identity_text
from ragstone.evaluation.kept_probes import (
    JudgeIdentity,
    KeptProbe,
    flagged_probes,
    kept_probes,
)
from ragstone.results.metric_parts import metric_parts
from ragstone.results.reader import StoredResults
from ragstone.results.record import part_id

MARK: Final = "\N{DAGGER}"
"""Behind the name of a metric whose judge a kept probe has flagged."""
_SAME_JUDGE: Final = frozenset({"prompt", "parameters"})


@dataclass(frozen=True)
class JudgeFacts:
    """A judge of an experiment."""

    judge: str
    """The first of its metrics."""
    metrics: tuple[str, ...]
    shared: tuple[SharedPart, ...]
    probes: tuple[KeptProbe, ...]
    """The kept probes of this judge, the latest last."""
    others: tuple[KeptProbe, ...]
    """Those of the judge with the same models and another prompt or other parameters."""
    identity: JudgeIdentity

    @property
    def note(self) -> str:
        """The judge's gains by flagged probes, as a phrase, or ""."""
        flagged = flagged_probes(self.probes)
        return flagged_text(flagged) if flagged else ""

    @property
    def probed(self) -> str:
        """The results of its probes, or "" if it was never probed."""
        if self.note:
            return self.note
        if self.probes:
            data = ", ".join(dict.fromkeys(one.data for one in self.probes))
            return f"gains at most 0.05 by each probe ({data})"
        if self.others:
            last = self.others[-1:]
            return other_identity_text(last, self.identity.differences(last[0].identity))
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data (docs/probe.md)."""
        return {
            "judge": self.judge,
            "metrics": list(self.metrics),
            "shared": [asdict(one) for one in self.shared],
            "probed": self.probed,
            "flagged": bool(self.note),
            "probes": [
                {"data": one.data, "made": one.made, "probes": one.probes} for one in self.probes
            ],
        }


def judge_facts(results: StoredResults) -> list[JudgeFacts]:
    """Return the judges of an experiment, with their kept probes."""
    judges = [entry.name for entry in results.record.metrics if entry.kind == "judge"]
    if not judges:
        return []
    made: dict[str, Mapping[str, Any]] = {}
    metrics: defaultdict[str, list[str]] = defaultdict(list)
    for name, part in metric_parts(results, ("judge",)).items():
        key = part_id(part)
        made[key] = part
        metrics[key].append(name)
    kept = kept_probes(results.store)
    return [
        _facts(results, part, [m for m in judges if m in metrics[key]], kept)
        for key, part in made.items()
    ]


def _facts(
    results: StoredResults,
    made_by: Mapping[str, Any],
    metrics: list[str],
    kept: Iterable[KeptProbe],
) -> JudgeFacts:
    identity = JudgeIdentity.of(made_by, results.record.templates.get(part_id(made_by), {}))
    differing = [(one, identity.differences(one.identity)) for one in kept]
    names = {name for metric in metrics for name in (metric, metric.partition(":")[0])}
    return JudgeFacts(
        metrics[0],
        tuple(metrics),
        tuple(one for one in results.record.independence if one.judge in names),
        tuple(one for one, other in differing if not other),
        tuple(one for one, other in differing if other and _SAME_JUDGE.issuperset(other)),
        identity,
    )


def metric_notes(results: StoredResults) -> dict[str, str]:
    """Return metric -> gains of its judge by flagged probes; without metrics of other judges."""
    return {name: one.note for one in judge_facts(results) if one.note for name in one.metrics}


def with_notes(
    results: StoredResults, rows: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return rows of `leaderboard` with the key `judge_note` if there is a note on the metric."""
    notes = metric_notes(results)
    named = ((row, notes.get(row["metric"])) for row in rows)
    return [{**row, "judge_note": note} if note else row for row, note in named]


def judge_remarks(results: StoredResults) -> list[str]:
    """Return a sentence per thing that judges share, and per judge with kept probes that warn."""
    shared = shared_sentences(results.record.independence)
    probed = (
        f"judge {one.judge} {one.probed}"
        for one in judge_facts(results)
        if one.note or (one.others and not one.probes)
    )
    return [f"{line[0].upper()}{line[1:]}." for line in (*shared, *probed)]


def marked(metric: str, notes: Mapping[str, str]) -> str:
    """Return the name of a metric with a mark if there is a note on it.

    >>> marked("idk", {"idk": "gains 0.12 by long answers"})
    'idk†'
    """
    return f"{metric}{MARK}" if metric in notes else metric


def note_lines(metrics: Iterable[str], notes: Mapping[str, str]) -> list[str]:
    """Return a line below a table per note, with its metrics."""
    named: dict[str, list[str]] = {}
    for name in dict.fromkeys(metrics):
        if name in notes:
            named.setdefault(notes[name], []).append(name)
    return [f"{MARK} {', '.join(names)} {note}" for note, names in named.items()]
