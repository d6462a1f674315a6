"""Metric names: round trips, accepted spellings, and errors that suggest a name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.support import answer_value

from ragstone.components.metrics.parse import parse_metric, variants_of, with_variant
from ragstone.core.builtins import BUILT_IN
from ragstone.errors import ConfigError, UnknownMetric

NAMES = [
    "nDCG@10", "nDCG", "nDCG(gains=exponential)@10", "nDCG(gains=exponential,variant=mirage)@5",
    "R@5", "P@30", "P(rel=2)@5", "F1@5", "hit@5", "success@1", "MRR", "MRR(rel=2)@10", "MAP",
    "MAP@100", "Rprec", "judged@10", "Match", "Match(variant=mirage)", "EM", "EM(variant=squad)",
    "F1", "F1(variant=mirage)", "Precision", "Recall", "ROUGE-1", "ROUGE-2", "ROUGE-L",
    "ROUGE-L(variant=mtrag)", "char3-recall", "answer-in-context", "language-match",
    "language-match(longer_than=5)", "refusal",
]  # fmt: skip
EVERY = [name.replace("@k", "@10") for name in BUILT_IN["metrics"]]


@pytest.mark.parametrize("name", NAMES)
def test_names_round_trip(name: str) -> None:
    """The text of a parsed metric is its canonical name."""
    assert str(parse_metric(name)) == name


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("ndcg@10", "nDCG@10"),
        (" recall@5 ", "R@5"),
        ("Recall", "Recall"),
        ("f1@3", "F1@3"),
        ("f1", "F1"),
        ("rr@10", "MRR@10"),
        ("rougeL", "ROUGE-L"),
        ("F1(variant=paper)", "F1(variant=mirage)"),
        ("F1(variant=bergen)", "F1(variant=squad)"),
        ("EM(variant=corrected)", "EM"),
        ("nDCG( gains = linear )@10", "nDCG@10"),
    ],
)
def test_other_spellings_are_accepted(spelling: str, name: str) -> None:
    """Other case, common synonyms, and options at their defaults give the canonical name."""
    assert str(parse_metric(spelling)) == name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ndgc@10", "did you mean 'nDCG@10'"),
        ("EN", "did you mean 'EM'"),
        ("", "expected a component's name"),
        ("nDCG@10@5", "cutoff"),
        ("nDCG(10", "cannot read"),
    ],
)
def test_the_error_of_an_unknown_name_suggests_the_nearest(name: str, said: str) -> None:
    """The error contains the written name and the nearest known one."""
    with pytest.raises(ConfigError, match=said):
        parse_metric(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nDCG@x", "whole number"),
        ("nDCG@0", "whole number"),
        ("nDCG@-1", "whole number"),
        ("nDCG@1.5", "whole number"),
        ("R", "needs a cutoff"),
        ("EM@5", "takes no cutoff"),
        ("Rprec@5", "takes no cutoff"),
        ("nDCG(gain=x)@5", "did you mean 'gains'"),
        ("nDCG(gains=exp)@5", "exponential"),
        ("P(rel=high)@5", "a valid integer"),
    ],
)
def test_wrong_cutoffs_and_options_are_refused(name: str, said: str) -> None:
    """A cutoff is a whole number of 1 or more, if the metric has one; options are checked."""
    with pytest.raises(ConfigError, match=said):
        parse_metric(name)


def test_unknown_metrics_have_their_own_error() -> None:
    """`UnknownMetric` is a configuration error, exit code 2."""
    with pytest.raises(UnknownMetric) as caught:
        parse_metric("BLEURT")

    assert caught.value.exit_code == 2


def test_every_variant_of_every_metric_has_a_name_that_parses() -> None:
    """Every metric of the table can be imported, and the names of its variants round-trip."""
    for name in EVERY:
        for variant in variants_of(name):
            assert str(parse_metric(variant)) == variant


RANKINGS = ("hit@10", "success@10")


def test_the_metrics_of_0_and_1_are_known() -> None:
    """A rule for correct answers needs no threshold for them; two are of rankings."""
    known = [str(metric) for metric in map(parse_metric, EVERY) if not metric.graded]

    assert set(known) == {
        "EM", "Match", "answer-in-context", "answerability", "attack-success", "checks", "label",
        "language-match", "numeric", "refusal", *RANKINGS,
    }  # fmt: skip
    for name in set(known) - {"checks", *RANKINGS}:
        assert answer_value(name, "Paris", ["Paris"]) in {0.0, 1.0}


def test_paper_is_a_synonym_of_a_published_variant() -> None:
    """`paper` names the published variant of each metric; others stay unchanged."""
    names = ["nDCG@5", "Match", "EM", "F1", "Precision", "ROUGE-L", "char3-recall", "refusal"]

    assert [with_variant(name, "paper") for name in names] == [
        "nDCG(variant=mirage)@5",
        "Match(variant=bergen)",
        "EM(variant=squad)",
        "F1(variant=mirage)",
        "Precision(variant=bergen)",
        "ROUGE-L(variant=bergen)",
        "char3-recall(variant=bergen)",
        "refusal",
    ]


def test_importing_the_package_loads_no_arrays() -> None:
    """The package of metrics can be imported without numpy."""
    code = "import sys, ragstone.components.metrics; print('numpy' in sys.modules)"

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "False"


def test_the_class_of_a_changed_file_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The metric of a file is not remembered; that of a name is."""
    monkeypatch.chdir(tmp_path)
    found = []
    for value in (0.25, 0.75):
        Path("mine.py").write_text(
            "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Mine:\n"
            f"    direction = 'higher'\n    def score(self, answer): return {value}\n",
            encoding="utf-8",
        )
        found.append(answer_value("mine.py:Mine", "x"))

    assert found == [0.25, 0.75]
    assert parse_metric("F1") is parse_metric("F1")
