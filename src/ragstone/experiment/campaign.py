"""The experiments of one file with several data sets: checked, planned and run together."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from ragstone.experiment.kept_run import run_once
from ragstone.statistics.correctness import Correctness
from ragstone.types import brief

if TYPE_CHECKING:
    from ragstone.calls.client import Calls
    from ragstone.experiment.experiment import Experiment
    from ragstone.experiment.plan import Plan
    from ragstone.results.results import Results

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True)
class Campaign:
    """The same systems, settings and metrics on several data sets; or on one."""

    written: tuple[Experiment, ...]
    """The experiments as the file has them, one per data set."""

    def __repr__(self) -> str:
        """Return one line: the name and the data sets."""
        return brief(self, repr(self.name), *(one.member.data for one in self.written))

    @property
    def name(self) -> str:
        """The name of the file."""
        first = self.written[0]
        return first.member.campaign or first.file.name

    @cached_property
    def experiments(self) -> tuple[Experiment, ...]:
        """The experiments, each with the metrics and settings that its data set can have."""
        return tuple(self._fitted(one) for one in self.written)

    @cached_property
    def left_out(self) -> Mapping[str, Sequence[str]]:
        """Experiment -> why some metrics and settings of the file do not apply to its data set."""
        return {
            one.file.name: [
                f"{key.removesuffix('s')} {entries[place]} is not applicable: it {why}"
                for (key, place), why in self._problems[one.file.name].items()
                if (entries := getattr(one.file, key))
            ]
            for one in self.written
        }

    @cached_property
    def _problems(self) -> Mapping[str, Mapping[tuple[str, int], str]]:
        """Experiment -> key and place of an entry of the file -> why its data set cannot have it.

        Entries that no data set can have are not listed: each experiment's check raises the error.
        """
        if len(self.written) == 1:
            return {self.written[0].file.name: {}}
        from ragstone.data.collections import shared_corpora
        from ragstone.experiment.checks import data_problem, setting_problem

        with shared_corpora():
            data = [one.dataset for one in self.written]
        first = self.written[0]
        metrics = map(first.metric, first.file.metrics)
        settings = first.settings if first.file.settings else ()
        problems = {
            ("metrics", i): [data_problem(one, d) for d in data] for i, one in enumerate(metrics)
        } | {
            ("settings", i): [setting_problem(one, d) for d in data]
            for i, one in enumerate(settings)
        }
        some = {entry: of_data for entry, of_data in problems.items() if not all(of_data)}
        return {
            one.file.name: {entry: of_data[i] for entry, of_data in some.items() if of_data[i]}
            for i, one in enumerate(self.written)
        }

    def _fitted(self, one: Experiment) -> Experiment:
        """Return the experiment without the entries that its data set cannot have."""
        gone = self._problems[one.file.name]
        if not gone:
            return one
        lost = {str(one.metric(one.file.metrics[i])) for key, i in gone if key == "metrics"}
        lost |= {str(one.file.settings[i]) for key, i in gone if key == "settings"}
        changes: dict[str, Any] = {}
        for key in ("metrics", "settings"):
            entries = getattr(one.file, key)
            # If none is left, the check gives the reason.
            changes[key] = [e for i, e in enumerate(entries) if (key, i) not in gone] or entries
        correct = one.file.correct and Correctness.parse(one.file.correct).metric
        named = {"headline": one.file.headline, "oracle": one.file.oracle, "correct": correct}
        changes |= {key: None for key, name in named.items() if name in lost}
        fitted = dataclasses.replace(one, file=one.file.model_copy(update=changes))
        vars(fitted)["dataset"] = one.dataset
        return fitted

    def open_calls(self, **options: Any) -> Calls:
        """Return the `ragstone.calls.Calls` that all experiments share."""
        return self.written[0].open_calls(**options)

    def check(self) -> None:
        """Check every experiment; raise a `ConfigError` or `DatasetError` before anything runs."""
        for one in self.experiments:
            one.check()

    def plan(self, calls: Calls | None = None, **options: Any) -> CampaignPlan:
        """Check everything and return the plans; options as in `Experiment.plan`."""
        self.check()
        with contextlib.nullcontext(calls) if calls else self.open_calls() as opened:
            plans = {
                one.file.name: one.plan(opened, run_name=self.run_name, **options)
                for one in self.experiments
            }
        return CampaignPlan(self.name, plans, self.left_out)

    def run(self, calls: Calls | None = None, **options: Any) -> list[Results]:
        """Run all experiments, and return the results, one per data set.

        The steps of all experiments are in one order, so that each local model is loaded once.
        Options and errors are as in `Experiment.run`. Own systems are asked again by the next
        run if all experiments have finished.
        """
        if len(self.experiments) == 1:
            return [run_once(*self.experiments, calls, run_name=self.run_name, **options)]
        self.check()
        for lines in self.left_out.values():
            for line in lines:
                _LOG.warning("%s", line)
        from ragstone.experiment.running import run_together

        return run_together(self.experiments, calls, run_name=self.run_name, **options)

    @property
    def run_name(self) -> str:
        """The name of the replies of own systems: that of the file, if all of it is run."""
        return self.name if len(self.written) > 1 else ""


@dataclass(frozen=True)
class CampaignPlan:
    """The plans of the experiments of a file."""

    name: str
    plans: Mapping[str, Plan]
    """Name of the experiment -> its plan."""
    left_out: Mapping[str, Sequence[str]]
    """Name of the experiment -> why metrics and settings of the file do not apply to its data."""

    @property
    def calls(self) -> int:
        """Maximum number of model calls; calls that experiments share are counted for each."""
        return sum(plan.calls for plan in self.plans.values())

    def document(self) -> dict[str, Any]:
        """Return the plan as plain data; its shape is in docs/experiment-file.md."""
        if len(self.plans) == 1:
            return next(iter(self.plans.values())).document()
        return {
            "name": self.name,
            "calls_at_most": self.calls,
            "experiments": {
                name: {**plan.document(), "inapplicable": list(self.left_out[name])}
                for name, plan in self.plans.items()
            },
        }

    def text(self) -> str:
        """Return the plan for people: that of each data set, and the sum of the calls."""
        if len(self.plans) == 1:
            return next(iter(self.plans.values())).text()
        parts = [
            "\n".join([name, *(f"note: {line}" for line in self.left_out[name]), plan.text()])
            for name, plan in self.plans.items()
        ]
        total = f"all {len(self.plans)} data sets: at most {self.calls:,} model calls"
        return "\n\n".join([*parts, total])
