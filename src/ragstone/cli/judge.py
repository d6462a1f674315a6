"""`ragstone judge`: checking, calibrating and correlating judges."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.judge_calibrate import command as calibrate
from ragstone.cli.judge_correlate import command as correlate
from ragstone.cli.options import json_option, print_json

if TYPE_CHECKING:
    from ragstone.protocols import Judge

FORMS: Final[dict[str, list[bool | None]]] = {
    "auto": [None],
    "text": [False],
    "schema": [True],
    "both": [False, True],
}


@click.group("judge")
def command() -> None:
    """Check, calibrate and correlate judges: language models that grade.

    \b
    Examples:
      ragstone judge check equivalence --on ../truthfulqa --limit 100
      ragstone judge correlate --on ../mtrag --rating win-rate
      ragstone judge calibrate experiment.yaml --metric equivalence --labels labels.jsonl
    """


@command.command(
    "check",
    epilog="""\b
Examples:
  ragstone judge check judge.yaml --on ../truthfulqa
  ragstone judge check equivalence --on ../truthfulqa --limit 100 --form both
  ragstone judge check experiment.yaml --judge RB_llm --on mtrag:../mtrag --rating completeness
""",
)
@click.argument("config", metavar="CONFIG")
@click.option(
    "--on",
    "data",
    required=True,
    metavar="DATA",
    help="Folder of graded answers: truthfulqa, ragchecker, begin, nq_open or mtrag.",
)
@click.option("--judge", "name", default="", help="Name of the judge, if CONFIG has several.")
@click.option("--limit", type=click.IntRange(min=1), help="Number of randomly sampled items.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of sample and intervals."
)
@click.option("--repeats", type=click.IntRange(min=1), help="Number of repeats (self-consistency).")
@click.option(
    "--form",
    type=click.Choice(sorted(FORMS)),
    default="auto",
    show_default=True,
    help="Form of replies: free text, JSON schema, or both in turn (default: as in CONFIG).",
)
@click.option("--attack", is_flag=True, help="Also measure how often answers steer the model.")
@click.option("--language", default="", help="Language of truthfulqa: en or es.")
@click.option("--rating", default="", help="Rating of mtrag: faithfulness, win-rate, ...")
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    default=Path(".ragstone"),
    show_default=True,
    help="Folder of kept replies.",
)
@json_option
def check(
    *,
    config: str,
    data: str,
    name: str,
    limit: int | None,
    seed: int,
    repeats: int | None,
    form: str,
    attack: bool,
    language: str,
    rating: str,
    store: Path,
    as_json: bool,
) -> None:
    """Check the judge of CONFIG on answers that people have graded, and report its fit uses.

    CONFIG is a YAML file with a judge, an experiment file with judges, or a judge's name.
    """
    from ragstone.calls.client import Calls
    from ragstone.cli.progress_bars import open_bar
    from ragstone.core.progress import shown_by
    from ragstone.evaluation.human_grades import read_human_set
    from ragstone.evaluation.judge_check import check_judge
    from ragstone.evaluation.judge_check_text import check_document, check_text, steering_text
    from ragstone.evaluation.prompt_injection import steering
    from ragstone.protocols import Services

    options = {"language": language, "rating": rating}
    graded = read_human_set(data, **{key: value for key, value in options.items() if value})
    if limit is not None:
        graded = graded.sample(limit, seed)
    more: dict[str, Any] = {"least_parse_rate": 0.0, **({"repeats": repeats} if repeats else {})}
    documents = []
    with Calls.at(store / "calls.sqlite") as calls, shown_by(open_bar):
        services = Services(calls=calls)
        for structured in FORMS[form]:
            forced = more if structured is None else {**more, "structured": structured}
            judge = read_judge(config, name, forced)
            found = check_judge(judge, graded, services, seed=seed)
            title = {None: "", True: "With a JSON schema: ", False: "In free text: "}[structured]
            attacks = steering(judge, graded, services) if attack else []
            document = {"form": form, "structured": structured, **check_document(found)}
            documents.append({**document, "steered": [asdict(one) for one in attacks]})
            if not as_json:
                click.echo(f"{title}{check_text(found)}\n")
                click.echo("".join(f"{steering_text(one)}\n" for one in attacks), nl=False)
    if as_json:
        print_json(documents)


command.add_command(correlate)
command.add_command(calibrate)


def read_judge(config: str, name: str, forced: dict[str, Any]) -> Judge:
    """Return the judge of a file or by its name, with some fields replaced if it has them."""
    from ragstone.core.registry import create, find
    from ragstone.core.spec import parse_spec
    from ragstone.errors import ConfigError, did_you_mean

    path = Path(config)
    is_file = path.suffix in {".yaml", ".yml"} or path.is_file()
    written = _written(path) if is_file else [config]
    specs = [parse_spec(one, where=config) for one in written]
    if name:
        specs = [spec for spec in specs if spec.name == name]
    if len(specs) != 1:
        names = [parse_spec(one, where=config).name for one in written]
        raise ConfigError(
            f"{config} has {len(names)} judges: name one with --judge"
            if not name
            else f"{config} has no judge {name!r}{did_you_mean(name, names)}"
        )
    spec = specs[0]
    folder = path.parent if is_file else None
    kind = find("judges", spec.name, where=config, folder=folder)
    legal = {field.name for field in fields(kind)}
    more = {key: value for key, value in forced.items() if key in legal}
    changed = {"name": spec.name, **spec.parameters, **more}
    judge: Judge = create("judges", changed, where=config, folder=folder)
    return judge


def _written(path: Path) -> list[Any]:
    from ragstone.core.parsing import read_yaml

    document = read_yaml(path, "judge")
    if isinstance(document, dict) and "judges" in document:
        listed = document["judges"]
        return listed if isinstance(listed, list) else [listed]
    return [document]
