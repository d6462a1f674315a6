"""`ragstone build mirage`: sets of questions and answers, mapped to the articles of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.build_options import (
    Spending,
    data_origin,
    least_informed_option,
    print_built,
    spending_options,
)
from ragstone.cli.options import FILE, POSITIVE, chart_option, json_option, print_result

if TYPE_CHECKING:
    from ragstone.building.articles import Articles
    from ragstone.components.judges.logprob_base import Method
    from ragstone.components.judges.support import Support
    from ragstone.data.dataset import Dataset
    from ragstone.protocols import Generator, Services

_CHUNKER: Final = "sentences(330)"
_AS_GIVEN: Final = "none"
_JUDGE_TOKENS: Final = 64


@click.command("mirage")
@click.argument("target", type=FILE, metavar="TARGET_FOLDER")
@click.option(
    "--qa",
    "sets",
    multiple=True,
    required=True,
    metavar="SOURCE",
    help="Data set of questions with gold answers; may be repeated.",
)
@click.option("--corpus", required=True, metavar="SOURCE", help="Data set with the articles.")
@click.option(
    "--judge",
    default="local",
    help="Model that labels support: a generator spec, or several as a list; the majority counts.",
)
@click.option(
    "--method",
    type=click.Choice(["text", "logprob"]),
    default="text",
    help="Read the judge's word, or its probability of yes; with several models the mean counts.",
)
@click.option("--reader", default="local", help="Generator that validates the labels by answering.")
@click.option(
    "--chunker",
    default=_CHUNKER,
    help="Chunker that cuts the articles; none if the passages of the corpus are the chunks.",
)
@click.option("--chunks", default=5, type=POSITIVE, help="Chunks per query.")
@click.option(
    "--search",
    type=click.Choice(["title", "text"]),
    default="title",
    help="Find chunks by the title of the query's article, or by the query's text.",
)
@click.option(
    "--hard-noise", is_flag=True, help="Take noise from the best chunks by the query's text."
)
@click.option(
    "--keep-known",
    is_flag=True,
    help="Keep queries that the reader answers without context, with the label known.",
)
@click.option(
    "--per-source", type=POSITIVE, help="Draw at most this many queries of each set, at random."
)
@click.option("--title-label", default="", help="Label of a query that names its article.")
@least_informed_option
@click.option("--seed", default=0, help="Seed of the random draws.")
@click.option("--plan", is_flag=True, help="Print the largest number of calls, and stop.")
@spending_options
@chart_option
@json_option
def mirage_command(
    *,
    target: Path,
    sets: tuple[str, ...],
    corpus: str,
    judge: str,
    method: Method,
    reader: str,
    chunker: str,
    plan: bool,
    spending: Spending,
    chart: Path | None,
    **choices: Any,
) -> None:
    """Build a benchmark from sets of questions and answers, by MIRAGE's recipe.

    Each query is mapped to the article that it names. A chunk is relevant if the judge calls it
    supporting and the reader, shown the chunk alone, answers rightly. Queries that the reader
    answers without context are removed. Replies are kept: if interrupted, run the same command
    again to resume.

    \b
    Examples:
      ragstone build mirage my-mirage --qa popqa.jsonl --qa nq.jsonl --corpus wiki \\
          --judge "chat(model=a)" --reader "chat(model=b)" --chart funnel.svg
      ragstone build mirage my-mirage --qa qa.csv --corpus articles --plan
    """
    from ragstone.building.built import Built, check_target
    from ragstone.building.funnel_chart import build_chart
    from ragstone.building.mirage import MirageBuilder, MirageRecipe
    from ragstone.building.support_sample import support_sample
    from ragstone.data.load import load_dataset
    from ragstone.results.charts.render import write_chart

    check_target(target)
    recipe = MirageRecipe(**choices)
    questions = [load_dataset(source) for source in sets]
    with spending.services(target) as services:
        articles = _articles(load_dataset(corpus), chunker)
        labeller = _judge(judge, method, services)
        builder = MirageBuilder(articles, labeller, _reader(reader, services), services, recipe)
        if plan:
            _print_plan(builder.calls(questions))
            return
        made = builder.build(questions)
    described = {
        "command": "mirage",
        "sets": [data_origin(one, source) for one, source in zip(questions, sets, strict=True)],
        "corpus": corpus,
        "chunker": chunker,
        "judge": list(labeller.model_names),
        "method": method,
        "reader": reader,
        **{name: value for name, value in choices.items() if value is not None},
    }
    sample = support_sample(made.queries, " + ".join(labeller.model_names), recipe.seed)
    built = Built(made.dataset, made.funnel, described, made.about, sample, labeller)
    if chart:
        write_chart(build_chart(built.document(target)), chart)
    print_built(built, target)


def _print_plan(calls: int) -> None:
    print_result(lambda: {"calls": calls}, lambda: f"at most {calls:,} calls")


def _articles(corpus: Dataset, chunker: str) -> Articles:
    from ragstone.building.articles import Articles
    from ragstone.core.registry import create

    given = chunker == _AS_GIVEN
    return Articles.read(
        corpus.corpus, None if given else create("chunkers", chunker, where="--chunker")
    )


def _judge(model: str, method: Method, services: Services) -> Support:
    from ragstone.components.judges.support import Support

    tokens = _JUDGE_TOKENS
    judge = Support(model=model, method=method, max_tokens=tokens, least_parse_rate=0.0)
    judge.check(services)
    return judge


def _reader(written: str, services: Services) -> Generator:
    from ragstone.core.registry import create

    reader: Generator = create("generators", written, where="--reader")
    reader.check(services)
    return reader
