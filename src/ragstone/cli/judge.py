"""`ragstone judge`: check, calibrate and correlate judges."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.judge_calibrate import command as calibrate
from ragstone.cli.judge_check_causes import print_cause_check
from ragstone.cli.judge_correlate import command as correlate
from ragstone.cli.judge_next import command as next_labels
from ragstone.cli.options import FILE, POSITIVE, AliasCommand, json_option, print_result

if TYPE_CHECKING:
    from ragstone.protocols import Judge

FORMS: Final[dict[str, list[bool | None]]] = {
    "auto": [None],
    "text": [False],
    "schema": [True],
    "both": [False, True],
}
"""Form of the replies -> values of the judge's field `structured`; None leaves it as in CONFIG."""
TITLES: Final = {None: "", False: "In free text: ", True: "With a JSON schema: "}


@click.group("judge", commands=[correlate, calibrate, next_labels])
def command() -> None:
    """Check, calibrate and correlate judges: language models that grade.

    `next` proposes the answers that people should label.

    \b
    Examples:
      ragstone judge check equivalence --data ../truthfulqa --limit 100
      ragstone judge correlate --data ../mtrag --rating win-rate
      ragstone judge calibrate experiment.yaml --metric equivalence --labels labels.jsonl
      ragstone judge next experiment.yaml --metric equivalence --labels 50 -o next.jsonl
    """


@command.command(
    "check", cls=AliasCommand, former={"--on": "--data", "--attack": "--prompt-injection"}
)
@click.argument("config", metavar="CONFIG")
@click.option(
    "--data",
    help="Folder of answers graded by people: truthfulqa, ragchecker, begin, nq_open or mtrag.",
)
@click.option(
    "--causes",
    type=FILE,
    help="Instead of --data: people's causes of the wrong answers of the experiment CONFIG.",
)
@click.option("--judge", "name", help="Name of the judge, if CONFIG has several.")
@click.option("--limit", type=POSITIVE, help="Use a random sample of this many answers.")
@click.option("--seed", default=0, help="Seed of the random sample and of the intervals.")
@click.option(
    "--repeats",
    type=POSITIVE,
    help="Number of repeats, to measure self-consistency (default: as in CONFIG).",
)
@click.option(
    "--form",
    type=click.Choice(sorted(FORMS)),
    default="auto",
    help="Form of the replies: free text, JSON schema, both in turn, or auto as in CONFIG.",
)
@click.option(
    "--prompt-injection",
    is_flag=True,
    help="Also measure how often instructions in an answer change the verdict.",
)
@click.option("--language", help="Language of truthfulqa: en or es.")
@click.option("--rating", help="Rating of mtrag: faithfulness, win-rate, ...")
@click.option("--store", type=FILE, default=Path(".ragstone"), help="Folder of kept model replies.")
@json_option
def check(
    *,
    config: str,
    data: str | None,
    causes: Path | None,
    name: str | None,
    limit: int | None,
    seed: int,
    repeats: int | None,
    form: str,
    prompt_injection: bool,
    store: Path,
    **options: str | None,
) -> None:
    """Compare a judge with people's grades.

    Reports the uses that the judge of CONFIG is fit for. CONFIG is a YAML file with a judge, an
    experiment file with judges, or a judge's name. With --causes, the causes of an experiment's
    wrong answers are compared with people's labels.

    \b
    Examples:
      ragstone judge check judge.yaml --data ../truthfulqa
      ragstone judge check equivalence --data ../truthfulqa --limit 100 --form both
      ragstone judge check exp.yaml --judge RB_llm --data mtrag:../mtrag --rating completeness
      ragstone judge check exp.yaml --causes labels.jsonl
    """
    if (data is None) == (causes is None):
        raise click.UsageError("give one of --data, with graded answers, and --causes, with labels")
    if data is None or causes is not None:
        print_cause_check(Path(config), Path(causes or ""), seed)
        return
    from ragstone.calls.client import Calls
    from ragstone.cli.progress_bars import open_bar
    from ragstone.core.progress import shown_by
    from ragstone.evaluation.human_grades import read_human_set
    from ragstone.evaluation.judge_check import check_judge
    from ragstone.evaluation.judge_check_text import check_document, check_text, steering_text
    from ragstone.evaluation.prompt_injection import steering
    from ragstone.protocols import Services

    graded = read_human_set(data, **{key: value for key, value in options.items() if value})
    if limit is not None:
        graded = graded.sample(limit, seed)
    more: dict[str, Any] = {"least_parse_rate": 0.0, **({"repeats": repeats} if repeats else {})}
    documents, texts = [], []
    with Calls.at(store / "calls.sqlite") as calls, shown_by(open_bar):
        services = Services(calls=calls)
        for structured in FORMS[form]:
            forced = more if structured is None else {**more, "structured": structured}
            judge = read_judge(config, name, forced)
            found = check_judge(judge, graded, services, seed=seed)
            attacks = steering(judge, graded, services) if prompt_injection else []
            document = {"form": form, "structured": structured, **check_document(found)}
            documents.append({**document, "steered": attacks})
            text = f"{TITLES[structured]}{check_text(found)}\n"
            texts.append("\n".join([text, *map(steering_text, attacks)]))
    print_result(lambda: documents, lambda: "\n".join(texts))


def read_judge(config: str, name: str | None, forced: dict[str, Any]) -> Judge:
    """Return the judge of a file or by its name, with some fields replaced if it has them."""
    from ragstone.core.parsing import read_yaml
    from ragstone.core.registry import create, find
    from ragstone.core.spec import parse_spec
    from ragstone.errors import ConfigError, did_you_mean

    path = Path(config)
    is_file = path.suffix in {".yaml", ".yml"} or path.is_file()
    document = read_yaml(path, "judge") if is_file else config
    written = document.get("judges", document) if isinstance(document, dict) else document
    listed = written if isinstance(written, list) else [written]
    specs = [parse_spec(one, where=config) for one in listed]
    chosen = [spec for spec in specs if not name or name == spec.name]
    if len(chosen) != 1:
        names = [spec.name for spec in specs]
        raise ConfigError(
            f"{config} has no judge {name!r}{did_you_mean(name, names)}"
            if name
            else f"{config} has {len(names)} judges: name one with --judge"
        )
    (spec,) = chosen
    folder = path.parent if is_file else None
    legal = {field.name for field in fields(find("judges", spec.name, where=config, folder=folder))}
    more = {key: value for key, value in forced.items() if key in legal}
    changed = {"name": spec.name, **spec.parameters, **more}
    judge: Judge = create("judges", changed, where=config, folder=folder)
    return judge
