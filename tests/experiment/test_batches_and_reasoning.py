"""An experiment whose models reason and whose calls go through a batch endpoint."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from ragstone.cli import root
from ragstone.core import limits
from ragstone.core.schemas import PREDICTIONS, predictions_to_table, table_to_predictions
from ragstone.errors import CallError
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.load import load_experiment
from ragstone.results.usage import usage_rows
from ragstone.testing import FakeBatchServer, FakeModelServer, fake_batch_server, fake_model_server
from ragstone.types import Prediction

Make = Callable[..., Experiment]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Return a function that loads an experiment with a server's model as generator and judge."""
    monkeypatch.setattr(limits, "MAX_BATCH_POLL_SECONDS", 0.05)
    (tmp_path / "prices.yaml").write_text("models: {fake: {input: 1000, output: 1000, batch: 0.5}}")

    def _make(url: str, store: str = "store", **options: Any) -> Experiment:
        model = {"name": "chat", "model": "fake", "base_url": url, **options}
        judge = {name: v[0] if isinstance(v, list) else v for name, v in model.items()}
        document = {
            "data": "sample",
            "store": str(tmp_path / store),
            "sample": {"limit": 8, "seed": 3, "where": {"turn": None}},
            "systems": [{"generator": model}],
            "settings": ["none", "gold"],
            "metrics": ["Match"],
            "judges": [{"name": "equivalence", "model": judge}],
            "prices": "prices.yaml",
        }
        path = tmp_path / "experiment.yaml"
        path.write_text(yaml.safe_dump(document))
        return load_experiment(path)

    return _make


@pytest.fixture
def reasoning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the fake servers report ten tokens of reasoning per reply."""
    made = fake_model_server.write_openai

    def write(asked: Any, text: str) -> dict[str, Any]:
        found = made(asked, text)
        found["usage"]["completion_tokens"] += 10
        found["usage"]["completion_tokens_details"] = {"reasoning_tokens": 10}
        return found

    for module in (fake_model_server, fake_batch_server):
        monkeypatch.setattr(module, "write_openai", write)


def test_batches_give_the_results_of_single_calls_at_their_price(make: Make) -> None:
    """Generator and judge go through batches; the scores are equal, and the cost is half."""
    with FakeBatchServer(answer=lambda _: "yes") as server:
        plan = make(server.url, batch=True).plan()
        batched = make(server.url, batch=True).run()
        assert server.asked.total() == 0
        assert set(server.paid.values()) == {1}
        single = make(server.url, "other").run()
        # The answers of both settings are one batch, and so are the judge's calls.
        sizes = [batch["request_counts"]["total"] for batch in server.batches.values()]
        assert (sizes[0], len(sizes)) == (15, 2)

        again = make(server.url).plan()
        assert again.calls == 0
    values = [
        [(c.setting, c.metric, c.summary.mean) for c in r.answer_cells] for r in (batched, single)
    ]
    assert values[0] == values[1]
    costs = [[row.cost for row in usage_rows(r)] for r in (batched, single)]
    assert costs[0] == pytest.approx([cost / 2 for cost in costs[1] if cost])
    assert plan.estimate is not None
    assert plan.estimate.batched == plan.estimate.calls == 15
    assert "15 of them in batches, which may take a day each" in plan.text()
    assert "full price" not in plan.text()
    assert [row.seconds_p50 for row in usage_rows(batched)] == [None, None]


def test_a_plan_says_that_the_price_of_a_batch_is_not_known(make: Make, tmp_path: Path) -> None:
    """The full price counts, and both plan and notes say so."""
    (tmp_path / "prices.yaml").write_text("models: {fake: {input: 1000, output: 1000}}")
    with FakeBatchServer(answer=lambda _: "yes") as server:
        text = make(server.url, batch=True).plan().text()
        results = make(server.url, batch=True).run()
    assert "15 of them at the full price: the price table has no `batch` for their model" in text
    assert "costs of replies from a batch at the full price" in json.dumps(results.to_dict())


@pytest.mark.usefixtures("reasoning")
def test_efforts_are_swept_and_their_tokens_shown(make: Make, tmp_path: Path) -> None:
    """One system per effort; tables and JSON have the tokens of reasoning."""
    with FakeModelServer(answer=lambda _: "yes") as server:
        results = make(server.url, reasoning_effort=["low", "high"]).run()
        sent = {body.get("reasoning_effort") for body in server.bodies}
    assert sent == {"low", "high"}
    assert [row.tokens_reasoning for row in usage_rows(results)] == [80] * 4
    run = CliRunner().invoke
    path = str(tmp_path / "experiment.yaml")
    shown = run(root, ["show", path])
    assert shown.exit_code == 0, shown.output
    assert "reasoning: tokens among those out" in shown.output
    (header,) = (line for line in shown.output.splitlines() if "tokens out" in line)
    assert header.split()[-2:] == ["reasoning", "cost"]
    document = json.loads(run(root, ["show", path, "--json"]).stdout)
    assert {row["tokens_reasoning"] for row in document["usage"]} == {80}
    report = tmp_path / "report.html"
    assert run(root, ["report", path, "--output", str(report)]).exit_code == 0
    assert "Reasoning tokens" in report.read_text()


def test_tables_have_the_column_only_if_it_has_values() -> None:
    """Digests of earlier tables do not change, and they are read."""
    plain = [Prediction("a", "x", tokens_in=1, tokens_out=2)]
    assert predictions_to_table(plain).column_names == PREDICTIONS.names
    assert table_to_predictions(predictions_to_table(plain)) == plain
    counted = [*plain, Prediction("b", "y", tokens_reasoning=5)]
    assert table_to_predictions(predictions_to_table(counted)) == counted


def test_models_wait_for_their_batches_together(make: Make) -> None:
    """Neither model waits for the batch of the other, and a failed call is not sent again."""
    with FakeBatchServer(answer=lambda _: "yes", looks=10**6) as server:
        experiment = make(server.url, batch=True, max_tokens=[20, 21], model=["fake", "other"])
        assert len(experiment.systems) == 4

        def end_once_all_are_sent() -> None:
            while len(server.batches) < 2:
                time.sleep(0.02)
            server.looks = 0

        thread = threading.Thread(target=end_once_all_are_sent)
        thread.start()
        with experiment.open_calls() as calls:
            results = experiment.run(calls)
            usage = calls.usage
        thread.join()
        sizes = [batch["request_counts"]["total"] for batch in server.batches.values()]
    assert sorted(sizes[:2]) == [30, 30]
    assert set(server.paid.values()) == {4, 1}
    assert sum(row.answered for row in usage_rows(results)) == 64
    assert usage.asked == sum(sizes)


def test_failures_of_a_batch_are_asked_again_by_the_next_run(make: Make) -> None:
    """The run in which they failed counts them, once."""
    with FakeBatchServer(answer=lambda _: "yes", ends=["expired"]) as server:
        first = make(server.url, batch=True).run()
        statuses = [row.failed for row in usage_rows(first)]
        assert sum(statuses) == 7
        reasons = {p.reason for t in first.trials for p in t.predictions.values() if p.reason}
        assert any("batch_expired" in reason for reason in reasons)
        made = len(server.batches)
        second = make(server.url, batch=True).run()
        assert [row.failed for row in usage_rows(second)] == [0, 0]
        assert list(server.batches.values())[made]["request_counts"]["total"] == 7


def test_a_model_that_cannot_be_used_stops_only_its_own_answers(make: Make) -> None:
    """The batch of the other model goes on, its replies are kept, and the error is raised."""
    trouble = {"POST files": ["401", "ok", "401"]}
    with FakeBatchServer(answer=lambda _: "yes", trouble=trouble) as server:
        experiment = make(server.url, batch=True, model=["fake", "other"])
        with pytest.raises(CallError, match="refused with 401"):
            experiment.run()
        (first, *_) = server.batches.values()
        assert (first["status"], first["request_counts"]["completed"]) == ("completed", 15)
        make(server.url, batch=True, model=["fake", "other"]).run()
    assert set(server.paid.values()) <= {1, 2}
