"""Scores of blocks on the workers of an executor: the rows, statuses and facts of one process."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.score_columns import STATUSES
from ragstone.core import limits
from ragstone.core.builtins import BUILT_IN
from ragstone.core.executors.base import IN_PROCESS
from ragstone.core.executors.processes import ProcessExecutor
from ragstone.core.schemas import (
    SCORES,
    columns,
    contexts_to_table,
    joined,
    predictions_to_table,
    queries_to_table,
    rankings_to_table,
)
from ragstone.core.store import Store
from ragstone.core.stored_table import StoredTable
from ragstone.data.table_builder import judgements
from ragstone.errors import ConfigError, DatasetError
from ragstone.experiment.block_work import Tally
from ragstone.experiment.metric_set import MetricSet
from ragstone.experiment.score_work import scored_apart
from ragstone.experiment.sent_blocks import SentBlocks
from ragstone.experiment.step_blocks import result_blocks
from ragstone.experiment.steps import Step
from ragstone.models.bundled import MODELS
from ragstone.protocols import Services
from ragstone.types import Context, ContextPassage, Prediction, Query, Ranking

ANSWER_METRICS = ("EM", "F1", "ROUGE-L", "checks", "answer-in-context")
_QUERIES = 10
"""Four blocks of three queries; the last one has one."""


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BLOCK_QUERIES", 3)


def answers(seventh: str = 'json_schema: {"$ref": "http://localhost/x"}') -> dict[str, StoredTable]:
    """Return queries, answers and contexts that give every status.

    Args:
        seventh: the check of query 7; by default one that cannot be computed.
    """
    checks = ["contains: Bern", "contains: ä", "", *["contains: x"] * 7]
    checks[7] = seventh
    queries = [
        Query(f"q{n}", "Where?", () if n == 1 else ("Bern", "in Bern"), labels={"checks": check})
        for n, check in enumerate(checks)
    ]
    said = [Prediction(f"q{n}", f'"in Bern {n} ä"') for n in range(_QUERIES)]
    said[4] = Prediction("q4", None, reason="no reply")
    bern = (ContextPassage("p", "Bern", "gold"),)
    shown = [Context(f"q{n}", "gold", bern) for n in range(0, _QUERIES, 2)]
    return _stored(
        queries=queries_to_table(queries),
        predictions=predictions_to_table(said),
        contexts=contexts_to_table(shown),
    )


def rankings() -> dict[str, StoredTable]:
    """Return queries, rankings and judgements; one query has no ranking, one no judgement."""
    ids = [f"q{n}" for n in range(_QUERIES)]
    run = {q: Ranking(["a", "b", q], [3.0, 2.0, 1.0]) for q in ids if q != "q5"}
    return _stored(
        queries=queries_to_table([Query(q, "?") for q in ids]),
        run=rankings_to_table(list(run), list(run.values())),
        qrels=judgements({(q, q if q == "q2" else "b"): 1 for q in ids if q != "q8"}),
    )


def _stored(**tables: Any) -> dict[str, StoredTable]:
    return {name: StoredTable.in_memory(table) for name, table in tables.items()}


@dataclass
class Here:
    """Calls the job in this process, and stops the run before a block."""

    stop: int = 99
    jobs: list[Any] = field(default_factory=list)

    def open(self) -> None:
        """Do nothing."""

    def map(self, job: Any, items: Iterable[Any]) -> Iterator[Any]:
        """Yield the results."""
        for place, item in enumerate(items):
            if place == self.stop:
                raise KeyboardInterrupt
            self.jobs.append(job)
            yield job(item)

    def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class DiesOnce:
    """A job whose first worker is killed."""

    job: Any
    mark: Path

    def __call__(self, block: Any) -> Any:
        """Return the result, or kill this process."""
        if not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.job(block)


@dataclass
class Dying(ProcessExecutor):
    """Processes of which the first one is killed in its first block."""

    mark: Path = Path()

    def map(self, job: Any, items: Iterable[Any]) -> Iterator[Any]:
        """Yield the results."""
        return super().map(DiesOnce(job, self.mark), items)


def scored(
    inputs: dict[str, StoredTable],
    store: Path,
    executor: Any,
    names: Iterable[str] = ANSWER_METRICS,
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Return the rows and the facts of a step of scores."""
    metrics = MetricSet(tuple(map(parse_metric, names)))
    step = Step("score-ranking" if "run" in inputs else "score-answer", metrics, inputs)
    services, tally = Services(store=Store(store), executor=executor), Tally()
    sent = SentBlocks.of(step, inputs, Store(store), services)
    assert (sent is None) == (executor is IN_PROCESS)
    table = joined(list(result_blocks(step, inputs, services, tally, sent)), SCORES)
    if sent is not None:
        sent.remove_shards()
    return columns(table), tally.to_dict()


def _shards(store: Path) -> int:
    return len(list(store.glob("arrays/shard-*")))


def test_a_killed_process_changes_no_score(tmp_path: Path) -> None:
    """Values, statuses, reasons and facts of answers and rankings are those of one process."""
    executor = Dying(2, tmp_path / "died")
    ranked = ("nDCG@5", "MRR")
    try:
        found = scored(answers(), tmp_path, executor)
        assert scored(rankings(), tmp_path, executor, ranked) == scored(
            rankings(), tmp_path, IN_PROCESS, ranked
        )
    finally:
        executor.close()
    assert executor.mark.exists()
    assert found == scored(answers(), tmp_path, IN_PROCESS)
    rows, facts = found
    assert set(rows["status"]) == set(STATUSES)
    assert facts["failed"] == 1
    assert not _shards(tmp_path)


def test_a_stopped_step_goes_on_with_its_blocks(tmp_path: Path) -> None:
    """A block with a value that could not be computed has no shard, and is computed again."""
    with pytest.raises(KeyboardInterrupt):
        scored(answers(), tmp_path, Here(stop=3))
    kept = {path: path.stat().st_ino for path in tmp_path.glob("arrays/shard-*")}
    assert len(kept) == 2  # the third block has the value that failed

    with pytest.raises(KeyboardInterrupt):
        scored(answers(), tmp_path, Here(stop=3))
    assert {path: path.stat().st_ino for path in tmp_path.glob("arrays/shard-*")} == kept
    executor = Here()
    assert scored(answers(), tmp_path, executor) == scored(answers(), tmp_path, IN_PROCESS)
    assert len(executor.jobs) == 4
    assert not _shards(tmp_path)


def test_an_error_of_a_worker_is_that_of_one_process(tmp_path: Path) -> None:
    """A malformed check ends the step with the same message; the blocks before it are kept."""
    wrong, executor = answers(seventh="regex: ("), ProcessExecutor(1)
    try:
        with pytest.raises(DatasetError) as sent:
            scored(wrong, tmp_path, executor)
    finally:
        executor.close()
    with pytest.raises(DatasetError, match="is malformed") as plain:
        scored(wrong, tmp_path, IN_PROCESS)
    assert str(sent.value) == str(plain.value)
    assert _shards(tmp_path) >= 2  # and that of the block after it, if it was sent already


def test_no_queries_and_a_single_block_are_scored_here(tmp_path: Path) -> None:
    """Nothing is sent."""
    for count in (0, 2):
        cut = _stored(**{name: one.table.slice(0, count) for name, one in answers().items()})
        executor = Here()
        assert scored(cut, tmp_path, executor) == scored(cut, tmp_path, IN_PROCESS)
        assert not executor.jobs


def test_the_bundled_encoder_gives_equal_bits(tmp_path: Path) -> None:
    """Each text is encoded alone, whatever was encoded before."""
    if not MODELS["all-minilm-l6-v2"].fetched:
        pytest.skip("the model is not on this machine: ragstone models fetch all-minilm-l6-v2")
    names = ("BERTScore-F1(model=all-minilm-l6-v2)", "semantic-similarity")
    executor = ProcessExecutor(1)
    try:
        found = scored(answers(), tmp_path, executor, names)
    finally:
        executor.close()
    assert found == scored(answers(), tmp_path, IN_PROCESS, names)
    values = [value for value in found[0]["value"] if value is not None]
    assert len(set(values)) > 5


def _all_metrics() -> Iterator[Any]:
    for name in BUILT_IN["metrics"]:
        plain, cutoff, _ = name.partition("@k")
        try:
            yield parse_metric(f"{plain}@5" if cutoff else plain)
        except ConfigError:  # it takes no cutoff
            yield parse_metric(plain)


def test_metrics_that_need_other_queries_stay() -> None:
    """All others are sent; so are those of BERTScore with the bundled encoder."""
    stay = {metric.name for metric in _all_metrics() if not scored_apart(MetricSet((metric,)))}
    torch = {"BERTScore-F1", "BERTScore-P", "BERTScore-R", "Bert-K-Precision", "RB_agg"}
    assert stay == {"attack-success", "BLEU", "chrF", "label", *torch}
    bundled = parse_metric("BERTScore-R(model=all-minilm-l6-v2)")
    assert scored_apart(MetricSet((bundled, parse_metric("EM"))))
    assert not scored_apart(MetricSet((bundled, parse_metric("BLEU"))))
    assert not scored_apart(MetricSet(()))
