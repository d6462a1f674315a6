"""`ragstone.evaluate`: a function, rows or a component, measured by one call."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone import evaluate
from ragstone.components.generators.given_function import GivenFunction
from ragstone.errors import ConfigError

ROWS = [
    {"query": f"What is the capital of {country}?", "gold_answers": [city], "id": f"q{n}"}
    for n, (country, city) in enumerate([("Peru", "Lima"), ("Egypt", "Cairo"), ("Oman", "Muscat")])
]


def lima(query: str) -> str:
    """Answer every query with one city."""
    return f"It is Lima, {len(query)}."


def match(results: ragstone.Results) -> tuple[float | None, int, int]:
    """Return the mean of Match, n and the number of failures."""
    found = results.evaluation()["Match"]
    return found.mean, found.n, found.failed


def reasons(results: ragstone.Results) -> list[str]:
    """Return the reasons of predictions without an answer."""
    return [p.reason for trial in results.trials for p in trial.predictions.values() if p.reason]


def test_a_function_sync_or_async_has_the_same_scores(tmp_path: Path) -> None:
    """The table begins with the result as a sentence."""

    async def later(query: str) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"answer": lima(query), "passage_ids": ["p1"]}

    results = evaluate(lima, ROWS, store=tmp_path)
    assert match(results) == pytest.approx((1 / 3, 3, 0))
    assert str(results).startswith("lima has Match 0.333 [")
    assert match(evaluate(later, ROWS, store=tmp_path, concurrency=3)) == match(results)


def test_rows_and_components_are_systems(tmp_path: Path) -> None:
    """Rows are matched by id or by text; a query without a row has failed."""
    rows = [{"query_id": "q0", "answer": "Lima"}, {"query": ROWS[1]["query"], "answer": "Giza"}]

    @dataclass(frozen=True)
    class Mine:
        def generate(self, query: Any, context: Any) -> ragstone.Prediction:
            return ragstone.Prediction(query.query_id, "Cairo")

    found = evaluate(rows, ROWS, store=tmp_path)
    assert match(found) == pytest.approx((1 / 3, 3, 1))
    assert reasons(found)[0].startswith("no answer recorded in ")
    assert match(evaluate(Mine(), ROWS, store=tmp_path)) == pytest.approx((1 / 3, 3, 0))
    assert evaluate("gold", ROWS, ["EM"], store=tmp_path).evaluation()["EM"].mean == 1
    with pytest.raises(ragstone.ConfigError, match="row 1: no query of the data has"):
        evaluate([{"query": "Who?", "answer": "a"}], ROWS, store=tmp_path)
    with pytest.raises(ragstone.ConfigError, match="int is not a system"):
        evaluate(3, ROWS, store=tmp_path)


def test_a_function_of_a_file_is_not_called_again_and_a_closure_is(tmp_path: Path) -> None:
    """A change of what a closure refers to could not be detected."""
    calls: list[str] = []

    def closure(query: str) -> str:
        calls.append(query)
        return lima(query)

    for _ in range(2):
        evaluate(closure, ROWS, store=tmp_path)
    assert len(calls) == 6
    assert GivenFunction("a.lima", given=lima).asks_again is False
    assert GivenFunction("a.closure", given=closure).asks_again is True


def test_each_query_is_asked_once_and_the_first_one_alone(tmp_path: Path) -> None:
    """The first reply is the answer to its query; a failure of it does not stop the run."""
    calls: list[str] = []

    def fails_once(query: str) -> str:
        calls.append(query)
        if len(calls) == 1:
            raise ValueError("no index")
        return lima(query)

    results = evaluate(fails_once, ROWS, store=tmp_path)
    assert len(calls) == 3
    assert match(results)[2] == 1
    assert "fails_once raised ValueError: no index" in reasons(results)[0]


def test_a_reply_of_a_wrong_form_stops_the_run_with_what_came_back(tmp_path: Path) -> None:
    """No other query is asked."""
    calls: list[str] = []

    def wrong(query: str) -> Any:
        calls.append(query)
        return ["Lima"]

    with pytest.raises(ragstone.ComponentError, match=r"returned list \(\['Lima'\]\); expected"):
        evaluate(wrong, ROWS, store=tmp_path)
    assert len(calls) == 1


def test_a_function_that_hangs_is_a_failure_after_its_time(tmp_path: Path) -> None:
    """The run goes on with the other queries, and the thread does not keep the program alive."""
    released = threading.Event()

    def hangs(query: str) -> str:
        if "Egypt" in query:
            released.wait(60)
        return lima(query)

    results = evaluate(hangs, ROWS, store=tmp_path, timeout=0.2)
    released.set()
    assert match(results)[2] == 1
    assert "did not answer within 0.2 s" in reasons(results)[0]


def test_an_exit_of_the_interpreter_is_a_failure(tmp_path: Path) -> None:
    """`sys.exit` in a function, or in its file when it is imported, does not end the program."""

    def leaves(query: str) -> str:
        if "Egypt" in query:
            sys.exit(3)
        return lima(query)

    results = evaluate(leaves, ROWS, store=tmp_path)
    assert "leaves raised SystemExit: 3" in reasons(results)[0]
    (tmp_path / "leaving.py").write_text("import sys\nsys.exit(1)\n")
    with pytest.raises(ragstone.ConfigError, match="failed on import: SystemExit"):
        evaluate(f"callable({tmp_path}/leaving.py:answer)", ROWS, store=tmp_path)


def test_a_function_of_batches_gets_lists(tmp_path: Path) -> None:
    """Each list has at most that many queries; a list of another length is told."""
    sizes: list[int] = []

    def of_many(queries: list[str]) -> list[str]:
        sizes.append(len(queries))
        return [lima(query) for query in queries]

    assert match(evaluate(of_many, ROWS, store=tmp_path, batch=2)) == pytest.approx((1 / 3, 3, 0))
    assert sum(sizes) == 3
    assert max(sizes) <= 2
    with pytest.raises(ragstone.ComponentError, match="returned 0 answers for a batch of 1"):
        evaluate(lambda queries: queries[:0], ROWS, store=tmp_path, batch=2)


def test_it_works_inside_a_running_event_loop(tmp_path: Path) -> None:
    """As in a notebook."""

    async def cell() -> ragstone.Results:
        return evaluate(lima, ROWS, store=tmp_path)

    assert match(asyncio.run(cell()))[1] == 3


def test_it_works_in_a_script(tmp_path: Path) -> None:
    """A function of `__main__` is called once per query, over two runs of the script."""
    (tmp_path / "script.py").write_text(
        "import ragstone, sys\n"
        "def answer(query):\n"
        "    print('asked', file=sys.stderr)\n"
        "    return 'Lima'\n"
        f"results = ragstone.evaluate(answer, {ROWS!r})\n"
        "print(results.evaluation()['Match'].mean)\n"
    )
    for asked in (3, 0):
        found = subprocess.run(
            [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert found.stdout.startswith("0.333")
        assert found.stderr.count("asked") == asked


def test_empty_input_is_told(tmp_path: Path) -> None:
    """No questions, or a question without text."""
    with pytest.raises(ragstone.DatasetError, match="contains no row"):
        evaluate(lima, [], store=tmp_path)
    with pytest.raises(ragstone.ConfigError, match="no column of questions"):
        evaluate(lima, [{"answer": "a"}], store=tmp_path)


def test_wrong_arguments_are_told_before_anything_is_asked(tmp_path: Path) -> None:
    """A batch of none would wait for ever; a text is not a row."""
    rows = [{"query": "Where?"}]
    with pytest.raises(ConfigError, match="batch must be 1 or more, found 0"):
        ragstone.evaluate(lambda queries: queries, rows, batch=0, store=tmp_path)
    with pytest.raises(ConfigError, match="mappings with 'query'; found 'Where\\?'"):
        ragstone.evaluate(lambda query: query, ["Where?"], store=tmp_path)


def test_without_gold_answers_the_metrics_need_none(tmp_path: Path) -> None:
    """Of recorded rows with contexts."""
    answers = [{"query": "Where?", "answer": "Lima", "contexts": ["In Lima."]}]
    found = ragstone.evaluate(answers, [{"query": "Where?"}], store=tmp_path).evaluation()
    assert (found["K-precision"].mean, found["refusal"].mean) == (1.0, 0.0)
