"""The jobs in arize-phoenix-evals: an own evaluator of EM, and a classifier by a model.

It does not call the system: the answers are made before. It prints no mean; the mean here is that
of the column of scores, as pandas has it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from importlib import import_module
from typing import Any

from my_rag import (  # type: ignore[import-not-found]  # a file beside this one
    ROWS,
    answer,
    hand_over,
)

evals: Any = import_module("phoenix.evals")
pandas: Any = import_module("pandas")


def exact(output: str, gold: list[str]) -> bool:
    """Return whether the answer is one of the gold answers."""
    return output in gold


def judge() -> Any:
    """Return a classifier with the choices yes and no."""
    url = os.environ["PEER_URL"]
    model = evals.LLM(provider="openai", model="fake", base_url=url, api_key="none")
    asked = "Is {output} right for {query}, by {gold}?"
    choices = {"yes": 1, "no": 0}
    return evals.create_classifier(name="right", prompt_template=asked, llm=model, choices=choices)


def evaluate(evaluator: Any, **options: Any) -> dict[str, Any]:
    """Evaluate a table, 64 rows at once, and count the cells by status."""
    table = pandas.DataFrame(
        {
            "query": [row["query"] for row in ROWS],
            "output": [answer(row["query"]) for row in ROWS],
            "gold": [row["gold_answers"] for row in ROWS],
        }
    )
    work = evals.async_evaluate_dataframe(
        dataframe=table, evaluators=[evaluator], concurrency=64, **options
    )
    done = asyncio.run(work)
    cells = [cell for name in done.columns if name.endswith("_score") for cell in done[name]]
    values = [json.loads(cell) if isinstance(cell, str) else cell for cell in cells]
    found = [each["score"] for each in values if isinstance(each, dict) and "score" in each]
    details = [str(cell) for name in done.columns if "details" in name for cell in done[name]]
    failed = sum("FAILED" in cell for cell in details)
    return {
        "mean": sum(found) / len(found) if found else None,
        "n": None,
        "said": f"{len(done)} rows, {len(found)} with a score, {failed} with the status FAILED",
    }


if __name__ == "__main__":
    job = sys.argv[1]
    if job.startswith(("verdicts", "calls")):
        hand_over(**evaluate(judge(), **({"exit_on_error": False} if job == "verdicts" else {})))
    else:
        hand_over(**evaluate(evals.create_evaluator(name="exact", kind="code")(exact)))
