"""Trained judges and classifiers against people on unseen documents: kappa, n, interval.

    python benchmarks/trained_judges.py ../shared/data --output FOLDER [--long] [--only NAME]

Each row is one `ragstone train judge`. Beside the trained judge are the most frequent label and,
for BEGIN, the share of the words of the response that are in the knowledge, with the threshold of
the highest kappa on the training and validation parts. `--long` fine-tunes whole encoders on BEGIN,
TruthfulQA and mtRAG, and trains an adapter of the bundled SmolLM2 for the judge `support`; it needs
an idle machine.
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

BEGIN = {"data": "begin:{data}/begin", "property": "attributable"}
WOW = {**BEGIN, "data": {"ratings": "begin:{data}/begin/begin_dev_wow.tsv.gz"}}
TYPES = {"data": "mtrag({data}/mtrag)", "property": "question_type", "least": 30}
LONG = {"optim": JudgeOptim(epochs=8, lr=1e-4)}


def optim(epochs: int, lr: float, batch: int, validations: int, patience: int | None) -> JudgeOptim:
    """Return the optimisation of a short training."""
    return JudgeOptim(
        epochs=epochs,
        lr=lr,
        batch=batch,
        validations=validations,
        patience=patience,
        weight_decay=0.1,
    )


ROWS: dict[str, dict[str, Any]] = {
    "wow-head": {
        **WOW,
        "head_only": True,
        "max_tokens": 160,
        "optim": optim(60, 5e-3, 32, 10, None),
    },
    "wow-splade-tiny": {
        **WOW,
        "base": "splade-tiny",
        "max_tokens": 128,
        "optim": optim(16, 5e-4, 16, 8, None),
    },
    "types-head": {
        **TYPES,
        "head_only": True,
        "max_tokens": 48,
        "optim": optim(40, 1e-2, 32, 20, 5),
    },
    "faithful-head": {
        "data": "mtrag:{data}/mtrag",
        "property": "faithfulness",
        "accept": 1.0,
        "head_only": True,
        "max_tokens": 160,
        "optim": optim(60, 5e-3, 32, 10, None),
    },
}
"""About 2 minutes of CPU together."""
ROWS_LONG: dict[str, dict[str, Any]] = {
    "begin": {**BEGIN, **LONG, "max_tokens": 256},
    "truthfulqa": {
        **LONG,
        "data": "truthfulqa:{data}/truthfulqa",
        "property": "truthfulness",
        "input": "query + gold + answer",
    },
    "types": {**TYPES, **LONG, "max_tokens": 64},
    "answerability": {
        **TYPES,
        **LONG,
        "property": "answerability",
        "input": "query + passages",
    },
    "causal": {
        **WOW,
        "base": "smollm2-135m-instruct",
        "judge": "support",
        "method": "lora",
        "max_tokens": 512,
        "optim": JudgeOptim(steps=16, lr=2e-4, batch=8, validations=1, patience=None),
    },
}


def main() -> int:
    """Train each row, and print its report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--only", choices=[*ROWS, *ROWS_LONG])
    parser.add_argument("--long", action="store_true", help="the trainings of whole encoders too")
    asked = parser.parse_args()
    rows = {**ROWS, **(ROWS_LONG if asked.long or asked.only else {})}
    for name, row in rows.items():
        if asked.only in (None, name):
            data = json.loads(json.dumps(row["data"]).replace("{data}", str(asked.data)))
            recipe = JudgeRecipe(**{**row, "data": data, "output": str(asked.output / name)})
            sys.stdout.write("\n".join([name, *lines(recipe, asked.output)]) + "\n")
    return 0


def lines(recipe: JudgeRecipe, folder: Path) -> list[str]:
    """Return the report of one training in lines."""
    record, report = trained_judge(recipe, [], folder / "calls.sqlite")
    first, last = record.validation[0]["loss"], record.validation[-1]["loss"]
    found = [f"  validation loss {first:.3f} before, {last:.3f} after {record.seconds:.0f} s"]
    found += [f"  {sentence}" for sentence in report.sentences]
    if report.people is not None and report.people.value is not None:
        found.append(f"  people among themselves: alpha {report.people.value:.2f}")
    error, right = report.calibration, report.accuracy
    low, high = right.interval or (0.0, 1.0)
    found.append(f"  right {right.value or 0:.2f} [{low:.2f}, {high:.2f}]")
    low, high = error.interval or (0.0, 1.0)
    found.append(f"  calibration error {error.error or 0:.2f} [{low:.2f}, {high:.2f}]")
    found.append(f"  most frequent label {max(report.labels.values()) / report.items:.2f}")
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
    low, high = found.interval or (float("nan"), float("nan"))
    return f"kappa {found.value:.2f} [{low:.2f}, {high:.2f}], n = {found.n}, from {least:.2f} on"


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
