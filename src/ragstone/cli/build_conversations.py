"""`ragstone build conversations`: synthetic conversations, and simulated users of a live system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.build_options import Spending, data_origin, print_built, spending_options
from ragstone.cli.data_generate import named_numbers
from ragstone.cli.options import FILE, POSITIVE, chart_option, json_option, print_result

if TYPE_CHECKING:
    from ragstone.building.conversations import ConversationBuilder
    from ragstone.building.draft import QueryWriter
    from ragstone.building.live_conversations import LiveBuilder
    from ragstone.data.corpus import Corpus
    from ragstone.data.dataset import Dataset
    from ragstone.experiment.live_system import LiveSystem
    from ragstone.protocols import Services

_JUDGE_TOKENS: Final = 64
_AGENT_PROMPT: Final = "mtrag-like"
_AGENT_TOKENS: Final = 256
"""Tokens of the 150 words that the prompt allows, with some to spare."""


def _turns(
    _context: click.Context, _option: click.Parameter, written: str | None
) -> tuple[int, int] | None:
    """Return the numbers of `2-8`, or of `5` twice."""
    if written is None:
        return None
    low, dash, high = written.partition("-")
    try:
        return int(low), int(high if dash else low)
    except ValueError:
        raise click.BadParameter(
            f"{written!r} is neither a number nor a range such as 2-8"
        ) from None


@click.command("conversations")
@click.argument("target", type=FILE, metavar="TARGET_FOLDER")
@click.option("--corpus", metavar="SOURCE", help="Data set with the passages.")
@click.option("--model", default="local", help="Model that plays the user: a generator spec.")
@click.option("--agent", help="Generator that answers as the agent (default: --model).")
@click.option("--judge", help="Model that labels and judges (default: --model).")
@click.option("--count", default=20, type=POSITIVE, help="Number of conversations to begin.")
@click.option(
    "--turns",
    default=None,
    callback=_turns,
    metavar="LOW-HIGH",
    help="Range of the number of turns, at most 8 (default: 2-8).",
)
@click.option(
    "--mix",
    multiple=True,
    callback=named_numbers,
    metavar="KIND=SHARE,...",
    help="Shares of follow-up, clarification, topic-shift and unanswerable turns.",
)
@click.option(
    "--seed-queries",
    metavar="SOURCE",
    help="Data set whose queries are the first turns, or the goals of simulated users.",
)
@click.option("--retriever", default="bm25", help="Retriever of the agent.")
@click.option("--passages", default=5, type=POSITIVE, help="Passages that the agent is shown.")
@click.option(
    "--question-types", is_flag=True, help="Label mtRAG's question types: a call per turn."
)
@click.option(
    "--live",
    metavar="SYSTEM",
    help="Let simulated users talk to a system: EXPERIMENT.yaml:NAME, my_rag.py:answer or http://...",
)
@click.option("--persona", type=FILE, help="YAML file with the personas of simulated users.")
@click.option("--real", metavar="SOURCE", help="Conversations of people, to compare with.")
@click.option("--prompts", type=FILE, help="YAML file with your own prompts of the user.")
@click.option("--seed", default=0, help="Seed of the random draws.")
@click.option(
    "--plan", "only_plan", is_flag=True, help="Print the largest number of calls, and stop."
)
@spending_options
@chart_option
@json_option
def conversations_command(
    *, target: Path, only_plan: bool, spending: Spending, chart: Path | None, **given: Any
) -> None:
    """Build conversations with a model as the user, in mtRAG's manner.

    The first turn is about a passage. A turn is answered from retrieved passages and labelled
    before the next one is written. A repeated, copied or leaking turn ends its conversation.

    With --live, simulated users with goals and personas talk to your own system, which is measured
    turn by turn. Replies are kept: if interrupted, run the same command again to resume.

    \b
    Examples:
      ragstone build conversations talks --corpus my-set --model "chat(model=a)" --count 20 \\
          --mix follow-up=3,clarification=1,topic-shift=1,unanswerable=1
      ragstone build conversations talks --corpus my-set --seed-queries my-set --turns 3-5
      ragstone build conversations live --live my_rag.py:answer --corpus my-set
      ragstone build conversations live --live e.yaml:base --persona hurried.yaml --real mtrag
    """
    from ragstone.building.built import Built, check_target
    from ragstone.building.funnel_chart import build_chart
    from ragstone.data.load import load_dataset
    from ragstone.results.charts.render import write_chart

    check_target(target)
    _check(given)
    names = ("corpus", "seed_queries", "real")
    data = {name: load_dataset(given[name]) for name in names if given[name]}
    seeds, real = data.get("seed_queries"), data.get("real")
    with spending.services(target) as services:
        make = _live if given["live"] else _synthetic
        builder = make(given, services, data.get("corpus"))
        if only_plan:
            calls = builder.calls(seeds)
            print_result(lambda: {"calls": calls}, lambda: f"at most {calls:,} calls")
            return
        made = builder.build(seeds, real)
    recipe: dict[str, Any] = {
        "command": "conversations",
        **{name: value for name, value in given.items() if value},
        **{name: data_origin(one, given[name]) for name, one in data.items()},
        "seed": given["seed"],
    }
    if not given["live"]:
        recipe |= {"turns": list(builder.plan.turns), "mix": dict(builder.plan.mix)}
    built = Built(made.dataset, made.funnel, recipe, made.about, made.files, builder.marked_by)
    if chart:
        write_chart(build_chart(built.document(target)), chart)
    print_built(built, target)


def _check(given: dict[str, Any]) -> None:
    """Raise `click.UsageError` for options that do not go together."""
    own_data = given["live"] and given["live"].partition(":")[0].endswith((".yaml", ".yml"))
    if not (given["corpus"] or own_data):
        raise click.UsageError("name the passages with --corpus")
    if given["persona"] and not given["live"]:
        raise click.UsageError(
            "--persona is for simulated users of a live system; add --live SYSTEM"
        )
    for name in ("turns", "mix", "agent"):
        if given["live"] and given[name]:
            raise click.UsageError(
                f"--{name} is for conversations without --live; a persona file has the patience "
                "and the habits of simulated users"
            )


def _plan(given: dict[str, Any]) -> Any:
    from ragstone.building.dialogue import DialoguePlan

    chosen = {name: given[name] for name in ("turns", "mix") if given[name]}
    return DialoguePlan(given["count"], seed=given["seed"], **chosen)


def _writer(given: dict[str, Any], services: Services) -> QueryWriter:
    from ragstone.building.draft import QueryWriter
    from ragstone.building.prompts import load_prompts
    from ragstone.components.llm import resolve_llm

    model = resolve_llm(given["model"], where="--model")
    model.generator.check(services)
    return QueryWriter(model, services, load_prompts(given["prompts"]))


def _judged_by(given: dict[str, Any]) -> dict[str, Any]:
    return {
        "model": given["judge"] or given["model"],
        "max_tokens": _JUDGE_TOKENS,
        "explain": False,
        "least_parse_rate": 0.0,
    }


def _synthetic(
    given: dict[str, Any], services: Services, data: Dataset | None
) -> ConversationBuilder:
    from ragstone.building.conversations import ConversationBuilder, TurnJudges
    from ragstone.building.labels import Labeller
    from ragstone.components.judges.sufficient_context import SufficientContext
    from ragstone.components.judges.support import Support

    plan = _plan(given)
    if data is None:
        raise click.UsageError("name the passages with --corpus")
    by = _judged_by(given)
    types = Labeller(**by, taxonomy="mtrag-question-types") if given["question_types"] else None
    judges = TurnJudges(Support(**by), SufficientContext(**by), types)
    judges.support.check(services)
    agent = _agent(given, data.corpus)
    agent.check(services)
    return ConversationBuilder(data.corpus, agent, _writer(given, services), judges, plan)


def _agent(given: dict[str, Any], corpus: Corpus) -> LiveSystem:
    """Return the agent: it rewrites a turn, searches, and answers by mtRAG's kind of prompt."""
    from dataclasses import replace

    from ragstone.components.context_settings.retrieved import Retrieved
    from ragstone.components.generators.llm_base import LlmGenerator
    from ragstone.components.query_formers.llm_rewrite import LlmRewrite
    from ragstone.core.prompt_files import DEFAULT_PROMPT
    from ragstone.core.registry import create
    from ragstone.experiment.live_system import LiveSystem
    from ragstone.experiment.system import System

    written = given["agent"] or given["model"]
    generator = create("generators", written, where="--agent")
    if isinstance(generator, LlmGenerator) and generator.prompt == DEFAULT_PROMPT:
        generator = replace(
            generator,
            prompt=_AGENT_PROMPT,
            max_tokens=max(generator.max_tokens, _AGENT_TOKENS),
        )
    former = LlmRewrite(model=given["model"])
    retriever = create("retrievers", given["retriever"], where="--retriever")
    system = System("agent", former, retriever, generator=generator)
    return LiveSystem(system, Retrieved(given["passages"]), corpus)


def _live(given: dict[str, Any], services: Services, data: Dataset | None) -> LiveBuilder:
    from ragstone.building.live_conversations import LiveBuilder
    from ragstone.building.simulated_user import load_personas
    from ragstone.components.judges.equivalence import Equivalence
    from ragstone.experiment.live_system import LiveSystem

    plan, personas = _plan(given), load_personas(given["persona"])
    judge = Equivalence(**_judged_by(given))
    system = LiveSystem.load(given["live"], given["corpus"] or "")
    system.check(services)
    judge.check(services)
    corpus = data.corpus if data else system.corpus
    return LiveBuilder(system, _writer(given, services), judge, personas, corpus, plan)
