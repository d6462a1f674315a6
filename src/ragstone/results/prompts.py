"""The prompts of an experiment's systems and judges: short names, texts and differences."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.core.prompt_files import label_of
from ragstone.results.record import Record, part_id


@dataclass(frozen=True)
class ShownPrompt:
    """A prompt, who uses it, its texts and their differences from the first prompt."""

    label: str
    systems: tuple[str, ...]
    """The systems, or the metrics of the judges, that use the prompt."""
    facts: Mapping[str, Any]
    texts: Mapping[str, str]
    difference: tuple[str, ...] = ()


def prompt_names(record: Record) -> dict[str, str]:
    """Return system -> short name of its generator's prompt; "" for one without a prompt.

    Equal names are equal prompts within one record, and the name of a shipped prompt always means
    its texts. In records of earlier versions, other texts are `texts~` and their digest.
    """
    found = {}
    for entry in record.systems:
        made = entry.components.get("generator") or {}
        kept = record.prompts.get(entry.name, {}).get("label")
        found[entry.name] = str(kept) if kept else label_of(made.get("parameters", {}))
    return found


def shown_prompts(record: Record) -> list[ShownPrompt]:
    """Return the prompts of the systems' generators; the first one is compared with the others."""
    systems: dict[str, list[str]] = {}
    for system, label in prompt_names(record).items():
        if label:
            systems.setdefault(label, []).append(system)
    generators = {entry.name: entry.components.get("generator", {}) for entry in record.systems}
    found: list[ShownPrompt] = []
    for label, named in systems.items():
        texts = record.templates.get(part_id(generators[named[0]]), {})
        first = found[0].texts if found else texts
        facts = record.prompts.get(named[0], {})
        lines = tuple(difference(first, texts))
        found.append(ShownPrompt(label, tuple(named), facts, texts, lines))
    return [one for one in found if one.texts]


def judge_prompts(record: Record) -> list[ShownPrompt]:
    """Return the prompts of the judges; each is compared with the first one of its judge.

    Records of earlier versions have none.
    """
    metrics: dict[str, list[str]] = {}
    facts: dict[str, Mapping[str, Any]] = {}
    for entry in record.metrics:
        if part := entry.prompt.get("part"):
            metrics.setdefault(str(part), []).append(entry.name)
            facts[str(part)] = entry.prompt
    first: dict[str, Mapping[str, str]] = {}
    found = []
    for part, names in metrics.items():
        texts, known = record.templates.get(part, {}), facts[part]
        of_judge = first.setdefault(str(known.get("judge")), texts)
        lines = tuple(difference(of_judge, texts))
        found.append(ShownPrompt(str(known.get("label")), tuple(names), known, texts, lines))
    return [one for one in found if one.texts]


def difference(a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[str]:
    r"""Yield the lines that differ between the texts of two prompts, below the key of each text.

    >>> list(difference({"user": "One\nTwo", "system": "S"}, {"user": "One\nNo", "system": "S"}))
    ['user:', '- Two', '+ No']
    """
    for key in dict.fromkeys([*a, *b]):
        before, after = a.get(key, "").splitlines(), b.get(key, "").splitlines()
        if before != after:
            yield f"{key}:"
            changed = difflib.ndiff(before, after)
            yield from (line for line in changed if line[:1] in {"-", "+"})
