"""The trials at hand: those of an experiment, and the deciding counterfactuals of its store."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from ragstone.core.fingerprint import fingerprint, without_sources
from ragstone.core.schemas import table_to_rankings
from ragstone.results.counterfactuals import digests_of, kept_counterfactuals
from ragstone.results.factors import PROMPT_PARAMETERS
from ragstone.results.reader import StoredResults
from ragstone.results.record import Record, is_oracle
from ragstone.results.scored_rows import TrialResults
from ragstone.types import Ranking

_GOLD_REWRITE: Final = "query_formers/rewrite"
_FORMER: Final = "query_former"
_SEARCH: Final = ("retriever", "reranker")
_NEIGHBOURS: Final = re.compile(r"neighbours\((?P<top_k>\d+).*?(?P<gold>, of=gold)?\)")


@dataclass(frozen=True)
class TrialsAtHand:
    """Labels, scores and rankings of one experiment by system and setting."""

    results: StoredResults

    @cached_property
    def sources(self) -> list[StoredResults]:
        """The experiment, then the counterfactuals that decide causes."""
        return [self.results, *kept_counterfactuals(self.results, purpose="deciding")]

    @cached_property
    def mixed(self) -> list[TrialResults]:
        """The trials whose wrong answers have causes: all but those without context and with gold.

        The setting without context explains other trials, and so do those with gold alone.
        """
        known = {"none", self.gold_setting}
        return [
            trial
            for trial in self.results.trials
            if trial.setting not in known and not is_oracle(trial.setting)
        ]

    @cached_property
    def gold_setting(self) -> str | None:
        """The setting with gold alone: the experiment's oracle, or that with most passages."""
        if oracle := self.results.record.oracle:
            return oracle
        names = [t.setting for source in self.sources for t in source.trials]
        golds = sorted({name for name in names if is_oracle(name)}, key=_passages)
        return golds[-1] if golds else None

    def labels(self, system: str, setting: str) -> Mapping[str, float]:
        """Return query id -> 1.0 for a right answer, 0.0 for a wrong one, by the same system."""
        key = (system, setting)
        if key not in self._labels:
            self._labels[key] = {
                query_id: label
                for source, trial in self._unchanged(system, setting)
                for query_id, label in source.correct_answers(trial).items()
                if label is not None
            }
        return self._labels[key]

    @cached_property
    def _labels(self) -> dict[tuple[str, str], Mapping[str, float]]:
        """The labels so far: they are read for every wrong answer."""
        return {}

    def trial_of(self, system: str, setting: str, query_id: str) -> TrialResults | None:
        """Return the trial whose answer to a query `labels` has; None if it was not asked."""
        found = (trial for _, trial in reversed([*self._unchanged(system, setting)]))
        return next((trial for trial in found if query_id in trial.predictions), None)

    def values(self, system: str, setting: str, metric: str) -> Mapping[str, float]:
        """Return query id -> value of a metric, wherever it was scored."""
        return {
            query_id: value
            for _, trial in self._unchanged(system, setting)
            for query_id, value in trial.first.values(metric).items()
            if value is not None
        }

    def _unchanged(self, system: str, setting: str) -> Iterator[tuple[StoredResults, TrialResults]]:
        """Yield the trials of a system with all of its own parts; those of the experiment last."""
        for source in reversed(self.sources):
            if not source.record.counterfactual.get("parts"):
                for trial in source.trials:
                    if (trial.system, trial.setting) == (system, setting):
                        yield source, trial

    @cached_property
    def settings(self) -> list[str]:
        """The settings of the experiment, then those of counterfactuals."""
        return list(dict.fromkeys(name for source in self.sources for name in source.settings))

    def with_neighbours(self, setting: str, *, of_gold: bool) -> list[str]:
        """Return the settings that join neighbours to the passages of a setting, or to gold."""
        wanted = re.fullmatch(r"retrieved\((\d+)\)", setting)
        found = []
        for name in self.settings:
            if joined := _NEIGHBOURS.fullmatch(name):
                same = wanted is not None and joined["top_k"] == wanted[1]
                if of_gold if joined["gold"] else same:
                    found.append(name)
        return found

    def with_rewrite(self, system: str) -> Mapping[str, Ranking]:
        """Return query id -> ranking of the same search with the gold rewrite; {} without one."""
        if system not in self._rewritten:
            self._rewritten[system] = {} if self.forms_rewrite(system) else self._searched(system)
        return self._rewritten[system]

    @cached_property
    def _rewritten(self) -> dict[str, Mapping[str, Ranking]]:
        """The rankings with the gold rewrite so far."""
        return {}

    def _searched(self, system: str) -> dict[str, Ranking]:
        own = _parts(self.results.record, system)
        found: dict[str, Ranking] = {}
        for source in reversed(self.sources):
            for ranking in source.rankings:
                other = _parts(source.record, ranking.system)
                same = all(_digest(other, key) == _digest(own, key) for key in _SEARCH)
                if same and _former(other) == _GOLD_REWRITE:
                    found.update(ranking.rankings)
        return found

    def searches_rewrite(self, system: str) -> bool:
        """Return whether a system, or another with the same search, searches the gold rewrite."""
        return self.forms_rewrite(system) or bool(self.with_rewrite(system))

    def forms_rewrite(self, system: str) -> bool:
        """Return whether the search text of a system is the gold rewrite, or is not known."""
        own = _parts(self.results.record, system)
        return not own or _former(own) == _GOLD_REWRITE

    @cached_property
    def before_reranking(self) -> Mapping[str, Mapping[str, Ranking]]:
        """System -> query id -> ranking before its reranker, for the systems that have one."""
        return {
            entry.system: found
            for entry in self.results.record.rankings
            if (found := _before(self.results, entry.run)) is not None
        }

    @cached_property
    def generators(self) -> Mapping[str, str]:
        """System -> digest of its generator, whatever its prompt; "" if it is not known."""
        return {s.name: _generator(s.components) for s in self.results.record.systems}


def _passages(setting: str) -> float:
    """Return the number of gold passages that a setting shows."""
    found = re.search(r"\d+", setting)
    return float(found[0]) if found else float("inf")


def _parts(record: Record, system: str) -> Mapping[str, Any]:
    return next((s.components for s in record.systems if s.name == system), {})


def _former(parts: Mapping[str, Any]) -> str:
    return str(parts.get(_FORMER, {}).get("component", ""))


def _digest(parts: Mapping[str, Any], key: str) -> str:
    return digests_of({key: parts[key]})[key] if key in parts else ""


def _generator(parts: Mapping[str, Any]) -> str:
    made = without_sources(parts.get("generator") or {})
    if not made:
        return ""
    kept = {k: v for k, v in made.get("parameters", {}).items() if k not in PROMPT_PARAMETERS}
    return fingerprint({**made, "parameters": kept})


def _before(results: StoredResults, run: str) -> Mapping[str, Ranking] | None:
    """Return the ranking that a rerank step read; None if the step does not rerank."""
    manifest = results.manifests.get(run, {})
    if manifest.get("step") != "rerank":
        return None
    wanted = manifest.get("inputs", {}).get("run")
    for folder, made in results.manifests.items():
        if made["step"] in {"retrieve", "fuse"} and made.get("digest") == wanted:
            return table_to_rankings(results.stored_table(folder))
    return None
