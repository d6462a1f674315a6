"""`ragstone judge`: is a judge any good, and which metric goes with it?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click

from ragstone.cli.judge_calibrate import command as calibrate
from ragstone.cli.judge_correlate import command as correlate
from ragstone.cli.options import json_option, print_json

FORMS: Final[dict[str, list[bool | None]]] = {
    "auto": [None],
    "text": [False],
    "schema": [True],
    "both": [False, True],
}


@click.group("judge")
def command() -> None:
    """Check language models that grade.

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
    help="Graded answers: a folder of truthfulqa, ragchecker, begin, nq_open or mtrag.",
)
@click.option("--judge", "name", default="", help="Which judge of an experiment file.")
@click.option("--limit", type=click.IntRange(min=1), help="A random sample of this many items.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of sample and intervals.")
@click.option("--repeats", type=click.IntRange(min=1), help="Ask so often, to see if it repeats.")
@click.option(
    "--form",
    type=click.Choice(sorted(FORMS)),
    default="auto",
    show_default=True,
    help="Free text, JSON schema, or both one after the other.",
)
@click.option("--attack", is_flag=True, help="Also see how often answers steer the model.")
@click.option("--language", default="", help="Of truthfulqa: en or es.")
@click.option("--rating", default="", help="Of mtrag: faithfulness, completeness, win-rate, ...")
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    default=Path(".ragstone"),
    show_default=True,
    help="Folder of kept replies: the same check asks nothing twice.",
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
    """Ask the judge of CONFIG about answers that people have graded, and say what it is fit for.

    CONFIG is a YAML file with a judge, an experiment file with judges, or a judge's name.
    """
    from ragstone.calls.client import Calls
    from ragstone.cli.progress_bars import open_bar
    from ragstone.core.progress import shown_by
    from ragstone.evaluation.human_grades import read_human_set
    from ragstone.evaluation.judge_check import check_judge
    from ragstone.evaluation.judge_check_text import check_document, check_text, steering_text
    from ragstone.evaluation.prompt_injection import steering

    options = {"language": language, "rating": rating}
    held = read_human_set(data, **{key: value for key, value in options.items() if value})
    if limit is not None:
        held = held.sample(limit, seed)
    more: dict[str, Any] = {"least_parse_rate": 0.0, **({"repeats": repeats} if repeats else {})}
    documents = []
    store.mkdir(parents=True, exist_ok=True)
    with Calls.at(store / "calls.sqlite") as calls, shown_by(open_bar):
        for structured in FORMS[form]:
            forced = more if structured is None else {**more, "structured": structured}
            judge = read_judge(config, name, forced)
            found = check_judge(judge, held, calls, seed=seed)
            told = {None: "", True: "With a JSON schema: ", False: "In free text: "}[structured]
            attacks = steering(judge, held, calls) if attack else []
            document = {"form": form, "structured": structured, **check_document(found)}
            documents.append({**document, "steered": [asdict(one) for one in attacks]})
            if not as_json:
                click.echo(f"{told}{check_text(found)}\n")
                click.echo("".join(f"{steering_text(one)}\n" for one in attacks), nl=False)
    if as_json:
        print_json(documents)


command.add_command(correlate)
command.add_command(calibrate)


def read_judge(config: str, name: str, forced: dict[str, Any]) -> Any:
    """Return the judge that a file or a name says, some of its fields forced."""
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
    legal = getattr(kind, "__dataclass_fields__", {})
    more = {key: value for key, value in forced.items() if key in legal}
    form = {"name": spec.name, **spec.parameters, **more}
    return create("judges", form, where=config, folder=folder)


def _written(path: Path) -> list[Any]:
    from ragstone.core.parsing import read_yaml

    held = read_yaml(path, "judge")
    if isinstance(held, dict) and "judges" in held:
        listed = held["judges"]
        return listed if isinstance(listed, list) else [listed]
    return [held]
