"""`ragstone build testset`: a checked test set from own documents, in one command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli import options as cli
from ragstone.cli.build_options import (
    Spending,
    least_informed_option,
    print_built,
    spending_options,
)
from ragstone.cli.data_generate import named_numbers, threshold_option
from ragstone.core import limits

if TYPE_CHECKING:
    from ragstone.building.prompts import Prompts
    from ragstone.building.testset import TestsetBuilder
    from ragstone.core.component import Component
    from ragstone.data.corpus import Corpus
    from ragstone.protocols import Retriever, Services

_POOL: Final = ("bm25", "dense")
_STORE: Final = ".store"
"""Folder of the passages' vectors, in the target folder."""


@click.command("testset")
@click.argument("documents", metavar="DOCS")
@click.argument("target", type=cli.FILE, metavar="TARGET_FOLDER")
@click.option("--count", type=cli.POSITIVE, help="Number of queries (default: 30).")
@click.option(
    "--difference",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="In place of --count: as many queries as show this difference of means (power 80 %).",
)
@click.option(
    "--mix",
    multiple=True,
    callback=named_numbers,
    help="Shares of the types, such as fact_single=3,comparison=1 (default: equal shares).",
)
@click.option(
    "--persona", "styles", multiple=True, help="Who asks, or how; may be repeated, used in turn."
)
@click.option("--turns", default=3, help=f"Turns of a conversation, 2 to {limits.MAX_TURNS}.")
@click.option("--chunker", help="Chunker that cuts the documents (default: words(200)).")
@cli.model_option
@click.option("--judge", help="Model that labels support, types and ratings (default: --model).")
@click.option(
    "--reader", help="Generator that answers without context (default: --model); none for no label."
)
@click.option("--label/--no-label", "labels", default=True, help="Let the judge label the type.")
@click.option("--critique/--no-critique", "critiques", default=False, help="Rate by critiques.")
@threshold_option
@click.option(
    "--pool",
    multiple=True,
    metavar="RETRIEVER",
    help="Retriever whose best passages are judged; may be repeated (default: bm25, and dense if "
    "its packages and its model are installed).",
)
@click.option("--depth", default=5, type=cli.POSITIVE, help="Passages per query and retriever.")
@click.option("--prompts", type=cli.FILE, help="YAML file with your own prompts.")
@click.option("--per-passage", default=1, help="Maximum queries per passage.")
@click.option("--rounds", type=cli.POSITIVE, help="Maximum number of rounds of writing.")
@click.option(
    "--max-tokens", default=limits.WRITER_TOKENS, help="Maximum tokens per reply of the writer."
)
@least_informed_option
@click.option("--seed", default=0, help="Seed of the random draws.")
@click.option("--plan", is_flag=True, help="Print size, power and calls, and stop.")
@spending_options
@cli.chart_option
@cli.json_option
def testset_command(
    *,
    documents: str,
    target: Path,
    plan: bool,
    spending: Spending,
    chart: Path | None,
    **choices: Any,
) -> None:
    """Build a checked test set from documents: queries of each type, answers and judgements.

    DOCS is a folder, a pattern or a file of documents, or a data set with a corpus. Passages of all
    topics are used. An answer must be supported by its source, and passages that also contain it
    are judged relevant. Replies are kept: if interrupted, run the same command again to resume.

    \b
    Types (--mix):
      fact_single, summary, reasoning    one passage answers
      comparison, multi_hop              two passages of different documents answer
      unanswerable, false_premise        no passage answers; the passage contradicts the question
      underspecified, multi_turn         the right reply asks back; the last turn of a conversation

    \b
    Examples:
      ragstone build testset docs/ my-set --count 60 --model "chat(model=a)" --judge "chat(model=b)"
      ragstone build testset "docs/**/*.pdf" my-set --difference 0.05 --plan
    """
    from ragstone.building.built import Built, check_target
    from ragstone.building.funnel_chart import build_chart
    from ragstone.results.charts.render import write_chart

    check_target(target)
    _check_apart(documents, target)
    with spending.services(target) as services:
        missing: list[str] | None = [] if plan else None
        builder = _builder(documents, target / _STORE, choices, services, missing)
        if plan:
            planned = {**builder.planned(), "missing": missing}
            cli.print_result(lambda: planned, lambda: "\n".join(_plan_lines(planned)))
            return
        made = builder.build()
    built = Built(
        made.dataset(target.name),
        made.funnel,
        _recipe(documents, builder, choices),
        made.about,
        made.files,
    )
    if chart:
        write_chart(build_chart(built.document(target)), chart)
    print_built(built, target)


def _check_apart(documents: str, target: Path) -> None:
    """Raise `DatasetError` if the result would be read as documents by the next build."""
    from ragstone.errors import DatasetError

    folder = Path(documents)
    if folder.is_dir() and target.resolve().is_relative_to(folder.resolve()):
        raise DatasetError(
            f"{target} is in the folder of the documents, {folder}, which the next build would read"
            "; choose a folder outside of it",
            path=target,
        )


def _recipe(documents: str, builder: TestsetBuilder, choices: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that repeat the build."""
    pool = [repr(one) for one in builder.screen.pool.retrievers]
    given = {name: value for name, value in choices.items() if value not in (None, (), {})}
    return {"command": "testset", "documents": documents, **given, "pool": pool}


def _builder(
    documents: str,
    store: Path,
    choices: dict[str, Any],
    services: Services,
    missing: list[str] | None,
) -> TestsetBuilder:
    """Return the builder; what a model lacks is an error, or is added to `missing`."""
    from ragstone.building.draft import QueryWriter
    from ragstone.building.generate import Checks, GenerationPlan
    from ragstone.building.labels import Labeller
    from ragstone.building.pooling import PassagePool
    from ragstone.building.screening import Screen
    from ragstone.building.testset import MIXED, TestsetBuilder, size_for
    from ragstone.components.judges.critiques import Critiques
    from ragstone.components.judges.support import Support
    from ragstone.components.llm import resolve_llm
    from ragstone.core.registry import create
    from ragstone.core.store import Store
    from ragstone.errors import ConfigError

    count, difference = choices["count"], choices["difference"]
    if count and difference:
        raise ConfigError("--count and --difference both give the size; keep one of them")
    count = size_for(difference) if difference else count or 30
    known = {one.name: choices[one.name] for one in fields(GenerationPlan) if one.name in choices}
    plan = GenerationPlan(**{**known, "strategy": MIXED, "count": count})
    judging: dict[str, Any] = {
        "model": choices["judge"] or choices["model"],
        "least_parse_rate": 0.0,
        "explain": False,
        "max_tokens": limits.RATING_TOKENS,
    }
    judge = Support(**judging)
    reader = choices["reader"] or choices["model"]
    asked = None if reader == "none" else create("generators", reader, where="--reader")
    model = resolve_llm(choices["model"], where="--model")
    _check((judge, *([asked] if asked else []), model.generator), services, missing)
    corpus = _corpus(documents, choices["chunker"]).kept_in(Store(store))
    prompts, note = _prompts(corpus, choices["prompts"])
    writer = QueryWriter(model, services, prompts, choices["max_tokens"], note)
    pool = PassagePool(
        corpus, _retrievers(choices["pool"], choices["depth"], services), services, choices["depth"]
    )
    checks = Checks(
        Labeller(**judging) if choices["labels"] else None,
        Critiques(**judging) if choices["critiques"] or plan.thresholds else None,
    )
    screen = Screen(judge, asked, pool, services)
    return TestsetBuilder(corpus, plan, writer, screen, checks, choices["least_informed"])


def _check(components: Iterable[Component], services: Services, missing: list[str] | None) -> None:
    """Raise the first error of a component, or add all of them to `missing`, each once."""
    from ragstone.errors import RagstoneError

    for component in components:
        try:
            component.check(services)
        except RagstoneError as error:
            if missing is None:
                raise
            missing += [str(error)] if str(error) not in missing else []


def _corpus(documents: str, chunker: str | None) -> Corpus:
    """Return the passages of documents, or of a data set."""
    from ragstone.core.spec import parse_spec
    from ragstone.data.load import load_dataset
    from ragstone.data.readers.folder import read_corpus_alone
    from ragstone.errors import DatasetError

    alone = None if chunker else read_corpus_alone(Path(documents))
    written: Any = documents
    if chunker:
        spec = parse_spec(documents, where="DOCS") if documents.endswith(")") else None
        named = {"name": spec.name, **spec.parameters} if spec else {"path": documents}
        written = {**named, "chunker": chunker}
    corpus = (alone or load_dataset(written)).corpus
    if not len(corpus):
        raise DatasetError(
            f"{documents} has no passages; give documents or a data set with a corpus"
        )
    return corpus


def _prompts(corpus: Corpus, path: Path | None) -> tuple[Prompts, str]:
    """Return the prompts in the language of the documents, and the sentence that asks for it."""
    from dataclasses import replace

    from ragstone.building.prompts import ENGLISH, load_prompts
    from ragstone.building.testset import main_language

    prompts = load_prompts(path)
    language = main_language(corpus)
    if path or language in ("", ENGLISH):
        return prompts, ""
    return replace(prompts, language=language, examples={}), f"Write in {language}."


def _retrievers(written: Sequence[str], depth: int, services: Services) -> list[Retriever]:
    """Return the retrievers of the pool; `dense` by default only if it works here."""
    from ragstone.building.screening import LEAST_DEPTH
    from ragstone.core.registry import create
    from ragstone.errors import RagstoneError

    found = []
    for one in written or _POOL:
        spec = one if "(" in one else f"{one}(top_k={max(depth, LEAST_DEPTH)})"
        try:
            retriever = create("retrievers", spec, where="--pool")
            retriever.check(services)
        except RagstoneError:
            if written:
                raise
            continue
        found.append(retriever)
    return found


def _plan_lines(planned: dict[str, Any]) -> Iterator[str]:
    yield (
        f"{planned['usable']:,} of {planned['passages']:,} passages are usable, "
        f"{planned['topics']:,} topics"
    )
    types = ", ".join(f"{count:,} {label}" for label, count in planned["queries"].items())
    yield f"{planned['count']:,} queries: {types}"
    shown = planned["detectable_difference"]
    yield (
        f"{planned['count']:,} queries show no difference with a power of 80 %"
        if shown is None
        else f"{planned['count']:,} queries show a difference of {100 * shown:.1f} points (power "
        "80 %; 0/1 scores, mean 0.5, correlation 0.5 between systems)"
    )
    calls = planned["calls_without_rejections"]
    yield f"at most {calls:,} calls if no query is rejected"
    yield from (f"The build cannot start: {reason}" for reason in planned["missing"])
