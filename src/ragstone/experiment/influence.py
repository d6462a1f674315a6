"""Leave-one-out: a query asked again without each of the passages that were shown."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.rouge_l import RougeL
from ragstone.errors import ConfigError
from ragstone.experiment.changed_query import as_shown, given_setting
from ragstone.experiment.counterfactuals import (
    Counterfactual,
    ask_counterfactuals,
    calls_of,
)
from ragstone.results.chain import QueryChain
from ragstone.results.influence import AnswerInfluence, ContextAnswers, PassageInfluence
from ragstone.types import ContextPassage

if TYPE_CHECKING:
    from ragstone.calls.client import Calls
    from ragstone.experiment.experiment import Experiment
    from ragstone.results.results import Results


def ask_influence(
    experiment: Experiment,
    chain: QueryChain,
    *,
    max_calls: int,
    repeats: int | None = None,
    calls: Calls | None = None,
) -> AnswerInfluence:
    """Return the influence of each shown passage on an answer.

    The context is asked whole, then without its first passage, its second, and so on, as far as
    the maximum of calls allows. Earlier replies are kept and take no call.

    Args:
        experiment: the experiment as its file describes it.
        chain: the chain of the query, under the setting that is asked.
        max_calls: maximum number of model calls. Answers of your own system count as calls.
        repeats: answers per context of a system that samples; by default as in the experiment.
        calls: makes the model calls; by default those of the experiment.

    Raises:
        ConfigError: it is not known which passages were shown, there are none, or the file has
            changed since the run; nothing was spent.
        CallError, ModelFileError: a model cannot be reached; nothing was spent.
    """
    shown = _shown(chain)
    found: list[ContextAnswers] = []
    left, made, reason = max_calls, 0, ""
    with contextlib.nullcontext(calls) if calls else experiment.open_calls() as opened:
        for wanted in _wanted(experiment, chain, shown, repeats):
            planned = calls_of(experiment, wanted, opened)
            if planned > left:
                reason = f"the maximum of {max_calls} calls does not suffice"
                break
            (asked,) = ask_counterfactuals(experiment, [wanted], calls=opened)
            if asked.results is None:
                reason = asked.reason
                break
            left, made = left - planned, made + asked.calls
            found.append(_answers(asked.results, chain))
    gold = {one.passage_id for one in chain.gold}
    without = [*found[1:], *([None] * len(shown))]
    return AnswerInfluence(
        chain.system,
        chain.setting,
        chain.own.answer if chain.own else None,
        repeats,
        whole=found[0] if found else None,
        passages=tuple(
            PassageInfluence(place, one.passage_id, one.passage_id in gold, without[place - 1])
            for place, one in enumerate(shown, start=1)
        ),
        calls=made,
        reason=reason,
    )


def planned_calls(experiment: Experiment, chain: QueryChain, repeats: int | None = None) -> int:
    """Return the maximum number of calls of `ask_influence`; nothing is asked."""
    wanted = _wanted(experiment, chain, _shown(chain), repeats)
    with experiment.open_calls() as opened:
        return sum(calls_of(experiment, one, opened) for one in wanted)


def _shown(chain: QueryChain) -> tuple[ContextPassage, ...]:
    what = f"{chain.system!r} under {chain.setting!r}"
    if chain.context is None or chain.own is None:
        raise ConfigError(
            f"it is not known which passages {what} was shown for {chain.query_id!r}, so none can "
            "be left out"
        )
    if not chain.context:
        raise ConfigError(f"{what} was shown no passage for {chain.query_id!r}; choose a setting")
    return chain.context


def _wanted(
    experiment: Experiment,
    chain: QueryChain,
    shown: Sequence[ContextPassage],
    repeats: int | None,
) -> list[Counterfactual]:
    """Return the whole context, then the context without each passage."""
    contexts = {"all": shown} | {
        f"without {place}": [*shown[: place - 1], *shown[place:]]
        for place in range(1, len(shown) + 1)
    }
    parts = as_shown(experiment, chain)
    return [
        Counterfactual(
            (chain.query_id,),
            (given_setting(chain, label, passages),),
            systems=(chain.system,),
            parts=parts,
            repeats=repeats,
            note=f"influence: {chain.setting}, {label}",
        )
        for label, passages in contexts.items()
    ]


def _answers(results: Results, chain: QueryChain) -> ContextAnswers:
    """Return the answers of a counterfactual with one trial."""
    (trial,) = results.trials
    rows = trial.answers
    said = [one.predictions[chain.query_id].answer for one in rows]
    labels = [results.labels(one.scores).get(chain.query_id) for one in rows]
    original = chain.own.answer if chain.own else None
    return ContextAnswers(
        tuple(said),
        tuple(None if label is None else label == 1 for label in labels),
        tuple(_similarity(one, original) for one in said),
    )


def _similarity(answer: str | None, original: str | None) -> float | None:
    """Return ROUGE-L of an answer against the original one; 1 if they are equal."""
    if answer is None or original is None:
        return None
    if answer == original:
        return 1.0
    pair = AnswerBatch([answer], [(original,)], [""], [None], [""])
    return float(RougeL().values(pair)[0]) if original.strip() else 0.0
