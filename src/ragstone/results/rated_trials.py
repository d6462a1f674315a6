"""People's ratings joined with the rated items: the kept answers and passages of an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ragstone.data.readers.rated_layouts import read_rated
from ragstone.data.readers.rated_set import RatedSet, RatedText
from ragstone.data.readers.ratings import HumanRating, RatedItem, check_unique
from ragstone.errors import DatasetError, did_you_mean
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults
from ragstone.types import Prediction


def read_labels(results: StoredResults, path: Path) -> RatedSet:
    """Return the ratings of a file, joined with the answers of an experiment; see `rated_trials`.

    Lines may have the short form, `query_id`, `system`, `setting` and `value` from 0 to 1.
    """
    return rated_trials(results, read_rated(path, short=True))


def rated_trials(results: StoredResults, rated: RatedSet) -> RatedSet:
    """Return ratings with the texts and the scores of an experiment's answers.

    The rated item is the first answer of a system to a query, two such answers under one setting,
    or a passage that was shown for the query. A rating without `setting` (or `system`) is of the
    only one. Ratings of other queries and of parts of answers are counted and left out.

    Raises:
        DatasetError: a rating names an unknown system, setting, answer or passage (with file and
            line), a rater has two ratings for an item, or no rating is of a query of the
            experiment.
    """
    known = _Answers(results)
    texts: dict[RatedItem, RatedText] = {}
    kept: list[HumanRating] = []
    others = parts = 0
    for one in rated.ratings:
        if one.item.query_id not in results.queries:
            others += 1
        elif one.item.part:
            parts += 1
        else:
            item = known.item(one)
            if item not in texts:
                texts[item] = known.text(one, item)
            kept.append(replace(one, item=item))
    if not kept:
        n, name = len(rated.ratings), results.name
        raise DatasetError(
            f"{rated.source}: all {parts:,} ratings of queries of {name!r} are of parts; "
            "rate whole answers, pairs of answers or passages"
            if parts
            else f"{rated.source}: 0 % of the {n:,} ratings are of queries of {name!r}; give the "
            "ratings of this experiment"
        )
    check_unique(kept)
    return replace(
        rated,
        ratings=tuple(kept),
        texts=texts,
        metrics=known.metrics(texts),
        clusters=results.clusters,
        other_queries=others,
        parts=parts,
    )


@dataclass(frozen=True)
class _Answers:
    """The answers and passages of an experiment, by their names in ratings."""

    results: StoredResults

    @cached_property
    def trials(self) -> Mapping[tuple[str, str], TrialResults]:
        """(system, setting) -> trial."""
        return {(one.system, one.setting): one for one in self.results.trials}

    @cached_property
    def passages(self) -> Mapping[tuple[str, str], str]:
        """(query id, passage id) -> text, of all passages that were shown."""
        return {
            (query_id, passage.passage_id): passage.text
            for trial in self.results.trials
            for query_id, context in trial.contexts.items()
            for passage in context.passages
        }

    def item(self, one: HumanRating) -> RatedItem:
        """Return the rated item with its system and setting filled in."""
        item, systems = one.item, list(dict.fromkeys(system for system, _ in self.trials))
        for name in filter(None, (item.system, item.against)):
            if name not in systems:
                raise one.error(f"there is no system {name!r}{did_you_mean(name, systems)}")
        if item.passage_id and not item.system:
            return item
        if not item.system and len(systems) > 1:
            raise one.error(f"'system' is missing; the systems are {', '.join(systems)}")
        system = item.system or systems[0]
        settings = [setting for name, setting in self.trials if name == system]
        if not item.setting and len(settings) > 1:
            raise one.error(f"'setting' is missing; {system!r} has {', '.join(settings)}")
        setting = item.setting or settings[0]
        for name in filter(None, (system, item.against)):
            if (name, setting) not in self.trials:
                near = did_you_mean(setting, [s for owner, s in self.trials if owner == name])
                raise one.error(f"there is no setting {setting!r} of {name!r}{near}")
        return replace(item, system=system, setting=setting)

    def text(self, one: HumanRating, item: RatedItem) -> RatedText:
        """Return the texts of an item."""
        query = self.results.queries[item.query_id]
        if item.passage_id:
            key = (item.query_id, item.passage_id)
            if key not in self.passages:
                near = did_you_mean(item.passage_id, [p for q, p in self.passages if q == key[0]])
                raise one.error(f"the query was shown no passage {item.passage_id!r}{near}")
            own = self._answer(one, item, item.system).answer if item.system else ""
            return RatedText(query, own or "", (self.passages[key],))
        context = self.trials[item.system, item.setting].contexts.get(item.query_id)
        passages = tuple(one.text for one in context.passages) if context else ()
        first = self._answer(one, item, item.system)
        other = self._answer(one, item, item.against).answer or "" if item.against else ""
        return RatedText(query, first.answer, passages, other, first.reason)

    def _answer(self, one: HumanRating, item: RatedItem, system: str) -> Prediction:
        trial = self.trials[system, item.setting]
        if item.query_id not in trial.predictions:
            why = trial.not_applicable.get(item.query_id, "it was not asked")
            raise one.error(
                f"{system!r} has no answer to query {item.query_id!r} under {item.setting!r}: {why}"
            )
        return trial.predictions[item.query_id]

    def metrics(self, texts: Mapping[RatedItem, RatedText]) -> dict[str, dict[RatedItem, float]]:
        """Return metric -> item -> score of the first answer, for rated answers."""
        found: dict[str, dict[RatedItem, float]] = {}
        for item in texts:
            if item.against or item.passage_id:
                continue
            scores = self.trials[item.system, item.setting].first.scores_of(item.query_id)
            for metric, score in scores.items():
                if score.value is not None:
                    found.setdefault(metric, {})[item] = score.value
        return found
