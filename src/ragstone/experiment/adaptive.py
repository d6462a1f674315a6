"""An adaptive run: rounds of queries, fewer and fewer systems, one record per data set.

A contest is a setting of one data set. Each round runs the experiments again with more queries for
the systems that are left. Kept replies and stored steps are used again, so that a run that was
stopped comes to the same decisions and goes on.
"""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from ragstone.calls.usage import Usage
from ragstone.core.schemas import columns
from ragstone.core.stored_table import StoredTable
from ragstone.data.corpus import rows_at
from ragstone.errors import ConfigError
from ragstone.experiment.clusters import query_clusters
from ragstone.experiment.freshness import Freshness
from ragstone.experiment.running import Run, execute, finish_runs
from ragstone.experiment.shared_queries import OwnQueries
from ragstone.results.record import NOT_ASKED, Record
from ragstone.results.remarks import contest_text
from ragstone.results.results import Results
from ragstone.results.standings import headline_of
from ragstone.statistics.adaptive import (
    AdaptiveRules,
    Contest,
    Values,
    estimate,
    run_contests,
)

if TYPE_CHECKING:
    from ragstone.calls.client import Calls
    from ragstone.experiment.campaign import Campaign, CampaignPlan
    from ragstone.experiment.experiment import Experiment
    from ragstone.experiment.system import SharedInputs

_LOG: Final = logging.getLogger(__name__)
_FEWEST: Final = 2
"""Queries without which nothing can be compared."""


@dataclass(frozen=True)
class AdaptivePlan:
    """The plan of an adaptive run: that of all answers, and how many of them are asked for."""

    whole: CampaignPlan
    rules: AdaptiveRules
    first: int
    """Answers of the first round."""
    all_answers: int

    @property
    def answers_at_most(self) -> int:
        """The answers that the budget allows."""
        return math.floor(self.rules.share * self.all_answers)

    def document(self) -> dict[str, Any]:
        """Return the plan as plain data: that of all answers, and `adaptive`."""
        counts = {"first_round": self.first, "answers_at_most": self.answers_at_most}
        rules = dataclasses.asdict(self.rules)
        adaptive = {"rules": rules, **counts, "all_answers": self.all_answers}
        return {**self.whole.document(), "adaptive": adaptive}

    def text(self) -> str:
        """Return the plan for people."""
        return (
            f"{self.whole.text()}\n\n"
            f"adaptive: at most {self.answers_at_most:,} of these {self.all_answers:,} answers "
            f"(share {self.rules.share:g}), {self.first:,} of them in the first round; the calls "
            "above are those of all answers"
        )


@dataclass
class AdaptiveRun:
    """The experiments of a file, run until the best systems are known or a budget is spent."""

    campaign: Campaign
    calls: Calls
    rules: AdaptiveRules
    wish: Freshness
    trust_code: bool = False
    runs: list[Run] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    used: dict[str, Usage] = field(default_factory=dict)
    """Experiment -> the calls of all rounds."""

    def run(self) -> list[Results]:
        """Run all rounds and return the results, one per data set.

        Raises:
            ConfigError: a wrong file, or nothing to compare; nothing was spent.
            RagstoneError: a round failed. The same call resumes the run.
        """
        self.campaign.check()
        self._check()
        for lines in self.campaign.left_out.values():
            for line in lines:
                _LOG.warning("%s", line)
        # A query that failed in one round has no second chance in the next one.
        self.calls.keep_new_failures()
        run_contests(self._every, self.rules, self._ask)
        return [self._ended(one) for one in self.campaign.experiments]

    def plan(self, *, sample_calls: int = 0) -> AdaptivePlan:
        """Check everything and return the plan of all answers, and how many of them are asked for.

        Raises:
            ConfigError: a wrong file, or nothing to compare.
        """
        options: dict[str, Any] = {"fresh": self.wish.fresh, "reuse": self.wish.reuse}
        options |= {"trust_code": self.trust_code, "sample_calls": sample_calls}
        whole = self.campaign.plan(self.calls, **options)
        self._check()
        first = sum(
            len(one.systems) * self.rules.planned(len(one.queries), 1) for one in self._every
        )
        return AdaptivePlan(whole, self.rules, first, self._all_answers)

    @property
    def _all_answers(self) -> int:
        return sum(len(one.systems) * len(one.queries) for one in self._every)

    @cached_property
    def contests(self) -> dict[str, dict[str, Contest]]:
        """Experiment -> setting -> the contest of its systems."""
        return {one.file.name: dict(self._of(one)) for one in self.campaign.experiments}

    def _of(self, one: Experiment) -> list[tuple[str, Contest]]:
        named = query_clusters(one.dataset)
        alone = {f"query {query_id}" for query_id in named}
        clusters = {query_id: c for query_id, c in named.items() if c not in alone}
        found = []
        for setting in one.settings:
            systems = [system.name for system in one.systems if system.answers_under(setting)]
            ids = columns(one.shared.asked(setting.setting).table)["query_id"]
            name, seed = f"{one.file.name}:{setting.setting}", self.rules.seed
            if systems:
                contest = Contest.of(name, systems, ids, clusters, seed=seed)
                found.append((setting.setting, contest))
        return found

    @property
    def _every(self) -> list[Contest]:
        return [contest for held in self.contests.values() for contest in held.values()]

    def _check(self) -> None:
        """Raise `ConfigError` if there is nothing to compare, or too small a budget for it."""
        for name, held in self.contests.items():
            if not any(len(contest.systems) > 1 for contest in held.values()):
                raise ConfigError(
                    f"--adaptive: {name} has no setting under which two systems answer; it stops "
                    "asking the worse ones, so give several systems with a generator, or leave "
                    "out --adaptive"
                )
        every = self._every
        whole = self._all_answers
        least = sum(_FEWEST * len(one.systems) for one in every)
        if self.rules.share * whole < least:
            raise ConfigError(
                f"--adaptive: a share of {self.rules.share:g} of {whole:,} answers is not enough "
                f"for {_FEWEST} queries of every system; the smallest share is "
                f"{min(1.0, least / whole):.2g}, or give more queries",
                key="share",
                value=self.rules.share,
            )

    def _ask(self) -> dict[str, Values]:
        """Run the experiments with all queries drawn so far, and return the values."""
        options: dict[str, Any] = {"trust_code": self.trust_code}
        self.runs = [
            self._part(one).begin(self.calls, self.wish, run_name=self.campaign.run_name, **options)
            for one in self.campaign.experiments
        ]
        # Queries are asked again only once, in the first round.
        self.wish = dataclasses.replace(self.wish, fresh=())
        for run in self.runs:
            run.recorder.of_round({"ended": False, **self._counts(run.name)})
            run.used = self.used.get(run.name, Usage())
        self.records = execute(self.runs)
        self.used = {run.name: run.used for run in self.runs}
        values: dict[str, Values] = {}
        for run, record in zip(self.runs, self.records, strict=True):
            results = Results(run.store, record)
            for setting, contest in self.contests[run.name].items():
                metric = _headline(results, setting)
                values[contest.name] = _values(results, setting, metric)
        return values

    def _part(self, one: Experiment) -> Experiment:
        """Return an experiment whose systems have the queries that are drawn so far."""
        part, shared = dataclasses.replace(one), one.shared
        parts = {
            (setting, system): _drawn(shared, setting, contest.queries_of(system))
            for setting, contest in self.contests[one.file.name].items()
            for system in contest.systems
        }
        vars(part).update(vars(one) | {"shared": dataclasses.replace(shared, parts=parts)})
        return part

    def _ended(self, one: Experiment) -> Results:
        """Write the record of an experiment with its decisions, and return the results."""
        place = self.campaign.experiments.index(one)
        run, results = self.runs[place], Results(self.runs[place].store, self.records[place])
        facts = {"ended": True, **self._counts(run.name), **self._decided(results)}
        run.recorder.of_round(facts)
        record = run.recorder.finish(run.done, dataclasses.asdict(run.used))
        if place == len(self.runs) - 1:
            finish_runs(self.runs, self.campaign.run_name or self.campaign.name)
        for setting, contest in facts["contests"].items():
            _LOG.warning("%s, %s: %s", run.name, setting, contest_text(contest))
        return Results(run.store, record)

    def _counts(self, name: str) -> dict[str, Any]:
        held = self.contests[name]
        return {
            "rules": dataclasses.asdict(self.rules),
            "answers": sum(one.answers for one in held.values()),
            "all_answers": sum(len(one.systems) * len(one.queries) for one in held.values()),
            "metric": {},
            "contests": {setting: one.facts(self.rules) for setting, one in held.items()},
        }

    def _decided(self, results: Results) -> dict[str, Any]:
        """Return the metric of each contest, and the estimates that hold over all looks."""
        metrics, estimates = {}, list[dict[str, Any]]()
        for setting, contest in self.contests[results.name].items():
            metrics[setting] = metric = _headline(results, setting)
            scale = results.record.scale(metric)
            values = _values(results, setting, metric, signed=False)
            for system in contest.systems:
                found = estimate(contest, values[system], self.rules, scale.range)
                estimates.append(
                    {
                        "system": system,
                        "setting": setting,
                        "metric": metric,
                        "mean": found.mean,
                        "interval": list(found.interval) if found.interval else None,
                        "n": found.n,
                        "weight": 1 / found.n if found.n else None,
                    }
                )
        return {"metric": metrics, "estimates": estimates}


def _drawn(shared: SharedInputs, setting: str, query_ids: Sequence[str]) -> OwnQueries:
    """Return the queries of a system in file order, and why the others are not asked."""
    own, asked, drawn = shared.own_of(setting), shared.asked(setting), set(query_ids)
    ids = columns(asked.table)["query_id"]
    places = [place for place, query_id in enumerate(ids) if query_id in drawn]
    reasons = dict(own.not_applicable) if own else {}
    reasons |= {query_id: NOT_ASKED for query_id in ids if query_id not in drawn}
    return OwnQueries(StoredTable.in_memory(rows_at(asked.table, places)), reasons)


def _headline(results: Results, setting: str) -> str:
    """Return the metric that decides a contest: the headline, or the first one that can."""
    names = [metric.name for metric in results.record.metrics if metric.kind != "ranking"]
    found = headline_of(names, results.record)
    if found is None:
        raise ConfigError(
            f"--adaptive: {setting} has no metric of answers with a better direction; add one, "
            "such as F1",
            key="metrics",
        )
    return found


def _values(
    results: Results, setting: str, metric: str, *, signed: bool = True
) -> dict[str, dict[str, float]]:
    """Return system -> query id -> value in the worst case; signed, higher values are better."""
    scale = results.record.scale(metric)
    sign = -1.0 if signed and scale.direction == "lower" else 1.0
    found = {}
    for trial in results.trials:
        if trial.setting == setting:
            cases = {q: scale.counted(s) for q, s in trial.scores.get(metric, {}).items()}
            found[trial.system] = {q: sign * case[0] for q, case in cases.items() if case}
    return found
