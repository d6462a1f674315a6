"""Trained judges and classifiers against people on unseen documents: kappa, n, interval.

    python benchmarks/trained_judges.py ../shared/data --output FOLDER [--only NAME] [--base BASE]

Each row is one `ragstone train judge`: BEGIN's attribution (its two halves together), TruthfulQA's
truthfulness, and mtRAG's question type and answerability. Beside the trained judge are the most
frequent label and, for BEGIN, the share of the response's words in the knowledge, with the
threshold that gives the highest kappa on the training and validation parts.

`--causal` trains an adapter of the bundled SmolLM2 for the judge `support` on BEGIN too.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ragstone.cli.labelled_data import read_labelled
from ragstone.cli.train_judge import trained_judge
from ragstone.statistics.agreement import cohen_kappa
from ragstone.training.judge_recipe import JudgeOptim, JudgeRecipe
from ragstone.training.temperature import fitted_threshold

ENCODER = {"optim": JudgeOptim(epochs=8, lr=1e-4)}
ROWS: dict[str, dict[str, Any]] = {
    "begin": {"data": "begin:{data}/begin", "property": "attributable", "max_tokens": 256},
    "truthfulqa": {
        "data": "truthfulqa:{data}/truthfulqa",
        "property": "truthfulness",
        "input": "query + gold + answer",
    },
    "question_type": {
        "data": "mtrag({data}/mtrag)",
        "property": "question_type",
        "max_tokens": 64,
        "least": 30,
    },
    "answerability": {
        "data": "mtrag({data}/mtrag)",
        "property": "answerability",
        "input": "query + passages",
        "least": 30,
    },
}
CAUSAL: dict[str, Any] = {
    "data": "begin:{data}/begin",
    "property": "attributable",
    "base": "smollm2-135m-instruct",
    "judge": "support",
    "method": "lora",
    "max_tokens": 768,
    "optim": JudgeOptim(epochs=2, lr=2e-4, batch=8),
}


def main() -> int:
    """Train each row, and print its report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--only", choices=[*ROWS, "causal"])
    parser.add_argument("--base", default="all-minilm-l6-v2")
    parser.add_argument("--head-only", action="store_true")
    parser.add_argument("--causal", action="store_true")
    asked = parser.parse_args()
    rows = {
        n: {**ENCODER, "base": asked.base, "head_only": asked.head_only, **r}
        for n, r in ROWS.items()
    }
    if asked.causal or asked.only == "causal":
        rows["causal"] = CAUSAL
    for name, row in rows.items():
        if asked.only in (None, name):
            data = row["data"].format(data=asked.data)
            recipe = JudgeRecipe(**{**row, "data": data, "output": str(asked.output / name)})
            sys.stdout.write("\n".join([name, *lines(recipe, asked.output)]) + "\n")
    return 0


def lines(recipe: JudgeRecipe, folder: Path) -> list[str]:
    """Return the report of one training in lines."""
    record, report = trained_judge(recipe, [], folder / "calls.sqlite")
    first, last = record.validation[0]["loss"], record.validation[-1]["loss"]
    found = [f"  validation loss {first:.3f} before, {last:.3f} after {record.seconds:.0f} s"]
    found += [f"  {sentence}" for sentence in report.sentences]
    error = report.calibration
    found.append(f"  calibration error {error.error} {error.interval}, chance {error.by_chance}")
    found.append(f"  {json.dumps(report.labels)}")
    if recipe.property == "attributable":
        found.append(f"  share of words in the knowledge: {overlap(recipe)}")
    return found


def overlap(recipe: JudgeRecipe) -> str:
    """Return the kappa of a rule without training: enough of the response is in the knowledge."""
    items = {one.item_id: one for one in read_labelled(recipe).items}
    folder = Path(recipe.output) / "splits"
    parts = {p: (folder / f"{p}.txt").read_text().split() for p in ("train", "validation", "test")}
    share = {
        i: _share(one.item.answer or "", " ".join(one.item.passages)) for i, one in items.items()
    }
    known = [i for p in ("train", "validation") for i in parts[p] if i in items]
    # The softmax of these scores is the share of words.
    scores = np.array([[0.0, _logit(share[i])] for i in known])
    least = fitted_threshold(scores, [int(items[i].label == "yes") for i in known], 1, 1.0)
    test = [items[i] for i in parts["test"] if i in items]
    given = ["yes" if _sigmoid(_logit(share[one.item_id])) >= least else "no" for one in test]
    found = cohen_kappa([one.label for one in test], given, clusters=[one.group for one in test])
    return f"kappa {found.value} {found.interval}, n = {found.n}, from {least:.2f} on"


def _share(answer: str, knowledge: str) -> float:
    words, known = (re.findall(r"\w+", text.lower()) for text in (answer, knowledge))
    return sum(word in set(known) for word in words) / max(1, len(words))


def _logit(share: float) -> float:
    inside = min(max(share, 1e-3), 1 - 1e-3)
    return float(np.log(inside / (1 - inside)))


def _sigmoid(score: float) -> float:
    return float(1 / (1 + np.exp(-score)))


if __name__ == "__main__":
    sys.exit(main())
