"""Gains of trained generators: the same queries before and after, per data set and setting.

Each difference is paired by query, and all differences of all models are corrected together. What
became worse comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ragstone.core.schemas import GAINS, to_table
from ragstone.core.tables import Tabular, TextTable
from ragstone.errors import StoreError
from ragstone.results.charts.means import rows_chart
from ragstone.results.charts.parts import Spec, mean_fields, means_domain
from ragstone.results.trained_parts import trained_sentences
from ragstone.results.wording import ABSENT, number, signed_interval
from ragstone.statistics.failures import difference_between, summarise_scores
from ragstone.statistics.paired import Correction, Difference, adjust
from ragstone.statistics.significance import Family, judge
from ragstone.statistics.summary import Summary, clusters_of
from ragstone.types import brief

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.results.reader import StoredResults
    from ragstone.statistics.failures import Scale
    from ragstone.types import Score

BEFORE: Final = "before"
AFTER: Final = "after"
"""The names of the systems without and with the training."""
GainOutcome: TypeAlias = Literal["better", "worse", "changed", "undecided"]
_MEANINGS: Final = (
    ("false-fact", "knowledge conflict"),
    ("gold+injected", "planted attacks"),
    ("gold+noise", "robustness to noise"),
    ("noise(", "no answer in the passages"),
    ("none", "closed book"),
)
"""Part of a setting's name -> what it measures."""


@dataclass(frozen=True, slots=True)
class TrainingGain:
    """One metric of one model on one data set under one setting, before and after."""

    model: str
    data: str
    setting: str
    metric: str
    before: Summary
    after: Summary
    difference: Difference
    adjusted_p: float
    outcome: GainOutcome
    """`changed` is a difference of a metric without a better direction, such as refusal."""
    better: int
    """1 if a higher value is better, -1 if a lower one is, 0 if neither is."""

    @property
    def cell(self) -> str:
        """The value after the training with the gain in brackets, as in BERGEN's table 3."""
        gain = signed_interval(self.difference.difference, self.difference.interval)
        mark = "" if self.outcome == "undecided" else "*"
        return f"{number(self.after.mean)}{mark} ({gain})"

    @property
    def change(self) -> str:
        """The change of the metric in words."""
        gain = signed_interval(self.difference.difference, self.difference.interval)
        failed = self.before.failed, self.after.failed
        more = f", failed {failed[0]:,} before, {failed[1]:,} after" if any(failed) else ""
        return (
            f"{self.metric} {number(self.before.mean)} before, {number(self.after.mean)} after "
            f"({gain}, corrected p {_p(self.adjusted_p)}, n {self.difference.n:,}{more})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded."""
        found = self.difference
        return {
            **{name: getattr(self, name) for name in ("model", "data", "setting", "metric")},
            "before": self.before.mean,
            "before_interval": self.before.interval,
            "after": self.after.mean,
            "after_interval": self.after.interval,
            "gain": found.difference,
            "interval": found.interval,
            "n": found.n,
            "p": found.p,
            "adjusted_p": self.adjusted_p,
            "outcome": self.outcome,
            "wins": found.wins,
            "losses": found.losses,
            "failed_before": self.before.failed,
            "failed_after": self.after.failed,
        }


@dataclass(frozen=True)
class TrainingGains(Tabular):
    """The gains of some trained models."""

    gains: tuple[TrainingGain, ...]
    models: Mapping[str, Mapping[str, Any]]
    """Model -> its base, folder, digest and experiment file."""
    correction: Correction
    not_finished: tuple[str, ...] = ()
    """Experiments whose run has not ended."""
    seen: tuple[str, ...] = ()
    """Sentences on queries that a training has seen."""

    def __repr__(self) -> str:
        """Return one line: the models and the number of gains."""
        return brief(self, ", ".join(self.models), f"{len(self.gains):,} gains")

    def of_outcome(self, outcome: GainOutcome) -> list[TrainingGain]:
        """Return the gains with an outcome."""
        return [one for one in self.gains if one.outcome == outcome]

    @property
    def metrics(self) -> list[str]:
        """The metrics in order."""
        return list(dict.fromkeys(one.metric for one in self.gains))

    def lines(self, outcome: GainOutcome) -> list[str]:
        """Return the gains with an outcome in words: a line per model, data set and setting."""
        found: dict[str, list[str]] = {}
        for one in self.of_outcome(outcome):
            place = f"{one.model}, {one.data}, {described(one.setting)}"
            found.setdefault(place, []).append(one.change)
        return [f"{place}: {'; '.join(changes)}" for place, changes in found.items()]

    @property
    def lead(self) -> list[str]:
        """What became worse in words, then the changes that are neither better nor worse."""
        worse, unshown = self.lines("worse"), self.of_outcome("undecided")
        lower = sum(one.better * one.difference.difference < 0 for one in unshown)
        lines = [f"WORSE after training: {line}" for line in worse]
        lines = lines or ["Nothing is shown to be worse after training."]
        if lower:
            lines.append(f"{lower:,} further means became worse, which no test shows.")
        return [*lines, *(f"Changed: {line}" for line in self.lines("changed"))]

    def parts(self) -> Iterator[str | TextTable]:
        """Yield what became worse, queries that were learned, and the table of all gains."""
        if self.not_finished:
            names = ", ".join(self.not_finished)
            yield f"NOT FINISHED: {names}; run the same command again to resume"
        yield "\n".join([*self.lead, *self.seen])
        yield self.table

    @property
    def table(self) -> TextTable:
        """One row per setting, data set and model, one column per metric."""
        rows: dict[tuple[str, str, str], dict[str, TrainingGain]] = {}
        for one in self._in_order():
            rows.setdefault((one.setting, one.data, one.model), {})[one.metric] = one
        lines = [
            [*place, *(_cell(of.get(metric)) for metric in self.metrics), _sizes(of.values())]
            for place, of in rows.items()
        ]
        tests = f"({self.correction}, {len(self.gains):,} tests)"
        return TextTable(
            ["setting", "data", "model", *self.metrics, "n"],
            lines,
            "After training (gain over the base [95 % interval])",
            [
                f"* the difference is shown: corrected p below 0.05 {tests}",
                *(f"{name}: {_origin(facts)}" for name, facts in self.models.items()),
            ],
        )

    def _in_order(self) -> list[TrainingGain]:
        """Return the gains by setting and data set, the models of both below each other."""
        settings = list(dict.fromkeys(one.setting for one in self.gains))
        data = list(dict.fromkeys(one.data for one in self.gains))
        return sorted(self.gains, key=lambda g: (settings.index(g.setting), data.index(g.data)))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded (docs/train-gains.md lists the keys)."""
        return {
            "models": {name: dict(facts) for name, facts in self.models.items()},
            "correction": self.correction,
            "tests": len(self.gains),
            "worse": self.lines("worse"),
            "changed": self.lines("changed"),
            "gains": [one.to_dict() for one in self.gains],
            "seen": list(self.seen),
            "not_finished": list(self.not_finished),
        }

    def to_arrow(self, *, summary: bool = False) -> Table:
        """Return one row per gain, with and without `summary`."""
        rows = []
        for one in map(TrainingGain.to_dict, self.gains):
            low, high = one["interval"] or (None, None)
            rows.append({**one, "low": low, "high": high})
        return to_table(GAINS, {name: [row[name] for row in rows] for name in GAINS.names})

    def chart(self, metric: str = "") -> Spec:
        """Return the means before and after of one metric (default: the first)."""
        chosen = metric or next(iter(self.metrics), "")
        several = len(self.models) > 1, len({one.data for one in self.gains}) > 1
        points = [
            {"row": " · ".join(row), "name": name, **mean_fields(summary)}
            for one in self.gains
            if one.metric == chosen
            for row in [[one.setting, *[one.data] * several[1], *[one.model] * several[0]]]
            for name, summary in ((BEFORE, one.before), (AFTER, one.after))
            if summary.mean is not None
        ]
        title = f"{chosen} before and after training"
        titles = {"row": "Setting", "name": "Generator"}
        domain = means_domain(points) if points else (0, 1)
        return rows_chart(points, titles, title, domain=domain) | {"title": title}


def training_gains(
    found: Mapping[str, Sequence[StoredResults]],
    models: Mapping[str, Mapping[str, Any]],
    correction: Correction = "holm",
) -> TrainingGains:
    """Return the gains of models, corrected over all of them.

    Args:
        found: model -> results per data set, each with the systems `before` and `after`.
        models: model -> facts about it.
        correction: multiple-testing correction of the p values.

    Raises:
        StoreError: no setting has answers of both systems.
    """
    gaps = [gap for model, every in found.items() for one in every for gap in _gaps(model, one)]
    if not gaps:
        raise StoreError("no setting has answers both before and after the training")
    corrected = adjust([gap.difference.p for gap in gaps], correction)
    family = Family(0.05, len(gaps), correction)
    return TrainingGains(
        tuple(gap.judged(p, family) for gap, p in zip(gaps, corrected, strict=True)),
        models,
        correction,
        tuple(one.name for every in found.values() for one in every if not one.finished),
        tuple(
            f"{model}, {one.record.data.name}: {sentence}"
            for model, every in found.items()
            for one in every
            for sentence in trained_sentences(one.record.trained)
        ),
    )


def described(setting: str) -> str:
    """Return a setting with what it measures.

    >>> described("none"), described("gold+noise(4)"), described("own")
    ('none (closed book)', 'gold+noise(4) (robustness to noise)', 'own')
    """
    meaning = next((text for part, text in _MEANINGS if part in setting), "")
    return f"{setting} ({meaning})" if meaning else setting


@dataclass(frozen=True, slots=True)
class _Gap:
    place: tuple[str, str, str, str]
    before: Summary
    after: Summary
    difference: Difference
    scale: Scale
    better: int
    """1 if a higher value is better, -1 if a lower one is, 0 if neither is."""

    def judged(self, p: float, family: Family) -> TrainingGain:
        failed = self.before.failed, self.after.failed
        pair = judge(BEFORE, AFTER, self.difference, p, family, scale=self.scale, failed=failed)
        outcome: GainOutcome = "undecided"
        if pair.significant:
            rises = (self.difference.difference > 0) == (self.better > 0)
            outcome = "changed" if not self.better else "better" if rises else "worse"
        sides = self.before, self.after
        return TrainingGain(*self.place, *sides, self.difference, p, outcome, self.better)


def _gaps(model: str, results: StoredResults) -> Iterator[_Gap]:
    """Yield the differences of all answer metrics under all settings."""
    trials = {(trial.system, trial.setting): trial for trial in results.trials}
    for setting in results.settings:
        if (BEFORE, setting) not in trials or (AFTER, setting) not in trials:
            continue
        before, after = trials[BEFORE, setting].scores, trials[AFTER, setting].scores
        for metric in (name for name in before if name in after):
            scale = results.record.scale(metric)
            sides = before[metric], after[metric]
            found = difference_between(*sides, scale, results.clusters)
            if found is None:
                continue
            first, second = (_summary(side, scale, results.clusters) for side in sides)
            better = _better(results, setting, metric)
            place = model, results.record.data.name, setting, metric
            yield _Gap(place, first, second, found, scale, better)


def _summary(scores: Mapping[str, Score], scale: Scale, clusters: Mapping[str, str]) -> Summary:
    values, statuses = zip(*((one.value, one.status) for one in scores.values()), strict=True)
    return summarise_scores(values, statuses, scale, clusters=clusters_of(list(scores), clusters))


def _better(results: StoredResults, setting: str, metric: str) -> int:
    """Return 1 if a higher value is better, -1 if a lower one is, 0 if neither is.

    To refuse is better if no gold passage is shown among misleading ones, and worse if gold
    passages are shown. It is neither without context, nor if labels name unanswerable queries.
    """
    is_without_answer = setting.startswith("noise(")
    if metric == "answerability" and is_without_answer:
        return 0
    if metric != "refusal":
        return {"higher": 1, "lower": -1}.get(results.record.metric(metric).direction, 0)
    if is_without_answer:
        return 1
    is_labelled = any("answerability" in query.labels for query in results.queries.values())
    return -1 if setting.startswith("gold") and not is_labelled else 0


def _p(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"  # noqa: PLR2004 - the least p that is shown


def _cell(gain: TrainingGain | None) -> str:
    return ABSENT if gain is None else gain.cell


def _sizes(gains: Iterable[TrainingGain]) -> str:
    sizes = sorted({one.difference.n for one in gains})
    return " to ".join(f"{n:,}" for n in dict.fromkeys((sizes[0], sizes[-1])))


def _origin(facts: Mapping[str, Any]) -> str:
    """Return the facts about a model as a line, its digest in short."""
    shown = {**facts, "digest": str(facts.get("digest", ""))[:12]}
    return ", ".join(f"{name} {value}" for name, value in shown.items() if value)
