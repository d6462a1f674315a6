"""`ragstone show --causes`: causes of wrong answers, and the trials that decide more of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import (
    load_all_results,
    output_quiet,
    print_result,
    together,
    warn_of_attempt,
)
from ragstone.cli.screen import tell
from ragstone.core.tables import TextTable
from ragstone.errors import ConfigError
from ragstone.results.results import Results

if TYPE_CHECKING:
    from ragstone.experiment.deciding import AskedTrial, Decisions, PlannedTrial


causes_options = together(
    click.option("--causes", is_flag=True, help="Show why answers are wrong, and the undecided."),
    click.option("--system", help="Show the causes of this system alone."),
    click.option("--setting", help="Show the causes under this context setting alone."),
    click.option("--decide", is_flag=True, help="With --causes: ask trials that decide more."),
    click.option(
        "--max-calls",
        type=click.IntRange(min=0),
        metavar="N",
        help="With --decide: maximum number of model calls.",
    ),
    click.option(
        "--budget",
        type=click.FloatRange(min=0),
        help="With --decide: maximum cost; needs `prices` in the file.",
    ),
)


@dataclass(frozen=True)
class CausesWanted:
    """The options of `causes_options`."""

    causes: bool
    system: str | None
    setting: str | None
    decide: bool
    max_calls: int | None
    budget: float | None

    def __post_init__(self) -> None:
        """Raise `click.UsageError` for an option without the one that it belongs to."""
        if (self.system or self.setting) and not self.causes:
            raise click.UsageError("--system and --setting choose among causes: add --causes")
        if self.decide and not self.causes:
            raise click.UsageError("--decide asks for the causes of wrong answers: add --causes")
        if not self.decide and (self.max_calls is not None or self.budget is not None):
            raise click.UsageError("--max-calls and --budget belong to --decide: add it")


@dataclass(frozen=True)
class Decided:
    """The results of an experiment with the trials that were asked, and the decisions."""

    results: Results
    asked: Decisions

    def document(self) -> dict[str, Any]:
        """Return the decisions as plain data: docs/causes.md lists the keys."""
        return {
            "calls": self.asked.calls,
            "cost": self.asked.cost,
            "trials": [_row(one) for one in self.asked.trials],
        }

    def text(self) -> str:
        """Return the decisions as a table."""
        rows = [
            [
                *(one.trial.system, one.trial.name, one.asked, one.failed),
                *(len(one.left_out), one.calls, one.reason or "-"),
            ]
            for one in self.asked.trials
        ]
        headers = ["system", "trial", "asked", "failed", "not asked", "calls", "reason"]
        cost = "" if self.asked.cost is None else f", cost {self.asked.cost:.2f}"
        title = f"Trials asked to decide causes ({self.asked.calls:,} calls{cost})"
        return str(TextTable(headers, rows, title)) if rows else "No trial would decide more."


def print_causes(file: Path, overrides: Sequence[str], wanted: CausesWanted) -> None:
    """Print the causes of one experiment, or of each that a file has, and the decisions."""
    from ragstone.results.causes.document import causes_document
    from ragstone.results.causes.found import causes_of
    from ragstone.results.causes.text import causes_text

    found, decided = load_all_results(file, overrides), list[Decided]()
    if wanted.decide:
        decided = _decide(file, overrides, found, wanted)
        found = [one.results for one in decided]
    for one in found:
        warn_of_attempt(one)
    pairs = [(one, causes_of(one).only(wanted.system, wanted.setting)) for one in found]
    documents = {one.name: causes_document(one, kept) for one, kept in pairs}
    texts = {one.name: causes_text(one, kept) for one, kept in pairs}
    for asked in decided:
        documents[asked.results.name]["decided"] = asked.document()
        texts[asked.results.name] += f"\n\n{asked.text()}"
    if len(found) == 1:
        print_result(lambda: documents[found[0].name], lambda: texts[found[0].name])
        return
    print_result(
        lambda: {"experiments": documents},
        lambda: "\n\n".join(f"{name}\n{text}" for name, text in texts.items()),
    )


def _decide(
    file: Path,
    overrides: Sequence[str],
    found: Sequence[Results],
    wanted: CausesWanted,
) -> list[Decided]:
    """Ask the trials that decide the causes of each experiment of a file, after its plan.

    Raises:
        ConfigError: model calls are needed, and neither a maximum of calls nor a budget is given.
    """
    from ragstone.experiment.deciding import decide_causes, plan_decisions
    from ragstone.experiment.load import load_campaign
    from ragstone.results.causes.found import causes_of

    for one in found:
        causes_of(one).only(wanted.system, wanted.setting)
    experiments = {one.file.name: one for one in load_campaign(file, overrides).experiments}
    chosen: Any = {"system": wanted.system, "setting": wanted.setting}
    decided, max_calls, budget = [], wanted.max_calls, wanted.budget
    with output_quiet():
        plans = {one.name: plan_decisions(experiments[one.name], one, **chosen) for one in found}
        for line in _plan_lines(plans):
            tell(line)
        most = sum(one.calls for plan in plans.values() for one in plan)
        if most and max_calls is None and budget is None:
            raise ConfigError(
                f"to decide the causes takes at most {most:,} calls; add --max-calls {most}, or "
                "--budget with a cost"
            )
        for one in found:
            experiment = experiments[one.name]
            asked = decide_causes(experiment, one, max_calls=max_calls, budget=budget, **chosen)
            max_calls = None if max_calls is None else max_calls - asked.calls
            budget = None if budget is None else budget - (asked.cost or 0.0)
            decided.append(Decided(Results(one.store, one.record), asked))
    return decided


def _plan_lines(plans: dict[str, list[PlannedTrial]]) -> Iterator[str]:
    """Yield one line per trial of the plan."""
    for name, plan in plans.items():
        if not plan:
            continue
        yield f"{name}: trials that would decide more causes, with their maximum number of calls"
        for one in plan:
            what = f"{len(one.trial.query_ids):,} queries of {one.trial.system}: {one.trial.name}"
            yield f"  {what}: {one.reason or f'{one.calls:,} calls'}"


def _row(one: AskedTrial) -> dict[str, Any]:
    return {
        "system": one.trial.system,
        "trial": one.trial.name,
        "asked": one.asked,
        "failed": one.failed,
        "left_out": list(one.left_out),
        "reason": one.reason or None,
        "calls": one.calls,
    }
