"""Gains of trained models: directions, words, the correction, the table and the chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.errors import StoreError
from ragstone.results.trained_gains import TrainingGains, described, training_gains

ROWS = [
    {"query_id": f"q{i}", "text": f"what is thing{i}", "gold_answers": [f"thing{i}"]}
    for i in range(30)
]
REFUSES, KNOWS = "I do not know.", "thing"


def answers(path: Path, *, before: str, after: str, name: str) -> str:
    """Write the recorded answers of a system; `thing` is completed to the right answer."""
    import json

    text = before if name == "before" else after
    lines = [
        {"query_id": row["query_id"], "answer": row["gold_answers"][0] if text == KNOWS else text}
        for row in ROWS
    ]
    file = path / f"{name}-{before}-{after}.jsonl".replace(" ", "-")
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(file)


@pytest.fixture
def make(tmp_path: Path) -> Any:
    """Return a function that runs both systems under settings with and without gold."""

    def run(before: str, after: str, *, labels: bool = False, **keys: Any) -> ragstone.Results:
        rows = [{**row, **({"answerability": "answerable"} if labels else {})} for row in ROWS]
        passages = [{"passage_id": f"p{i}", "text": f"thing{i} is here"} for i in range(30)]
        data = ragstone.Dataset.from_records(
            queries=rows, passages=passages, qrels=[(f"q{i}", f"p{i}", 1) for i in range(30)]
        )
        names = {"before": "before", "after": "after"} | keys.pop("names", {})
        document = {
            "data": data,
            "systems": {
                shown: {
                    "generator": {
                        "name": "recorded",
                        "path": answers(tmp_path, before=before, after=after, name=name),
                    }
                }
                for name, shown in names.items()
            },
            "settings": ["none", "gold", "noise(2)"],
            "metrics": ["Match", "refusal", *(["answerability"] if labels else [])],
            "store": str(tmp_path / "store"),
            **keys,
        }
        return ragstone.load_experiment(document).run()

    return run


def found(results: ragstone.Results, **models: ragstone.Results) -> TrainingGains:
    """Return the gains of one or several models."""
    every = {"tiny": [results], **{name: [one] for name, one in models.items()}}
    return training_gains(every, {name: {"base": "b", "digest": "d" * 64} for name in every})


def outcomes(gains: TrainingGains) -> dict[tuple[str, str], str]:
    """Return (setting, metric) -> outcome."""
    return {(one.setting, one.metric): one.outcome for one in gains.gains}


def test_refusal_is_good_without_an_answer_and_bad_with_one(make: Any) -> None:
    """Without context it is neither, and the words name the setting."""
    gains = found(make(REFUSES, KNOWS))

    assert outcomes(gains) == {
        ("none", "Match"): "better",
        ("none", "refusal"): "changed",
        ("gold", "Match"): "better",
        ("gold", "refusal"): "better",
        ("noise(2)", "Match"): "better",
        ("noise(2)", "refusal"): "worse",
    }
    assert "noise(2) (no answer in the passages): refusal 1.000 before" in gains.lead[0]
    assert [line.partition(":")[0] for line in gains.lead] == ["WORSE after training", "Changed"]


def test_labels_of_answerability_replace_the_direction_of_refusal(make: Any) -> None:
    """With misleading passages alone, an answer to an answerable query is not a gain."""
    gains = outcomes(found(make(REFUSES, KNOWS, labels=True)))

    assert gains["gold", "refusal"] == "changed"
    assert gains["gold", "answerability"] == "better"
    assert gains["noise(2)", "refusal"] == "worse"
    assert gains["noise(2)", "answerability"] == "changed"


def test_nothing_worse_is_said_too(make: Any) -> None:
    """Equal answers have no differences."""
    gains = found(make(KNOWS, KNOWS))

    assert gains.lead == ["Nothing is shown to be worse after training."]
    assert set(outcomes(gains).values()) == {"undecided"}
    assert gains.to_dict()["worse"] == []


def test_all_models_are_corrected_together_and_below_each_other(make: Any) -> None:
    """A row of the table is a setting and a model; a chart names both."""
    one = make(REFUSES, KNOWS)
    alone, both = found(one), found(one, large=one)

    assert len(both.gains) == 2 * len(alone.gains)
    p = [one.adjusted_p for one in (alone.gains[0], both.gains[0])]
    assert p[0] <= p[1]
    assert [row[:3:2] for row in both.table.rows][:3] == [
        ["none", "tiny"],
        ["none", "large"],
        ["gold", "tiny"],
    ]
    rows = [point["row"] for point in both.chart("refusal")["data"]["values"]]
    assert rows[:3] == ["none · tiny", "none · tiny", "gold · tiny"]
    assert both.to_arrow().num_rows == len(both.gains)
    assert "base b, digest dddddddddddd" in str(both.table)
    assert repr(both) == "TrainingGains(tiny, large, 12 gains)"


def test_results_of_other_systems_have_no_gains(make: Any) -> None:
    """The error says what is missing."""
    with pytest.raises(StoreError, match="answers both before and after"):
        found(make(KNOWS, KNOWS, names={"after": "other"}))


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("gold+injected(1, kind=false-fact)", "knowledge conflict"),
        ("gold+injected(2)", "planted attacks"),
        ("gold+noise(4)", "robustness to noise"),
        ("noise(4)", "no answer in the passages"),
    ],
)
def test_settings_are_described(setting: str, expected: str) -> None:
    """The words are what the setting measures."""
    assert described(setting) == f"{setting} ({expected})"
