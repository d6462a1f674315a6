"""The jobs in mlflow: an own scorer over an own function, and a judge of make_judge.

It has no EM, F1 or ROUGE-L for questions with gold answers; the scorer here is a line of EM.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from my_rag import (  # type: ignore[import-not-found]  # a file beside this one
    ROWS,
    answer,
    hand_over,
)

mlflow: Any = import_module("mlflow")
genai: Any = import_module("mlflow.genai")


def exact(outputs: str, expectations: dict[str, Any]) -> bool:
    """Return whether the answer is one of the gold answers."""
    return outputs in expectations["gold_answers"]


def judge() -> Any:
    """Return a judge with the answers yes and no."""
    os.environ["OPENAI_API_BASE"] = os.environ["OPENAI_BASE_URL"] = os.environ["PEER_URL"]
    os.environ["OPENAI_API_KEY"] = "none"
    asked = "Is {{ outputs }} right for {{ inputs }}, by {{ expectations }}?"
    return genai.make_judge(
        name="right", instructions=asked, model="openai:/fake", feedback_value_type=bool
    )


def evaluate(scorer: Any, *, recorded: bool) -> dict[str, Any]:
    """Evaluate with the defaults: ten workers, a store in SQLite."""
    mlflow.set_tracking_uri(f"sqlite:///{Path.cwd()}/mlflow.db")
    table = [
        {
            "inputs": {"query": row["query"]},
            "expectations": {"gold_answers": row["gold_answers"]},
            **({"outputs": row["answer"]} if recorded else {}),
        }
        for row in ROWS
    ]
    system = None if recorded else lambda query: answer(query)  # noqa: PLW0108  # it wants a keyword
    result = genai.evaluate(data=table, predict_fn=system, scorers=[scorer])
    print(result.metrics, len(result.result_df), "rows")
    mean = next(map(float, result.metrics.values()), None)
    return {"mean": mean, "n": None, "said": f"{len(result.result_df)} rows in result_df"}


if __name__ == "__main__":
    job = sys.argv[1]
    chosen = judge() if job.startswith(("verdicts", "calls")) else genai.scorer(exact)
    hand_over(**evaluate(chosen, recorded=job not in {"own", "failing", "failing-default"}))
