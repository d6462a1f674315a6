"""The jobs in deepeval: ExactMatchMetric, and the judge GEval.

It does not call the system: the answers are made before. Its metric takes one gold answer.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

from my_rag import (  # type: ignore[import-not-found]  # a file beside this one
    ROWS,
    answer,
    hand_over,
)

deepeval: Any = import_module("deepeval")
configs: Any = import_module("deepeval.evaluate")
metrics: Any = import_module("deepeval.metrics")
cases: Any = import_module("deepeval.test_case")


def judge() -> Any:
    """Return the judge; its steps are given, so that no call writes them."""
    local: Any = import_module("deepeval.models").LocalModel
    model = local(model="fake", api_key="none", base_url=os.environ["PEER_URL"])
    names = cases.SingleTurnParams
    return metrics.GEval(
        name="right",
        evaluation_steps=["Is the actual output right, by the expected output?"],
        evaluation_params=[names.INPUT, names.ACTUAL_OUTPUT, names.EXPECTED_OUTPUT],
        model=model,
    )


def evaluate(metric: Any, *, ignore_errors: bool = False) -> dict[str, Any]:
    """Evaluate with the defaults, except for the number of tasks at once."""
    table = [
        cases.LLMTestCase(
            input=row["query"],
            actual_output=answer(row["query"]),
            expected_output=row["gold_answers"][0],
        )
        for row in ROWS
    ]
    result = deepeval.evaluate(
        table,
        [metric],
        async_config=configs.AsyncConfig(max_concurrent=64),
        display_config=configs.DisplayConfig(
            show_indicator=False, print_results=len(ROWS) <= 100, inspect_after_run=False
        ),
        error_config=configs.ErrorConfig(ignore_errors=ignore_errors),
    )
    passed = sum(bool(each.success) for each in result.test_results)
    said = f"{passed} of {len(result.test_results)} passed"
    return {"mean": passed / len(result.test_results), "n": None, "said": said}


if __name__ == "__main__":
    job = sys.argv[1]
    chosen = judge() if job.startswith(("verdicts", "calls")) else metrics.ExactMatchMetric()
    hand_over(**evaluate(chosen, ignore_errors=job == "verdicts"))
