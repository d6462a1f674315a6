"""The jobs in ragas: EM and ROUGE-L of answers, and the judge AspectCritic.

It does not call the system: the answers are made before. Its string metrics take one gold answer.
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

ragas: Any = import_module("ragas")
metrics: Any = import_module("ragas.metrics")


def scores() -> dict[str, Any]:
    """Score recorded answers by string metrics."""
    return evaluate([metrics.ExactMatch(), metrics.RougeScore()])


def verdicts() -> dict[str, Any]:
    """Judge recorded answers, 64 at once."""
    chat: Any = import_module("langchain_openai").ChatOpenAI
    wrapper: Any = import_module("ragas.llms").LangchainLLMWrapper
    model = chat(model="fake", base_url=os.environ["PEER_URL"], api_key="none")
    criterion = "Is the response right, by the reference?"
    judge = metrics.AspectCritic(name="right", definition=criterion, llm=wrapper(model))
    return evaluate([judge])


def evaluate(chosen: list[Any]) -> dict[str, Any]:
    """Evaluate with the defaults, except for the number of workers."""
    table = ragas.EvaluationDataset.from_list(
        [
            {
                "user_input": row["query"],
                "response": answer(row["query"]),
                "reference": row["gold_answers"][0],
            }
            for row in ROWS
        ]
    )
    config = ragas.RunConfig(max_workers=64)
    result = ragas.evaluate(table, metrics=chosen, run_config=config, show_progress=False)
    print(result)
    return {"mean": next(iter(result._repr_dict.values())), "n": None, "said": repr(result)}  # noqa: SLF001  # what it prints


if __name__ == "__main__":
    jobs = {
        "own": scores,
        "recorded": scores,
        "verdicts": verdicts,
        "verdicts-default": verdicts,
        "calls": verdicts,
    }
    hand_over(**jobs[sys.argv[1]]())
