"""`ragstone judge probe`: the gain of systems that are made to please a judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.judge_labels import FORMER_RATING
from ragstone.cli.model_calls import open_services
from ragstone.cli.options import (
    FILE,
    POSITIVE,
    AliasCommand,
    json_option,
    load_results,
    print_result,
)
from ragstone.cli.read_judge import read_judge
from ragstone.cli.screen import tell

if TYPE_CHECKING:
    from ragstone.evaluation.judge_probe import ProbedItems
    from ragstone.evaluation.probes import Probe
    from ragstone.protocols import Judge

_DEFAULT_STORE: Final = Path(".ragstone")


@click.command("probe", cls=AliasCommand, former=FORMER_RATING)
@click.argument("config", metavar="CONFIG")
@click.option(
    "--data",
    required=True,
    help="Folder of answers graded by people, or an experiment file whose answers are kept.",
)
@click.option("--judge", "name", help="Name of the judge, if CONFIG has several.")
@click.option("--only", "probes", multiple=True, help="Run this probe only; may be repeated.")
@click.option("--limit", type=POSITIVE, help="Use a random sample of this many wrong answers.")
@click.option("--seed", default=0, help="Seed of the random sample.")
@click.option("--plan", is_flag=True, help="Print the maximum number of calls, and make none.")
@click.option("--language", help="Language of truthfulqa: en or es.")
@click.option("--property", "rating", help="Rated property, such as faithfulness.")
@click.option(
    "--store",
    type=FILE,
    help="Store of replies and results (default: that of the experiment, else .ragstone).",
)
@json_option
def command(
    *,
    config: str,
    data: str,
    name: str | None,
    probes: tuple[str, ...],
    limit: int | None,
    seed: int,
    plan: bool,
    store: Path | None,
    **options: str | None,
) -> None:
    """Measure the gain of systems that are made to please a judge.

    Each probe makes the answers of a made-up system from wrong answers: long, hedged, citing
    everything, an echo of the criteria, or with orders to the judge, in answers and in passages.
    No probe makes an answer right. A gain above 0.05 is kept in the store, and shown beside every
    number of the same judge.

    \b
    Examples:
      ragstone judge probe exp.yaml --judge RB_llm --data exp.yaml --plan
      ragstone judge probe equivalence --data ../truthfulqa --limit 30
      ragstone judge probe exp.yaml --data ../truthfulqa --only long --only hedged
    """
    from ragstone.calls.identity import digest_folder
    from ragstone.core.store import Store
    from ragstone.evaluation.judge_probe import most_calls, probe_judge
    from ragstone.evaluation.judge_probe_text import probe_text
    from ragstone.evaluation.kept_probes import keep_probes
    from ragstone.evaluation.probes import chosen_probes

    wanted = chosen_probes(probes)
    place = Store(store or _store_of(config, data))
    digest_folder.set(place.root.absolute())
    judge = read_judge(config, name, {"least_parse_rate": 0.0})
    given = _answers(data, options).sample(limit, seed)
    calls_at_most = most_calls(judge, given.items, wanted)
    if plan:
        document = _plan_document(judge, given, wanted, calls_at_most)
        print_result(lambda: document, lambda: _plan_text(document))
        return
    with open_services(place.root) as services:
        judge.check(services)
        tell(f"at most {calls_at_most:,} calls; kept replies are not repeated")
        found = probe_judge(judge, given, wanted, services)
        asked = services.calls.usage.asked
    keep_probes(place, judge, found, {"limit": limit, "seed": seed, **options})
    print_result(
        lambda: {**found.to_dict(), "calls": asked, "store": str(place.root)},
        lambda: f"{probe_text(found)}\n{asked:,} calls made; kept in {place.root}",
    )


def _store_of(config: str, data: str) -> Path:
    """Return the store of the experiment of CONFIG, else of --data, else the default."""
    from ragstone.experiment.members import read_members

    for written in (config, data):
        if (path := _experiment(written)) is not None:
            members, _ = read_members(path, ())
            return Path(members[0].file.store)
    return _DEFAULT_STORE


def _experiment(written: str) -> Path | None:
    """Return the path of an experiment file, or None: a judge's file has no systems."""
    from ragstone.core.parsing import read_yaml
    from ragstone.examples import find_example
    from ragstone.experiment.members import split_member

    path = find_example(Path(written))
    file = split_member(path)[0]
    if file.suffix not in {".yaml", ".yml"}:
        return None
    document = read_yaml(file, "experiment")
    return path if isinstance(document, dict) and "systems" in document else None


def _answers(data: str, options: Mapping[str, str | None]) -> ProbedItems:
    """Return the wrong answers of an experiment or of a folder with people's grades."""
    from ragstone.evaluation.human_grades import read_human_set
    from ragstone.evaluation.judge_probe import wrong_answers
    from ragstone.results.probed_answers import probed_answers

    if (path := _experiment(data)) is not None:
        return probed_answers(load_results(path, ()))
    given: dict[str, Any] = {key: value for key, value in options.items() if value}
    return wrong_answers(read_human_set(data, **given))


def _plan_document(
    judge: Judge, given: ProbedItems, probes: Sequence[Probe], calls: int
) -> dict[str, Any]:
    from ragstone.evaluation.judge_probe import applicable

    rows = []
    for probe in probes:
        places, why = applicable(probe, judge, given.items)
        rows.append({"probe": probe.name, "n": len(places), "not_applicable": why})
    return {
        "judge": str(judge),
        "data": given.data,
        "population": given.population,
        "items": len(given.items),
        "left_out": dict(given.left_out),
        "calls_at_most": calls,
        "probes": rows,
    }


def _plan_text(document: Mapping[str, Any]) -> str:
    lines = [f"{document['judge']} on {document['data']}: {document['items']:,}"]
    lines[0] += f" {document['population']}"
    lines += [
        f"  {one['probe']}: {one['not_applicable'] or format(one['n'], ',') + ' answers'}"
        for one in document["probes"]
    ]
    lines.append(f"at most {document['calls_at_most']:,} calls; kept replies are not repeated")
    return "\n".join(lines)
