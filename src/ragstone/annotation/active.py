"""Which items an active server draws: those that narrow the interval of the judge's means most.

The draw is that of `ragstone judge next`: whole queries, with probabilities that grow with the
expected error of the judge. Each drawn item has an event with its probability and round, so that
`judge calibrate` can weigh the labels.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.annotation.disagreements import final_labels
from ragstone.annotation.events import Event
from ragstone.errors import ConfigError
from ragstone.statistics.label_design import drawn, expected_residuals, inclusion_probabilities

if TYPE_CHECKING:
    from ragstone.annotation.database import Database
    from ragstone.annotation.items import AnnotationItem
    from ragstone.annotation.project import Project
    from ragstone.annotation.schemes import Question
    from ragstone.annotation.work import Work
    from ragstone.statistics.bootstrap import Floats

SERVER: Final = "ragstone"
"""The person of the events that the server makes."""
ROUND_QUERIES: Final = 20
"""Queries of a round. The next round is drawn with the labels of those before it known."""
_Scores = Mapping[str, Mapping[str, float]]
"""Query id -> answer, or "" for the item itself -> score."""


def check_active(project: Project) -> None:
    """Raise `ConfigError` if the items show nothing about which of them narrow the interval."""
    if any(one.inclusion for one in project.items.values()) or judged_question(project):
        return
    raise ConfigError(
        f"--active needs a judge's scores, but no item of {project.folder} has one in `suggested` "
        "and none has an inclusion_probability. Draw answers with: ragstone judge next "
        "EXPERIMENT --metric M --labels 50 -o next.jsonl; then make a project with: ragstone "
        "annotate PROJECT --task ratings --from next.jsonl --experiment EXPERIMENT",
        path=project.folder,
    )


def draw_round(project: Project, database: Database, work: Work) -> int:
    """Draw the next round of queries and keep an event per item; return the number of items.

    Queries that were drawn, labelled or withdrawn are not drawn.
    """
    question = judged_question(project)
    if question is None:
        return 0
    scores = judge_scores(project, question)
    people = _people_scores(project, database, question)
    members = _members(project, work)
    gone = {q for q, ids in members.items() if any(one in work.drawn for one in ids)}
    queries = [one for one in scores if one in members]
    free = [n for n, one in enumerate(queries) if one not in gone and one not in people]
    if not free:
        return 0
    judge, human = _tables(queries, scores, people)
    base = int(np.argmax(judge.mean(axis=0)))
    sizes = expected_residuals(judge, human, base)[free]
    number = 1 + max((one.round for one in work.drawn.values()), default=0)
    chances = inclusion_probabilities(sizes, min(ROUND_QUERIES, len(free)))
    places = drawn(chances, project.settings.seed + number - 1).tolist()
    found = [
        _event(item_id, float(chances[place]), number)
        for place in places
        for item_id in members[queries[free[place]]]
    ]
    database.append(SERVER, found)
    return len(found)


def judged_question(project: Project) -> Question | None:
    """Return the first question with a judge's score; None if there is none."""
    named = (one for one in project.scheme.questions if judge_scores(project, one))
    return next(named, None)


def judge_scores(project: Project, question: Question) -> dict[str, dict[str, float]]:
    """Return query id -> answer -> the score of a judge.

    A score is the suggested label, or the label of the query with the name of the question.
    """
    found: dict[str, dict[str, float]] = {}
    for item in project.items.values():
        for part, value in _suggested(question, item):
            score = score_of(question, value)
            if score is not None and not item.known:
                found.setdefault(item.query.query_id, {})[part] = score
    return found


def score_of(question: Question, value: Any) -> float | None:
    """Return a label as a number: a number as it is, a word as the place of its option."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    values = [one.value for one in question.options]
    return float(values.index(value)) if value in values else None


def _suggested(question: Question, item: AnnotationItem) -> Iterator[tuple[str, Any]]:
    """Yield the answer and the score of each score of an item."""
    value = item.suggested.get(question.name, item.query.labels.get(question.name))
    if isinstance(value, dict):
        yield from value.items()
    elif value is not None:
        yield _only_answer(item), value


def _only_answer(item: AnnotationItem) -> str:
    return item.answers[0].part if len(item.answers) == 1 else ""


def _people_scores(
    project: Project, database: Database, question: Question
) -> dict[str, dict[str, float]]:
    """Return query id -> answer -> the people's final label as a number."""
    found: dict[str, dict[str, float]] = {}
    for (item_id, field, part), final in final_labels(project, database).items():
        score = score_of(question, final.value) if field == question.name else None
        if score is not None:
            item = project.items[item_id]
            name = part or _only_answer(item)
            found.setdefault(item.query.query_id, {})[name] = score
    return found


def _members(project: Project, work: Work) -> dict[str, list[str]]:
    """Return query id -> its items that people may label."""
    found: dict[str, list[str]] = {}
    for item_id, item in project.items.items():
        if not item.known and item_id not in work.withdrawn:
            found.setdefault(item.query.query_id, []).append(item_id)
    return found


def _tables(queries: Sequence[str], judge: _Scores, human: _Scores) -> tuple[Floats, Floats]:
    """Return the (query, answer) tables of scores; a judge's missing score is the median."""
    columns = sorted({name for one in queries for name in judge[one]})

    def table(scores: _Scores) -> Floats:
        rows = [[scores.get(q, {}).get(c, np.nan) for c in columns] for q in queries]
        return np.array(rows, dtype=np.float64)

    judged = table(judge)
    usual = float(np.nanmedian(judged))
    return np.where(np.isnan(judged), usual, judged), table(human)


def _event(item_id: str, probability: float, number: int) -> Event:
    """Return the event of a draw; the same draw has the same id."""
    name = hashlib.sha256(item_id.encode()).hexdigest()[:24]
    value = {"inclusion_probability": probability, "round": number}
    return Event(f"draw-{number}-{name}", "draw", item_id, value=value)
