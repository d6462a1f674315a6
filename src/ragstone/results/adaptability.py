"""MIRAGE's adaptability metrics of a system under one setting, and their need of qrels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ragstone.components.context_settings.without_gold import NO_GOLD
from ragstone.statistics.adaptability import Adaptability

if TYPE_CHECKING:
    from ragstone.types import Context

MIXED: Final = ("gold+noise", "retrieved")
"""Beginnings of the names of settings that are MIRAGE's mixed context."""


@dataclass(frozen=True)
class AdaptabilityRow:
    """MIRAGE's four metrics of one system, with one setting as the mixed context."""

    system: str
    setting: str
    adaptability: Adaptability


def has_gold(context: Context, qrels: Mapping[str, Mapping[str, int]]) -> bool:
    """Return whether a context contains a gold passage of its query."""
    grades = qrels.get(context.query_id, {})
    return any(grades.get(passage_id, 0) > 0 for passage_id in context.passage_ids)


def without_gold(
    query_ids: Iterable[str], qrels: Mapping[str, Mapping[str, int]]
) -> dict[str, str]:
    """Return query id -> reason for the queries without a gold passage; {} without any qrels."""
    with_gold = {q for q, grades in qrels.items() if any(grade > 0 for grade in grades.values())}
    return {q: NO_GOLD for q in query_ids if with_gold and q not in with_gold}
