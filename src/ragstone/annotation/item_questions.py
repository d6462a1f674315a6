"""The questions to a person about an item: one per question and part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragstone.annotation.blind import SIDES, Blind
from ragstone.annotation.done import statements
from ragstone.annotation.items import AnnotationItem
from ragstone.annotation.parts import plain_parts, read_parts
from ragstone.annotation.schemes import AnswerKind, Question
from ragstone.data.readers.ratings import Shown
from ragstone.types import Query

if TYPE_CHECKING:
    from ragstone.annotation.project import Project


@dataclass(frozen=True, slots=True)
class AskedOption:
    """An option with its key."""

    key: str
    value: Any
    shown: str
    words: str


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question about one part of an item, with the person's and the model's label."""

    field: str
    part: str
    """As events of the browser name it: a token for an answer."""
    about: str
    """The part for the eye, such as `Answer 2`; empty for the whole item."""
    text: str
    kind: AnswerKind
    optional: bool
    options: tuple[AskedOption, ...]
    given: Any = None
    """The person's label."""
    suggested: Any = None
    """The model's label, if the project shows it."""
    shown: Shown = "never"
    """When the suggestion is shown."""
    start: str = ""
    """The text that a text field starts with."""

    @property
    def is_scale(self) -> bool:
        """Whether its options fit into one row: they have no words."""
        return bool(self.options) and not any(one.words for one in self.options)


def asked_questions(
    project: Project,
    item: AnnotationItem,
    blind: Blind,
    labels: Mapping[tuple[str, str], Any],
    *,
    parts: bool = False,
) -> list[AskedQuestion]:
    """Return all that a person is asked about an item: part by part, then question by question.

    Args:
        project: the project, with its scheme.
        item: the item.
        blind: the item's answers as the person sees them.
        labels: (question, part) -> the person's label.
        parts: whether statements can be written: those of the person count, and their question is
            included.
    """
    found: list[AskedQuestion] = []
    own = statements(project.scheme, item, labels if parts else {})
    by_part: dict[str, tuple[str, list[Question]]] = {}
    for question in project.scheme.questions:
        if parts or question.kind != "parts":
            for part, about in _about(question, item, blind, own):
                by_part.setdefault(part, (about, []))[1].append(question)
    for part, (about, questions) in by_part.items():
        real = blind.parts.get(part, part)
        for one in questions:
            given = labels.get((one.name, real))
            if one.kind == "parts":
                given = plain_parts(read_parts(given))
            found.append(_asked(project, item, blind, one, (part, real, about), given))
    return found


def part_questions(project: Project) -> list[AskedQuestion]:
    """Return the questions about a part that a person has not marked yet."""
    item = AnnotationItem("", Query("", ""))
    blind, place = Blind(project, "", ""), ("", "", "")
    of_part = [one for one in project.scheme.questions if one.of == "part"]
    return [_asked(project, item, blind, one, place, None) for one in of_part]


def _about(
    question: Question, item: AnnotationItem, blind: Blind, own: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Yield each part that a question is about, with its name for the eye."""
    match question.of:
        case "item" | "pair":
            yield "", ""
        case "answer":
            drawn = blind.drawn(item)
            for number, (token, _) in enumerate(drawn, 1):
                yield token, f"Answer {number}" if len(drawn) > 1 else "Answer"
        case "passage":
            for number, passage in enumerate(item.passages, 1):
                yield passage.passage_id, f"Passage {number}"
        case "part":
            for number, part in enumerate(own, 1):
                yield part, f"Statement {number}"
        case _:
            return


def _asked(  # noqa: PLR0917 - one line per fact
    project: Project,
    item: AnnotationItem,
    blind: Blind,
    question: Question,
    place: tuple[str, str, str],
    given: Any,
) -> AskedQuestion:
    part, real, about = place
    mode = project.settings.suggestions
    suggested = None if mode == "never" else _suggested(item, question, real)
    if question.of == "pair":
        given, suggested = blind.hidden(given), blind.hidden(suggested)
    return AskedQuestion(
        question.name,
        part,
        about,
        question.text,
        question.kind,
        question.optional,
        _options(question, blind),
        given,
        suggested,
        "never" if suggested is None else mode,
        _start(item, question),
    )


def _suggested(item: AnnotationItem, question: Question, part: str) -> Any:
    """Return the model's label; that of a part is in an object with a label per part."""
    found = item.suggested.get(question.name)
    return found.get(part) if isinstance(found, Mapping) else found


def _options(question: Question, blind: Blind) -> tuple[AskedOption, ...]:
    """Return the options with their keys; those of a pair are the answers left and right."""
    sides = dict(zip(SIDES, blind.sides, strict=False)) if question.of == "pair" else {}
    return tuple(
        AskedOption(key, sides.get(str(one.value), one.value), one.shown, one.words)
        for key, one in question.keys.items()
    )


def _start(item: AnnotationItem, question: Question) -> str:
    gold = item.query.gold_answers
    return {"query": item.query.text, "answer": gold[0] if gold else ""}.get(question.start, "")
