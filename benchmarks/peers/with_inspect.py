"""The jobs in inspect-ai: exact and f1 of an own solver, and the judge model_graded_qa."""

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

inspect: Any = import_module("inspect_ai")
scorers: Any = import_module("inspect_ai.scorer")
models: Any = import_module("inspect_ai.model")


def system() -> Any:
    """Return a solver that asks the system under test."""

    async def solve(state: Any, generate: Any) -> Any:  # noqa: ARG001  # its protocol
        state.output = models.ModelOutput.from_content("system", answer(state.input_text))
        return state

    def recorded_system() -> Any:
        return solve

    return import_module("inspect_ai.solver").solver(recorded_system)()


def judge() -> Any:
    """Return the judge, with 64 calls at once."""
    config = models.GenerateConfig(max_connections=64)
    url = os.environ["PEER_URL"]
    made = {"base_url": url, "api_key": "none", "responses_api": False}
    model = models.get_model("openai/fake", config=config, **made)
    return scorers.model_graded_qa(model=model)


def evaluate(chosen: list[Any], **options: Any) -> dict[str, Any]:
    """Evaluate with the defaults, and print the metrics of the log."""
    samples: Any = import_module("inspect_ai.dataset").Sample
    table = [samples(input=row["query"], target=row["gold_answers"]) for row in ROWS]
    task = inspect.Task(dataset=table, solver=system(), scorer=chosen)
    (log,) = inspect.eval(task, model=None, display="plain", max_samples=64, **options)
    if log.results is None:
        return {"mean": None, "n": None, "said": f"status {log.status}, no results"}
    said = {score.name: score.model_dump()["metrics"] for score in log.results.scores}
    values = {
        name: {metric: each["value"] for metric, each in found.items()}
        for name, found in said.items()
    }
    mean = next(iter(log.results.scores[0].metrics.values())).value
    return {"mean": mean, "n": None, "said": f"status {log.status}, {values}"}


if __name__ == "__main__":
    job = sys.argv[1]
    chosen = [judge()] if job.startswith(("verdicts", "calls")) else [scorers.exact(), scorers.f1()]
    hand_over(**evaluate(chosen, **({"fail_on_error": False} if job == "failing" else {})))
