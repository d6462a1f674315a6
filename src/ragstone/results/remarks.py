"""Sentences about the limits of the results, and about doubtful figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.errors import DatasetError
from ragstone.results.judge_notes import judge_remarks
from ragstone.results.oracle import oracle_doubts
from ragstone.results.reader import StoredResults
from ragstone.results.record import is_oracle
from ragstone.results.trained_parts import trained_sentences


def remarks(results: StoredResults) -> list[str]:
    """Return the sentences, for the terminal, the report and JSON."""
    doubts = [doubt.sentence for doubt in oracle_doubts(results)]
    rest = (*_repeats(results), *_adaptive(results), *judge_remarks(results))
    return [
        *_secret(results),
        *_machine_qrels(results),
        *(f"{sentence}." for sentence in trained_sentences(results.record.trained)),
        *_correctness(results),
        *_approximate(results),
        *_own_code(results),
        *_oracle(results),
        *doubts,
        *rest,
    ]


def _secret(results: StoredResults) -> Iterator[str]:
    """Yield the number of secret queries, and the results that are hidden because of them."""
    if sentence := results.secret_sentence:
        yield f"{sentence}."
    if results.withholds_figures:
        yield (
            "Figures of all answers together, such as macro-F1, contain the secret queries and are "
            "not shown."
        )


def _approximate(results: StoredResults) -> Iterator[str]:
    """Yield the recall that each approximate search reached."""
    for entry in results.record.steps:
        if found := entry.ann:
            low = found["lower_bound"]
            bound = "no interval" if low is None else f"at least {low:.3f} at 95 %"
            yield (
                f"`{results.part_name(entry.folder)}` searched approximately: recall "
                f"{found['recall']:.3f} ({bound}; target {found['target']:g}), measured on "
                f"{found['n']:,} of the queries; {found['nprobe']:,} lists a query."
            )


def _own_code(results: StoredResults) -> Iterator[str]:
    """Yield the models that ran code of their own, and the commits that were allowed."""
    made = [manifest["made_by"] for manifest in results.manifests.values()]
    for model, commit in sorted(set(_allowed_code(made))):
        yield (
            f"The model `{model}` ran code of its own (`model_code: {commit}`); the digest of its "
            "files is in the keys and in the passport."
        )


def _allowed_code(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the model and the commit of each component that allows code."""
    if isinstance(value, Mapping):
        if value.get("model_code"):
            yield str(value.get("model", "")), str(value["model_code"])
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from _allowed_code(inner)


def _machine_qrels(results: StoredResults) -> Iterator[str]:
    """Yield that a model made the qrels: ranking metrics then measure agreement with it."""
    if sentence := results.qrels_sentence:
        yield f"{sentence}."


def _adaptive(results: StoredResults) -> Iterator[str]:
    """Yield how an adaptive run ended, and how its figures are to be read."""
    facts = results.record.adaptive
    if not facts:
        return
    yield (
        f"Adaptive run: {facts['answers']:,} of {facts['all_answers']:,} answers were asked. "
        "Systems have different n: each mean is of the queries of its own system, and tests are of "
        "common queries. Intervals in the tables are those of one look; `adaptive` in --json has "
        "those that hold over all looks."
    )
    for setting, one in facts["contests"].items():
        yield f"{setting}, {facts['metric'][setting]}: {contest_text(one)}."


def contest_text(facts: Mapping[str, Any]) -> str:
    """Return how a contest of an adaptive run ended.

    >>> contest_text({"state": "budget", "leader": "a", "left": ["a", "b"], "stopped": {}})
    'a leads; b not separated from it when the budget was spent'
    """
    leader, others = facts["leader"], [name for name in facts["left"] if name != facts["leader"]]
    left = ", ".join(others)
    ends = {
        "open": f"{leader or 'nothing'} leads; not decided yet",
        "decided": f"{leader} is best",
        "equivalent": f"{leader} leads; {left} within the margin",
        "complete": f"{leader} leads; {left} not separated from it on all queries",
        "budget": f"{leader} leads; {left} not separated from it when the budget was spent",
    }
    stopped = ", ".join(
        f"{name} at look {why['look']} (n={why['n']}, {why['difference']:+.4f})"
        for name, why in facts["stopped"].items()
    )
    return ends[facts["state"]] + (f". Stopped as worse: {stopped}" if stopped else "")


def _repeats(results: StoredResults) -> Iterator[str]:
    """Yield the results that use only one answer per query, if answers are repeated."""
    if any(len(trial.answers) > 1 for trial in results.trials):
        yield (
            "Means, intervals and tests are of all repeats of a query. Adaptability, refusals, "
            "searches, stated confidence and the passages that a system reports are those of the "
            "first answer to each query."
        )


def _oracle(results: StoredResults) -> Iterator[str]:
    """Yield the missing results if several settings could be the oracle."""
    golds = list(filter(is_oracle, results.settings))
    if len(golds) > 1 and results.record.oracle is None:
        yield (
            f"{' and '.join(golds)} could each be the oracle: adaptability, the gain from gold "
            "context and the suitability of the data set are not shown; name one in the experiment "
            f"file, such as `oracle: {golds[0]}`."
        )


def _correctness(results: StoredResults) -> Iterator[str]:
    """Yield the results that are missing without a rule for correct answers."""
    if not results.trials or results.correctness is not None:
        return
    why = "No metric calls an answer correct (`correct` in the experiment file)"
    if rule := results.record.correctness:
        try:
            for trial in results.trials:
                rule.labels(trial.first.values(rule.metric))
        except DatasetError as error:
            why = f"No rule calls an answer correct: {error}"
    yield (
        f"{why}: adaptability, the gain from gold context and the suitability of the data set are "
        "not shown."
    )
