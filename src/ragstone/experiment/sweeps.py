"""Sweeps: a list in place of a value makes one system, setting or judge per value."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ragstone.core import limits
from ragstone.core.spec import COMPONENT_LISTS
from ragstone.errors import ConfigError

_OF_JUDGES: Final = ("of", "idk")
"""Parameters of a judge that are judges."""
LIST_PARAMETERS: Final = frozenset({"identity", "show", "stop", "trained_on", "weights"})
"""Parameters whose value is a list: a list is one value, a list of lists is a sweep."""


@dataclass(frozen=True)
class ListSweep:
    """Spreads the lists in an experiment file.

    Args:
        what: the entries that lists spread to, `systems` or `settings`.
        most: the maximum of them, `max_systems` in the file.
    """

    what: str = "systems"
    most: int = limits.MAX_SWEEP_SYSTEMS

    def variants(self, entry: Mapping[str, Any]) -> tuple[list[str], list[dict[str, Any]]]:
        """Return the keys of an entry that are swept, and one entry per combination of values."""
        options = {
            key: [value] if key in LIST_PARAMETERS else self.options(value)
            for key, value in entry.items()
        }
        swept = [key for key, values in options.items() if len(values) > 1]
        return swept, self._products(options)

    def options(self, value: object) -> list[Any]:
        """Return the values that a step takes: a list's members, a mapping's parameters swept.

        >>> ListSweep().options(["dense", {"name": "bm25", "k1": [0.9, 1.2]}])
        ['dense', {'name': 'bm25', 'k1': 0.9}, {'name': 'bm25', 'k1': 1.2}]
        """
        if isinstance(value, list):
            found: list[Any] = []
            for member in value:
                found += self.options(member)
                self.check(len(found))
            return found
        if isinstance(value, Mapping):
            return self._products({name: self._values(name, held) for name, held in value.items()})
        return [value]

    def check(self, count: int, names: Sequence[str] = ()) -> None:
        """Raise `ConfigError` if a sweep is too large; `names` are the keys that are swept."""
        if count > self.most:
            lists = f"the lists of {', '.join(names)}" if names else "the lists of the file"
            fits = count <= limits.MOST_SWEEP_SYSTEMS
            made = f"{count:,}" if fits else f"more than {limits.MOST_SWEEP_SYSTEMS:,}"
            raised = f", or raise the maximum with max_systems: {count}" if fits else ""
            raise ConfigError(
                f"{lists} make {made} {self.what}; the maximum is {self.most:,}: sweep fewer "
                f"values, split the file{raised}",
                key=self.what,
                value=count,
            )

    def _products(self, options: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
        """Return one mapping per combination of values."""
        self.check(math.prod(map(len, options.values())), list(options))
        chosen = itertools.product(*options.values())
        return [dict(zip(options, values, strict=True)) for values in chosen]

    def _values(self, name: str, value: object) -> list[Any]:
        """Return the values that one parameter takes."""
        if not isinstance(value, list):
            return [value]
        if name in COMPONENT_LISTS:
            members = list(map(self.options, value))
            self.check(math.prod(map(len, members)), [name])
            return [list(chosen) for chosen in itertools.product(*members)]
        if name in LIST_PARAMETERS and not all(isinstance(member, list) for member in value):
            return [value]
        return value


def judge_variants(written: object, most: int = limits.MAX_SWEEP_SYSTEMS) -> list[Any]:
    """Return the judges of a list or an entry: one per prompt if `prompt` is a list.

    Other lists are values: several models are one judge.

    >>> swept = judge_variants({"name": "idk", "model": ["a", "b"], "prompt": ["idk", "idk.de"]})
    >>> [(judge["model"], judge["prompt"]) for judge in swept]
    [(['a', 'b'], 'idk'), (['a', 'b'], 'idk.de')]
    """
    sweep = ListSweep("judges", most)
    if isinstance(written, list):
        found: list[Any] = []
        for entry in written:
            found += judge_variants(entry, most)
            sweep.check(len(found))
        return found
    if not isinstance(written, Mapping):
        return [written]
    options = {key: [value] for key, value in written.items()}
    for key in _OF_JUDGES:
        if key in written:
            options[key] = judge_variants(written[key], most)
    if isinstance(prompts := written.get("prompt"), list):
        options["prompt"] = prompts
    sweep.check(math.prod(map(len, options.values())))
    return [
        dict(zip(options, chosen, strict=True)) for chosen in itertools.product(*options.values())
    ]
