"""The answers of an experiment that are not right, for the probes of a judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ragstone.components.judges.verdict import Item
from ragstone.evaluation.judge_probe import ProbedItems
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults


def probed_answers(results: StoredResults) -> ProbedItems:
    """Return the wrong answers of all systems under all settings, as a judge receives them.

    An answer is wrong by the experiment's rule for correct answers. Without a rule, or with one by
    a judge, all answers are returned: no probe makes an answer right.
    """
    rule = results.correctness
    by_gold = rule is not None and results.record.metric(rule.metric).kind != "judge"
    found: dict[tuple[str, ...], tuple[Item, str]] = {}
    left_out: Counter[str] = Counter()
    for trial in results.trials:
        labels = results.correct_answers(trial) if by_gold else {}
        for query_id, item in _items(results, trial):
            key = (query_id, item.answer or "", *item.passages)
            if by_gold and labels.get(query_id) is None:
                left_out[f"{rule} does not apply"] += 1
            elif by_gold and labels[query_id] != 0:
                left_out[f"{rule} calls them right"] += 1
            elif not (item.answer or "").strip():
                left_out["there is no answer"] += 1
            elif key in found:
                left_out["another system gave the same answer"] += 1
            else:
                found[key] = item, results.clusters.get(query_id, query_id)
    population = f"answers that {rule} calls wrong" if by_gold else "answers, right or wrong"
    items, clusters = zip(*found.values(), strict=True) if found else ((), ())
    return ProbedItems(results.name, population, items, clusters, dict(left_out))


def _items(results: StoredResults, trial: TrialResults) -> Iterator[tuple[str, Item]]:
    for query_id, prediction in trial.predictions.items():
        context = trial.contexts.get(query_id)
        passages = tuple(passage.text for passage in context.passages) if context else ()
        yield query_id, Item(results.queries[query_id], prediction.answer, passages)
