"""`ragstone run`: run or resume an experiment."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.options import (
    POSITIVE,
    AliasCommand,
    experiment_arguments,
    json_option,
    output_quiet,
    print_result,
    print_results,
)
from ragstone.cli.screen import tell
from ragstone.results.wording import TITLES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ragstone.calls.client import Calls
    from ragstone.experiment.adaptive import AdaptiveRun
    from ragstone.experiment.campaign import Campaign
    from ragstone.results.results import Results
    from ragstone.statistics.adaptive import AdaptiveRules

ALL: Final = "*"
"""The value of --fresh without a name."""


class _RunCommand(AliasCommand):
    """A command whose option --fresh may be given without a name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; a file or KEY=VALUE after --fresh is not the name of a system."""
        given = [
            f"{argument}={ALL}" if argument == "--fresh" and _is_no_name(after) else argument
            for argument, after in pairwise([*args, "-"])
        ]
        return super().parse_args(ctx, given)


def _is_no_name(argument: str) -> bool:
    return argument.startswith("-") or "=" in argument or Path(argument).is_file()


@click.command(
    "run", cls=_RunCommand, former={"--probe": "--sample-calls", "--cached-only": "--replay"}
)
@experiment_arguments
@click.option("--plan", is_flag=True, help="Print the steps and the cost; run nothing.")
@click.option("--limit", type=POSITIVE, help="Use a random sample of this many queries.")
@click.option("--seed", type=int, help="Seed of the random sample.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(list(TITLES)),
    metavar="STEP",
    help="Run only the steps of this name and the steps they depend on; may be repeated. Names: "
    + ", ".join(TITLES),
)
@click.option(
    "--sample-calls",
    type=POSITIVE,
    help="With --plan: number of model calls to make, to estimate the cost of the others.",
)
@click.option(
    "--budget",
    type=click.FloatRange(min=0),
    help="Stop before the model calls cost more than this amount; needs `prices` in the file.",
)
@click.option(
    "--max-hours",
    type=click.FloatRange(min=0, min_open=True),
    help="Stop after this time; the same command resumes the run.",
)
@click.option(
    "--calls",
    "shared",
    metavar="URL",
    help="Share model calls and rate limits with other machines in this PostgreSQL database.",
)
@click.option(
    "--executor",
    metavar="SPEC",
    callback=lambda _, __, value: None if value is None else json.dumps(value),
    help="Compute steps elsewhere: processes(4), dask(address=tcp://host:8786), ray(workers=2).",
)
@click.option("--offline", is_flag=True, help="Refuse all connections to other machines.")
@click.option(
    "--trust-code",
    is_flag=True,
    help="Reuse steps computed by other code, of Ragstone or of your own; results are marked.",
)
@click.option(
    "--fresh",
    multiple=True,
    metavar="[SYSTEM]",
    help="Ask this system again, or all systems if no name is given; may be repeated.",
)
@click.option(
    "--reuse",
    is_flag=True,
    help="Keep the answers of the last finished run instead of asking your own systems again.",
)
@click.option(
    "--adaptive",
    is_flag=True,
    help="Ask in rounds, and stop asking systems that are worse than the best one.",
)
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True),
    help="With --adaptive: largest share of all answers to ask for (default 0.2).",
)
@click.option(
    "--margin",
    type=click.FloatRange(min=0, min_open=True),
    help="With --adaptive: stop if all systems left are within this margin of the best one.",
)
@click.option(
    "--replay",
    is_flag=True,
    help="Make no model calls: use kept replies only, and fail if one is missing.",
)
@click.option(
    "--retry-failed/--keep-failed",
    default=True,
    help="Request failed calls and unreadable replies of earlier runs again (default), or keep "
    "them: steps with failed items then count as finished.",
)
@click.option(
    "--track",
    type=click.Choice(["mlflow", "wandb"]),
    help="Keep parameters, numbers, report and passport in this experiment tracker.",
)
@json_option
def command(
    *,
    experiment: Path,
    overrides: tuple[str, ...],
    plan: bool,
    limit: int | None,
    seed: int | None,
    sample_calls: int | None,
    only: tuple[str, ...],
    budget: float | None,
    max_hours: float | None,
    shared: str | None,
    executor: str | None,
    offline: bool,
    fresh: tuple[str, ...],
    reuse: bool,
    replay: bool,
    trust_code: bool,
    retry_failed: bool,
    adaptive: bool,
    share: float | None,
    margin: float | None,
    track: str | None,
) -> None:
    """Run or resume the experiment of a YAML file.

    KEY=VALUE replaces a value of the file, such as sample.limit=20. Finished steps are not run
    again. If a run was interrupted, run the same command again to resume.

    \b
    Examples:
      ragstone run demo
      ragstone run demo --limit 20 --seed 1
      ragstone run demo --plan
      ragstone run demo --only retrieve
      ragstone run my.yaml --reuse
      ragstone run my.yaml data=../my-data systems.0.retriever.k1=0.9
      ragstone run campaign.yaml --budget 20 --max-hours 8
      ragstone run campaign.yaml#nq
      ragstone run campaign.yaml --adaptive --share 0.2
      ragstone run my.yaml --track mlflow
    """
    from ragstone.cli.progress_bars import open_bar
    from ragstone.core.progress import shown_by
    from ragstone.experiment.load import load_campaign

    _check_options(*(track, sample_calls), plan=plan, only=only, fresh=fresh, keep=reuse or replay)
    rules = _rules(seed, share, margin, adaptive=adaptive, whole=not only)
    given = {"sample.limit": limit, "sample.seed": seed, "calls": shared, "executor": executor}
    loaded = load_campaign(experiment, [*overrides, *_set(given)])
    options: Any = {"reuse": reuse, "trust_code": trust_code, "fresh": _systems(fresh)}
    limits: Any = {"budget": budget, "max_hours": max_hours, "offline": offline}
    calls = loaded.open_calls(replay_only=replay, retry_failed=retry_failed, **limits)
    with calls, shown_by(open_bar):
        if plan:
            return _print_plan(loaded, calls, sample_calls or 0, rules, options)
        keep = _keeping(track)
        results = _run(loaded, calls, only, rules, options)
        del loaded
        return keep(results)


def _print_plan(
    loaded: Campaign, calls: Calls, sample_calls: int, rules: AdaptiveRules | None, options: Any
) -> None:
    with output_quiet():
        planned = (
            loaded.plan(calls, sample_calls=sample_calls, **options)
            if rules is None
            else _adaptive(loaded, calls, rules, options).plan(sample_calls=sample_calls)
        )
    print_result(planned.document, planned.text)


def _run(
    loaded: Campaign, calls: Calls, only: Sequence[str], rules: AdaptiveRules | None, options: Any
) -> Sequence[Results]:
    """Run everything, in rounds if there are rules for them, and return the results."""
    with output_quiet():
        if rules is None:
            return loaded.run(calls, only=only, **options)
        return _adaptive(loaded, calls, rules, options).run()


def _systems(fresh: Sequence[str]) -> Sequence[str] | None:
    """Return the systems that are asked again; None for all."""
    return None if ALL in fresh else fresh


def _set(keys: Mapping[str, object]) -> list[str]:
    """Return overrides of the keys that have a value."""
    return [f"{key}={value}" for key, value in keys.items() if value is not None]


def _keeping(track: str | None) -> Callable[[Sequence[Results]], None]:
    """Return a function that prints results, and keeps them in a tracker if one is named.

    It gives free memory back first: results are read from the store.
    """
    show = _tracking(track) if track else print_results

    def keep(results: Sequence[Results]) -> None:
        from ragstone.core.freed_memory import give_back
        from ragstone.indexes.cache import INDEXES

        INDEXES.clear()
        give_back()
        show(results)

    return keep


def _adaptive(loaded: Campaign, calls: Calls, rules: AdaptiveRules, options: Any) -> AdaptiveRun:
    from ragstone.experiment.adaptive import AdaptiveRun
    from ragstone.experiment.freshness import Freshness

    wish = Freshness(options["reuse"], options["fresh"])
    return AdaptiveRun(loaded, calls, rules, wish, trust_code=options["trust_code"])


def _tracking(name: str) -> Callable[[Sequence[Results]], None]:
    """Return a function that prints results and keeps them in a tracker, opened at once."""
    from ragstone.results.trackers.base import open_tracker, track

    tracker = open_tracker(name)

    def keep(results: Sequence[Results]) -> None:
        print_results(results)
        for line in track(tracker, results):
            tell(f"Tracked: {line}")

    return keep


def _rules(
    seed: int | None, share: float | None, margin: float | None, *, adaptive: bool, whole: bool
) -> AdaptiveRules | None:
    """Return the rules of an adaptive run; None if the run is not adaptive."""
    from ragstone.statistics.adaptive import AdaptiveRules

    if not adaptive:
        if share is not None or margin is not None:
            raise click.UsageError("--share and --margin need --adaptive")
        return None
    if not whole:
        raise click.UsageError("--adaptive runs all steps in rounds; leave out --only")
    given: dict[str, Any] = {"seed": seed, "share": share, "margin": margin}
    return AdaptiveRules(**{name: value for name, value in given.items() if value is not None})


def _check_options(
    track: str | None,
    sample_calls: int | None,
    *,
    plan: bool,
    only: tuple[str, ...],
    fresh: tuple[str, ...],
    keep: bool,
) -> None:
    """Raise an error for options that exclude each other."""
    if sample_calls and not plan:
        raise click.UsageError("--sample-calls needs --plan")
    if track and (plan or only):
        raise click.UsageError("--track keeps whole results; leave out --plan and --only")
    if only and plan:
        raise click.UsageError("--plan lists all steps; leave out --only")
    if fresh and keep:
        raise click.UsageError("--fresh asks again; leave out --reuse and --replay")
