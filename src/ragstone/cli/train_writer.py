"""`ragstone train writer`: fine-tuning of a question writer, also with each data set held out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli import options as cli
from ragstone.cli.data_generate import checks_by
from ragstone.cli.model_calls import open_services
from ragstone.cli.train_generator import plan_option, print_plan, record_document, record_text
from ragstone.core import limits

if TYPE_CHECKING:
    from ragstone.building.generate import Generated
    from ragstone.data.corpus import Corpus
    from ragstone.data.dataset import Dataset
    from ragstone.training.writer import WriterRecipe


@click.command("writer")
@click.argument("file", type=cli.FILE)
@click.option(
    "--hold-out",
    metavar="each|NAME",
    help="Train one model per data set, or that of NAME, on all other sets; then let it write "
    "queries for the set.",
)
@click.option(
    "--contexts",
    default=2000,
    type=cli.POSITIVE,
    help="Passages of a held-out set that are written about, once per label.",
)
@click.option("--judge", help="Model that labels and rates the queries for a held-out set.")
@click.option("--max-tokens", default=limits.WRITER_TOKENS, help="Maximum tokens of such a query.")
@plan_option
@cli.json_option
def writer_command(*, file: Path, hold_out: str | None, plan: bool, **writing: Any) -> None:
    """Train the question writer of FILE: it learns question and answer from a label and a context.

    The data are test sets of `ragstone data generate`. The trained model writes test sets:
    ragstone data generate SOURCE TARGET --strategy "writer(model=OUTPUT)".

    \b
    Examples:
      ragstone train writer w.yaml
      ragstone train writer w.yaml --plan           memory, time and disk; nothing is trained
      ragstone train writer w.yaml --hold-out each --contexts 500
    """
    from ragstone.training.recipe import read_recipe
    from ragstone.training.writer import WriterRecipe, writer_training
    from ragstone.training.writer_data import named_sets

    recipe = read_recipe(file, WriterRecipe)
    sets = named_sets(recipe.data, file.parent)
    if plan:
        print_plan(writer_training(recipe, sets))
        return
    if hold_out is None:
        record = writer_training(recipe, sets).run()
        cli.print_result(
            lambda: record_document(record, recipe.output),
            lambda: record_text(record, recipe.output),
        )
        return
    names = _held_out(hold_out, sets)
    found = {name: _one_held_out(recipe, sets, name, writing) for name in names}
    cli.print_result(
        lambda: {"held_out": {name: document for name, (document, _) in found.items()}},
        lambda: "\n".join(text for _, text in found.values()),
    )


def _held_out(hold_out: str, sets: Mapping[str, Dataset]) -> list[str]:
    """Return the names of the sets to hold out; raise `ConfigError` if it cannot be done."""
    from ragstone.errors import ConfigError, did_you_mean

    if len(sets) < 2:  # noqa: PLR2004 - one to learn, one to hold out
        raise ConfigError(
            f"--hold-out needs two data sets or more, found {', '.join(sets)}; give several as a "
            "list or a mapping of names (data)",
            key="data",
        )
    if hold_out != "each" and hold_out not in sets:
        raise ConfigError(f"--hold-out: no data set {hold_out!r}{did_you_mean(hold_out, sets)}")
    return list(sets) if hold_out == "each" else [hold_out]


def _one_held_out(
    recipe: WriterRecipe, sets: Mapping[str, Dataset], name: str, writing: Mapping[str, Any]
) -> tuple[dict[str, Any], str]:
    """Train without a set and write queries for it; return the result as document and text."""
    from ragstone.training.writer import writer_training

    output = Path(recipe.output).expanduser()
    corpus = _usable(sets[name], writing["contexts"], recipe.seed)
    own = replace(recipe, output=str(output / f"without-{name}"))
    others = {other: one for other, one in sets.items() if other != name}
    record = writer_training(own, others).run()
    made = _write(own, sets[name], corpus, output / name, writing)
    summary = made.summary()
    kept = sum(summary["kept"].values())
    document = record_document(record, own.output)
    document |= {"generated": str(output / name), "tried": summary["tried"], "kept": kept}
    text = record_text(record, own.output)
    return document, f"{text}\n{output / name}: {kept:,} queries kept of {summary['tried']:,}"


def _write(
    recipe: WriterRecipe,
    dataset: Dataset,
    corpus: Corpus,
    target: Path,
    writing: Mapping[str, Any],
) -> Generated:
    """Write the test set of a held-out data set: each passage once per label."""
    from ragstone.building.draft import QueryWriter
    from ragstone.building.generate import Checks, GenerationPlan, generate
    from ragstone.building.write import check_folder, write_generated
    from ragstone.components.question_writer import hf_spec, resolve_writer
    from ragstone.core.spec import Spec

    check_folder(target)
    # What fits on the device in training does so in writing.
    batch = {"device": recipe.device, "batch_size": recipe.optim.batch or 8}
    trained = hf_spec(recipe.output, **({} if recipe.device == "cpu" else batch))
    plan = GenerationPlan(
        strategy=str(Spec("writer", {"model": trained})),
        count=len(corpus) * len(recipe.labels),
        per_passage=len(recipe.labels),
        rounds=1,
        seed=recipe.seed,
    )
    judge = writing["judge"]
    checks = checks_by(judge, labels=True, critiques=True) if judge else Checks()
    with open_services(target) as services:
        llm = resolve_writer(trained).llm
        writer = QueryWriter(llm, services, max_tokens=writing["max_tokens"])
        made = generate(corpus, plan, writer, checks)
    write_generated(made, dataset.corpus, target)
    return made


def _usable(dataset: Dataset, contexts: int, seed: int) -> Corpus:
    """Return a random sample of the passages that queries can be written about.

    Raises `ConfigError` if there is none.
    """
    import random

    from ragstone.building.passages import usable
    from ragstone.errors import ConfigError

    found = usable(dataset.corpus, in_language="any").passages
    if not found:
        raise ConfigError(
            f"--hold-out: {dataset.name} has no passage that queries can be written about: each "
            "is too short or has too little text"
        )
    if contexts < len(found):
        found = random.Random(seed).sample(found, contexts)  # noqa: S311 - not a secret
    return type(dataset.corpus).from_passages(found)
