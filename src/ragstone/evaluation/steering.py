"""Steering: how often an order in an answer raises a judge's verdict, by kind of order.

`ragstone judge check --prompt-injection` prints it; `ragstone judge probe` measures the gain.
"""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.evaluation.human_grades import HumanSet
from ragstone.evaluation.judge_check_text import share_text
from ragstone.evaluation.judge_probe import ProbedItems, probe_judge
from ragstone.evaluation.probes import ORDERS, PROBES
from ragstone.protocols import Judge, Services
from ragstone.statistics.proportions import Proportion, proportion


@dataclass(frozen=True)
class Steering:
    """The effect of one kind of order."""

    attack: str
    steered: Proportion
    """Share of higher verdicts among the items below the best verdict."""
    silenced: int
    """Items with a verdict only without the order."""


def steering(judge: Judge, data: HumanSet, services: Services) -> list[Steering]:
    """Return how often each order raises a verdict, on all answers of a set."""
    items = tuple(one.item for one in data.items)
    clusters = tuple(one.group for one in data.items)
    given = ProbedItems(data.name, "answers", items, clusters, {})
    probes = [PROBES[f"order-{name}"] for name in ORDERS]
    found = probe_judge(judge, given, probes, services).probes
    return [
        Steering(name.replace("-", " "), one.rose or proportion(0, 0), one.silenced)
        for name, one in zip(ORDERS, found, strict=True)
    ]


def steering_text(found: Steering) -> str:
    """Return the effect of an order as one line."""
    shown = share_text(found.steered) or "no item is below the best verdict"
    return f"steered by a {found.attack} in the answer: {shown}; silenced: {found.silenced}"
