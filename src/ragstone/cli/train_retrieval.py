"""`ragstone train reranker` and `embedder`: contrastive training with mined hard negatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli import options as cli
from ragstone.cli.train_generator import plan_option, print_plan, record_document, record_text
from ragstone.core.tables import TextTable
from ragstone.results.wording import interval_text, number

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.training.ranking_gains import RankingTest
    from ragstone.training.record import TrainingRecord
    from ragstone.training.retrieval import Mining, RankingExample, RetrievalRecipe
    from ragstone.training.training import Training
    from ragstone.types import Ranking, Search


@click.command("reranker")
@click.argument("file", type=cli.FILE)
@plan_option
@cli.json_option
def reranker_command(*, file: Path, plan: bool) -> None:
    """Train the reranker of FILE: a relevant passage above hard negatives of its query.

    It is tested on queries of unseen documents, before and after. If interrupted, run the same
    command again to resume.

    \b
    Examples:
      ragstone train reranker reranker.yaml
      ragstone train reranker reranker.yaml --plan      memory, time and disk; nothing is trained
      ragstone train reranker reranker.yaml --json
    """
    from ragstone.training.ranking_gains import reranker_gains
    from ragstone.training.recipe import read_recipe
    from ragstone.training.reranker import RerankerRecipe, reranker_training

    recipe = read_recipe(file, RerankerRecipe)
    parts, test, data, files = _data(recipe, file.parent)
    training = reranker_training(recipe, parts, data, files=files)
    _run(training, recipe, partial(reranker_gains, recipe, test), plan=plan)


@click.command("embedder")
@click.argument("file", type=cli.FILE)
@plan_option
@cli.json_option
def embedder_command(*, file: Path, plan: bool) -> None:
    """Train the embedder of FILE: a query's vector nearest to that of its relevant passage.

    It is tested on queries of unseen documents, before and after. If interrupted, run the same
    command again to resume.

    \b
    Examples:
      ragstone train embedder embedder.yaml
      ragstone train embedder embedder.yaml --plan      memory, time and disk; nothing is trained
      ragstone train embedder embedder.yaml --json
    """
    from ragstone.training.embedder import EmbedderRecipe, embedder_training
    from ragstone.training.ranking_gains import embedder_gains
    from ragstone.training.recipe import read_recipe

    recipe = read_recipe(file, EmbedderRecipe)
    parts, test, data, files = _data(recipe, file.parent)
    training = embedder_training(recipe, parts, data, files=files)
    _run(training, recipe, partial(embedder_gains, recipe, test), plan=plan)


def _data(
    recipe: RetrievalRecipe, folder: Path
) -> tuple[dict[str, Mining], RankingTest, dict[str, Any], dict[str, str]]:
    """Return the mined parts, the test, the facts of the data, and the files of the splits."""
    from ragstone.data.load import load_dataset
    from ragstone.errors import ConfigError
    from ragstone.training.ranking_gains import RankingTest
    from ragstone.training.record import data_facts
    from ragstone.training.retrieval import Mining, check_judgements, documents_of, searches_of
    from ragstone.training.splits import PARTS, split

    dataset = load_dataset(recipe.data, folder)
    check_judgements(dataset)
    splits = split(dataset, recipe.validation, recipe.test, recipe.seed, folder)
    ids = {part: getattr(splits, part) for part in PARTS}
    documents = {part: documents_of(splits.data[part], ids[part]) for part in PARTS}
    searches = {part: searches_of(splits.data[part], ids[part]) for part in PARTS}
    searches["test"] = _drawn(searches["test"], recipe)
    if not searches["test"]:
        raise ConfigError(
            "the test part has no query with a relevant passage: raise test", key="test"
        )
    rankings = {p: _rankings(recipe, splits.data[p], searches[p], folder) for p in PARTS}
    mined = {
        part: Mining(
            recipe,
            splits.data[part],
            ids[part],
            rankings[part],
            frozenset().union(*(found for other, found in documents.items() if other != part)),
        )
        for part in ("train", "validation")
    }
    test = RankingTest(splits.data["test"], searches["test"], rankings["test"])
    return mined, test, {**data_facts(dataset), **splits.facts()}, splits.files()


def _drawn(searches: list[Search], recipe: RetrievalRecipe) -> list[Search]:
    """Return the searches of the test, in order."""
    import random

    if recipe.test_queries is None or recipe.test_queries >= len(searches):
        return searches
    drawn = random.Random(recipe.seed)  # noqa: S311 - not a secret
    places = drawn.sample(range(len(searches)), recipe.test_queries)
    return [searches[place] for place in sorted(places)]


def _rankings(
    recipe: RetrievalRecipe, dataset: Dataset, searches: list[Search], folder: Path
) -> Mapping[str, Ranking]:
    """Return the passages that may be negatives, from a retriever, a run or an experiment."""
    from dataclasses import replace

    from ragstone.core.registry import create
    from ragstone.protocols import Services

    written = recipe.negatives
    if isinstance(written, Mapping) and "experiment" in written:
        return _of_experiment(written, folder)
    if isinstance(written, str) and (folder / written).is_file():
        written = {"name": "run-file", "path": str(folder / written)}
    retriever = create("retrievers", written, where="negatives", folder=folder)
    retriever = replace(retriever, top_k=recipe.depth)
    services = Services(corpus=dataset.corpus)
    retriever.check(services)
    found = retriever.retrieve(searches, services)
    return {s.query_id: o.value for s, o in zip(searches, found, strict=True) if o.value}


def _of_experiment(written: Mapping[str, Any], folder: Path) -> Mapping[str, Ranking]:
    """Return the rankings of one system of an experiment that has run."""
    from ragstone.errors import ConfigError

    results = cli.load_results(folder / str(written["experiment"]), ())
    runs = {run.system: run.rankings for run in results.rankings}
    system = written.get("system", next(iter(runs), ""))
    if system not in runs:
        known = ", ".join(runs) or "none"
        raise ConfigError(
            f"negatives: {written['experiment']} has no rankings of the system {system!r}; it has: "
            f"{known}",
            key="negatives",
            value=system,
        )
    return runs[system]


def _run(
    training: Training[RankingExample],
    recipe: RetrievalRecipe,
    measure: Callable[[Path], Mapping[str, Any]],
    *,
    plan: bool,
) -> None:
    """Plan, or train and test; the result is printed, and the model card has its table."""
    from ragstone.training.card import with_results
    from ragstone.training.ranking_gains import with_test

    if plan:
        print_plan(training)
        return
    record = with_test(training, measure)
    table = _table(record.facts["test"])
    with_results(training.folder, table)
    cli.print_result(
        lambda: {**record_document(record, recipe.output), "test": record.facts["test"]},
        lambda: (
            f"{record_text(record, recipe.output)}\n"
            f"in an experiment: {_use(record, recipe)}\n\n{table}"
        ),
    )


def _table(test: Mapping[str, Any]) -> TextTable:
    """Return the means before and after, and their paired differences."""
    rows = [
        [
            row["metric"],
            number(row["before"]),
            number(row["after"]),
            f"{row['difference']:+.3f}{interval_text(row['interval'])}",
            f"{row['p_holm']:.3f}",
        ]
        for row in test["rows"]
    ]
    searched = (
        f"{test['passages']:,} passages searched"
        if "passages" in test
        else f"the first {test['depth']} candidates reranked"
    )
    count = test["rows"][0]["n"]
    title = f"{count:,} queries of unseen documents; {searched}; before: {test['before']}"
    return TextTable(["metric", "before", "after", "difference", "p (Holm)"], rows, title)


def _use(record: TrainingRecord, recipe: RetrievalRecipe) -> str:
    """Return the component of the trained model, as an experiment file has it."""
    name = "cross-encoder" if record.kind == "reranker" else "sentence-transformers"
    prefixes = {p: getattr(recipe, p, "") for p in ("query_prefix", "passage_prefix")}
    given = "".join(f', {name}: "{text}"' for name, text in prefixes.items() if text)
    return f"{{name: {name}, model: {recipe.output}, max_tokens: {recipe.max_tokens}{given}}}"
