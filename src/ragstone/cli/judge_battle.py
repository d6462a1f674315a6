"""`ragstone judge battle`: strengths of systems from comparisons of their answers in pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.model_calls import open_services, store_option
from ragstone.cli.options import FILE, POSITIVE, json_option, load_results, print_result
from ragstone.cli.read_judge import judge_of_kind
from ragstone.core.tables import TextTable
from ragstone.results.wording import interval_text

if TYPE_CHECKING:
    from ragstone.components.judges.pairwise import Pairwise
    from ragstone.evaluation.battles import Outcomes, Pairing
    from ragstone.statistics.bradley_terry import BradleyTerry
    from ragstone.statistics.resampling import Bootstrap


_VIRTUAL: Final = (
    "A virtual tie of each pair was added, because some systems won every battle against the others"
)


@click.command("battle")
@click.argument("source", type=FILE, metavar="SOURCE")
@click.option(
    "--judge",
    "spec",
    default="pairwise",
    help="Judge that compares two answers: pairwise, or pairwise(model=...).",
)
@click.option("--setting", help="Compare only the answers under this context setting.")
@click.option(
    "--battles",
    "per_query",
    type=POSITIVE,
    help="Maximum number of pairs per query, drawn at random (default: all pairs of systems).",
)
@click.option("--property", "rated", help="Only the ratings of this property.")
@click.option("--plan", is_flag=True, help="Show the number of battles and calls, and make none.")
@click.option("--seed", default=0, help="Seed of the drawn pairs and of the intervals.")
@store_option
@json_option
def command(
    *,
    source: Path,
    spec: str,
    setting: str | None,
    per_query: int | None,
    rated: str | None,
    plan: bool,
    seed: int,
    store: Path,
) -> None:
    """Compare systems in pairs, blind, and rank them by Bradley and Terry's strengths.

    SOURCE is an experiment file whose answers a judge compares, or a file of people's ratings of
    pairs (JSON lines with `against`, docs/judges.md), which need no judge. The judge sees both
    orders of two answers and no names; orders that disagree are a tie. Intervals are over queries.

    \b
    Examples:
      ragstone judge battle demo --judge "pairwise(model=local)" --plan
      ragstone judge battle exp.yaml --setting "retrieved(3)" --battles 3 --json
      ragstone judge battle pairs.jsonl --property preference
    """
    from ragstone.components.judges.pairwise import Pairwise
    from ragstone.statistics.bradley_terry import RESAMPLES, bradley_terry
    from ragstone.statistics.resampling import Bootstrap

    bootstrap = Bootstrap(resamples=RESAMPLES, seed=seed)
    if source.name.lower().removesuffix(".gz").endswith(".jsonl"):
        found = _rated(source, rated, bootstrap)
        print_result(
            lambda: {"properties": {name: _document(one) for name, one in found.items()}},
            lambda: "\n\n".join(_text(name, one) for name, one in found.items()),
        )
        return
    judge = judge_of_kind(spec, Pairwise, "compares two answers", "pairwise(model=local)")
    chosen = _pairings(source, setting, per_query, seed)
    if plan:
        _print_plan(chosen, judge)
        return
    outcomes = _fought(chosen, judge, store)
    strengths = {name: bradley_terry(one.battles, bootstrap) for name, one in outcomes.items()}
    print_result(
        lambda: {
            "judge": {"name": judge.name, "models": judge.model_names},
            "settings": {
                name: {**_document(one), **_facts(outcomes[name])}
                for name, one in strengths.items()
            },
        },
        lambda: "\n\n".join(
            f"{_text(name, one)}\n{_facts_text(outcomes[name])}" for name, one in strengths.items()
        ),
    )


def _rated(path: Path, rated: str | None, bootstrap: Bootstrap) -> dict[str, BradleyTerry]:
    """Return property -> strengths by people's ratings of pairs."""
    from ragstone.data.readers.ratings import read_ratings
    from ragstone.errors import DatasetError
    from ragstone.evaluation.battles import rated_battles
    from ragstone.statistics.bradley_terry import bradley_terry

    found = rated_battles(read_ratings(path, rated or ""))
    if not found:
        raise DatasetError(
            f"{path} has no rating of a pair; each has 'against', and the value a, b or tie",
            path=path,
        )
    return {name: bradley_terry(battles, bootstrap) for name, battles in found.items()}


def _pairings(
    source: Path, setting: str | None, per_query: int | None, seed: int
) -> dict[str, list[Pairing]]:
    """Return context setting -> pairs of the stored answers."""
    from ragstone.errors import ConfigError, did_you_mean
    from ragstone.evaluation.battles import pairings

    results = load_results(source, ())
    if setting is not None and setting not in results.settings:
        known = ", ".join(results.settings)
        raise ConfigError(
            f"no setting {setting!r}{did_you_mean(setting, results.settings)}; known are {known}"
        )
    queries = list(results.queries.values())
    answers = {
        name: {one.system: one.predictions for one in results.trials if one.setting == name}
        for name in ([setting] if setting else results.settings)
    }
    return {name: pairings(queries, own, per_query, seed) for name, own in answers.items()}


def _print_plan(chosen: Mapping[str, list[Pairing]], judge: Pairwise) -> None:
    planned = {}
    for name, found in chosen.items():
        asked = sum(one.settled is None for one in found)
        planned[name] = {"battles": len(found), "calls": judge.cost(asked, 0)}
    lines = [
        f"{name}: {one['battles']:,} battles, at most {one['calls']:,} calls without repetitions"
        for name, one in planned.items()
    ]
    print_result(lambda: {"planned": planned}, lambda: "\n".join(lines))


def _fought(
    chosen: Mapping[str, list[Pairing]], judge: Pairwise, store: Path
) -> dict[str, Outcomes]:
    from ragstone.evaluation.battles import fight

    with open_services(store) as services:
        judge.check(services)
        return {name: fight(found, judge, services) for name, found in chosen.items()}


def _document(found: BradleyTerry) -> dict[str, Any]:
    document = asdict(found)
    document["systems"] = {one["system"]: one for one in document.pop("strengths")}
    for one in document["systems"].values():
        del one["system"]
    return document


def _facts(outcomes: Outcomes) -> dict[str, Any]:
    facts = asdict(outcomes)
    del facts["battles"]
    return facts


def _facts_text(outcomes: Outcomes) -> str:
    first = "" if outcomes.first is None else f"; first place preferred in {outcomes.first:.1%}"
    settled = f"{outcomes.settled:,} battles without a call (equal or absent answers)"
    lines = [f"{settled}, {outcomes.order_dependent:,} ties because the orders disagree{first}."]
    lines += [
        f"{count:,} pairs without a verdict: {why}" for why, count in outcomes.unscored.items()
    ]
    return "\n".join(lines)


def _text(title: str, found: BradleyTerry) -> str:
    rows = [
        [
            one.rank if one.rank_interval is None else _ranks(one.rank, one.rank_interval),
            one.system,
            f"{one.strength:+.3f}{interval_text(one.interval)}",
            f"{one.win_rate:.3f}",
            one.n,
        ]
        for one in found.strengths
    ]
    headers = ["rank", "system", "strength (logits, 95 %)", "win rate", "battles"]
    share = 1.0 if found.regularised else found.regularised_resamples
    below = [f"{_VIRTUAL} (in {share:.0%} of the resamples)."] if share else []
    counted = f"{found.battles:,} battles on {found.queries:,} queries, {found.ties:,} ties"
    return str(TextTable(headers, rows, f"{title} ({counted})", below))


def _ranks(rank: int, interval: tuple[int, int]) -> str:
    low, high = interval
    return str(rank) if low == high else f"{rank} ({low}-{high})"
