"""The check of causes: people's labels of wrong answers, compared with the trials' decisions."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from ragstone.causes.order import CAUSES, Cause, CauseName
from ragstone.data.readers.ratings import HumanRating, RatedItem, read_ratings
from ragstone.errors import DatasetError, did_you_mean
from ragstone.results.causes.found import QueryCause, causes_of
from ragstone.results.reader import StoredResults
from ragstone.statistics.agreement import cohen_kappa, krippendorff_alpha
from ragstone.statistics.label_agreement import Confusion, confusion, majority
from ragstone.statistics.resampling import Coefficient
from ragstone.statistics.summary import Summary, clusters_of, summarise

PROPERTY: Final = "cause"
"""The property of the ratings."""
_NAMES: Final[Mapping[str, Cause]] = {cause.name: cause for cause in CAUSES}
_Answer: TypeAlias = tuple[str, str, str]
"""Query id, system and setting."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of the found causes with those that people named."""

    same: Summary
    """Share of the answers with the same name, with its interval over conversations or queries."""
    kappa: Coefficient


@dataclass(frozen=True, slots=True)
class CauseAgreement:
    """The answers for which people named one cause."""

    cause: CauseName
    same: Summary
    """Share of them for which the same cause was found."""


@dataclass(frozen=True)
class CauseCheck:
    """Found causes against people's."""

    experiment: str
    raters: tuple[str, ...]
    answers: int
    """Wrong answers with a cause by people and one that was found or is undecided."""
    undecided: int
    """Those of them whose cause is undecided; they count as different."""
    set_aside: int
    """Answers for which no more than half of the people named the same cause."""
    not_wrong: int
    """Labelled answers that are right here or neither right nor wrong."""
    unknown: int
    """Labelled answers that the experiment does not have."""
    stage: Agreement
    """Agreement by group of causes: retrieval, reading, refusal, failure."""
    cause: Agreement
    people: Coefficient | None
    """Krippendorff's alpha of the people among themselves; None with one rater."""
    causes: tuple[CauseAgreement, ...]
    """Agreement by the cause that people named, in the order of the pipeline."""
    confusion: Confusion
    """Rows are people's causes, columns the causes that were found."""


def check_causes(results: StoredResults, path: Path, *, seed: int = 0) -> CauseCheck:
    """Compare the causes of an experiment with people's labels.

    Args:
        results: the experiment.
        path: ratings of the property `cause`, whose values are names of causes; each line has
            query_id, system, setting, rater and value.
        seed: seed of the resampled intervals.

    Raises:
        DatasetError: a value is not a cause, a line names no answer, or no labelled answer is a
            wrong answer of the experiment.
    """
    ratings = read_ratings(path, PROPERTY)
    people = _people(path, ratings)
    agreed = majority(people, least=1)
    labels = {_answer(item): label for item, label in _items(ratings, agreed.labels)}
    found = {(c.query_id, c.system, c.setting): c for c in causes_of(results).queries}
    known = {
        (query_id, trial.system, trial.setting)
        for trial in results.trials
        for query_id in trial.predictions
    }
    both = {answer: label for answer, label in labels.items() if answer in found}
    if not both:
        raise DatasetError(
            f"{path}: none of the {len(labels):,} labelled answers is a wrong answer of "
            f"{results.name!r}, which has {len(found):,}; the lines name query_id, system and "
            "setting",
            path=path,
        )
    queries = [found[answer] for answer in both]
    clusters = _clusters(results, [one.query_id for one in queries])
    named = list(both.values())
    given = [one.cause for one in queries]
    return CauseCheck(
        experiment=results.name,
        raters=tuple(people),
        answers=len(both),
        undecided=sum(one.base == "undecided" for one in queries),
        set_aside=len(agreed.set_aside),
        not_wrong=sum(answer in known for answer in labels.keys() - found.keys()),
        unknown=sum(answer not in known for answer in labels),
        stage=_agreement(_stages(named, queries), clusters, seed),
        cause=_agreement(list(zip(named, given, strict=True)), clusters, seed),
        people=_among(results, ratings, people, seed),
        causes=tuple(_by_cause(named, given, clusters)),
        confusion=confusion(_texts(named), _texts(given)),
    )


def _people(path: Path, ratings: Sequence[HumanRating]) -> dict[str, dict[str, str]]:
    """Return rater -> item -> cause; raise `DatasetError` if a label is not an answer's cause."""
    found: dict[str, dict[str, str]] = {}
    for one in ratings:
        if one.value not in _NAMES:
            raise DatasetError(
                f"{path}, line {one.line}: {one.value!r} is not a cause"
                f"{did_you_mean(str(one.value), _NAMES)}; the causes are {', '.join(_NAMES)}",
                path=path,
            )
        if not (one.item.system and one.item.setting):
            raise DatasetError(
                f"{path}, line {one.line}: a cause is that of an answer; add system and setting",
                path=path,
            )
        found.setdefault(one.rater, {})[_key(one.item)] = str(one.value)
    return found


def _key(item: RatedItem) -> str:
    return repr(_answer(item))


def _answer(item: RatedItem) -> _Answer:
    return (item.query_id, item.system, item.setting)


def _items(
    ratings: Sequence[HumanRating], labels: Mapping[str, str]
) -> Iterator[tuple[RatedItem, str]]:
    """Yield the rated answers that have a majority, each once."""
    items = {_key(one.item): one.item for one in ratings}
    for key, label in labels.items():
        yield items[key], label


def _stages(named: Sequence[str], queries: Sequence[QueryCause]) -> list[tuple[str, str]]:
    """Return the groups of both causes; a refinement that both name is of the group it refines."""
    found: list[tuple[str, str]] = []
    for label, one in zip(named, queries, strict=True):
        group = _NAMES[one.base].group
        found.append((group if label == one.cause else _NAMES[label].group, group))
    return found


def _agreement(
    pairs: Sequence[tuple[str, str]], clusters: Sequence[Hashable] | None, seed: int
) -> Agreement:
    same = summarise([float(a == b) for a, b in pairs], clusters=clusters)
    people, given = zip(*pairs, strict=True)
    return Agreement(same, cohen_kappa(people, given, clusters=clusters, seed=seed))


def _among(
    results: StoredResults,
    ratings: Sequence[HumanRating],
    people: Mapping[str, Mapping[str, str]],
    seed: int,
) -> Coefficient | None:
    if len(people) < 2:  # noqa: PLR2004 - agreement is that of two people at least
        return None
    items = {_key(one.item): one.item.query_id for one in ratings}
    given = [[held[item] for held in people.values() if item in held] for item in items]
    clusters = _clusters(results, list(items.values()))
    return krippendorff_alpha(given, clusters=clusters, seed=seed)


def _clusters(results: StoredResults, query_ids: Sequence[str]) -> Sequence[Hashable] | None:
    """Return the conversations of answers, or their queries if several answer the same one."""
    if results.clusters:
        return clusters_of(query_ids, results.clusters)
    return query_ids if len(set(query_ids)) < len(query_ids) else None


def _by_cause(
    named: Sequence[str], given: Sequence[str], clusters: Sequence[Hashable] | None
) -> Iterator[CauseAgreement]:
    for cause in CAUSES:
        places = [place for place, label in enumerate(named) if label == cause.name]
        if places:
            hits = [float(given[place] == cause.name) for place in places]
            of = None if clusters is None else [clusters[place] for place in places]
            yield CauseAgreement(cause.name, summarise(hits, clusters=of))


def _texts(labels: Sequence[str]) -> dict[str, str]:
    return {str(place): label for place, label in enumerate(labels)}
