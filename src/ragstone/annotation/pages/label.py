"""The page on which people answer the questions of a scheme, item by item.

`/label` is the page with the person's next item, or with `?item=ID`. `/item` is the part of it that
changes from item to item: the script asks for the next ones before they are needed, with the ids
that it has in `held`, one a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ragstone.annotation.asked import AskedQuestion, asked_questions
from ragstone.annotation.assignment import next_items
from ragstone.annotation.blind import Blind
from ragstone.annotation.items import base_id
from ragstone.annotation.site import Document, Site, SitePage, Visit
from ragstone.web.errors import PageError, StateText

if TYPE_CHECKING:
    from ragstone.annotation.events import GivenLabel
    from ragstone.annotation.items import AnnotationItem
    from ragstone.types import Passage

TASKS: Final = ("labels", "support", "ratings", "pairwise", "nuggets", "causes", "validation")
SKIP_REASONS: Final = (
    "The query or the text is not clear.",
    "The text is damaged.",
    "I do not know the subject.",
    "It is in a language that I do not read.",
)


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """The answer of a system that is not named."""

    part: str
    name: str
    text: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class LabelledItem:
    """An item as a person sees it."""

    item_id: str
    query: str
    history: tuple[tuple[str, str], ...]
    """(role, text) of each message before the query."""
    gold: tuple[str, ...]
    passages: tuple[Passage, ...]
    answers: tuple[LabelledAnswer, ...]
    parts: tuple[str, ...]
    asked: list[AskedQuestion]

    @property
    def is_quick(self) -> bool:
        """Whether the last key stores the item: there are required choices only."""
        return all(one.kind == "choice" and not one.optional for one in self.asked)


@dataclass(frozen=True, slots=True)
class LabelPlace:
    """Where an item is in the list of a person."""

    number: int
    done: int
    total: int

    @property
    def width(self) -> str:
        """The share of done items, for a bar."""
        return f"{100 * self.done / max(self.total, 1):.1f}%"


def _page(site: Site, visit: Visit) -> Document:
    return {**_item(site, visit), "reasons": SKIP_REASONS}


def _item(site: Site, visit: Visit) -> Document:
    person = visit.person.name
    labels = list(site.database.labels(person=person))
    opened = next_items(site, person, 2 * len(site.project.items) + 1)
    wanted = visit.query.text("item")
    held = set(visit.query.text("held").split("\n"))
    item_id = wanted or next((one for one in opened if one not in held), "")
    state = _state(site, item_id, wanted)
    found = None if state else _shown(site, person, item_id, labels)
    return {
        "scheme": site.project.scheme,
        "suggestions": site.project.settings.suggestions,
        "place": _place(labels, opened, item_id),
        "item": found,
        "state": state,
    }


def _state(site: Site, item_id: str, wanted: str) -> StateText | None:
    """Return what there is to say if there is no item to show."""
    if wanted and base_id(wanted) not in site.project.items:
        said = f"There is no item {wanted!r}."
        raise PageError(404, StateText(said, link="/label", link_text="Next item"))
    if wanted and _is_withdrawn(site, base_id(wanted)):
        then = "The owner of the project took it out. Labels that were given are kept as events."
        said = f"The item {wanted!r} was withdrawn."
        return StateText(said, then, link="/label", link_text="Next item")
    if item_id:
        return None
    if not site.project.items:
        command = f"ragstone annotate {site.project.name} --task {site.project.task} --data DATA"
        return StateText("This project has no items.", "Items are made from a data set.", command)
    then = (
        "There is nothing to label for you now. Your labels stay, and can be changed: K goes back."
    )
    return StateText("All your items are done.", then)


def _is_withdrawn(site: Site, item_id: str) -> bool:
    undone = site.database.undone(item_id)
    kept = site.database.events(item_id=item_id, kinds=("withdraw",))
    return any(one.event.client_id not in undone for one in kept)


def _shown(site: Site, person: str, item_id: str, labels: list[GivenLabel]) -> LabelledItem:
    project = site.project
    item, blind = project.items[base_id(item_id)], Blind(project, person, item_id)
    given = {(one.field, one.part): one.value for one in labels if one.item_id == item_id}
    query = item.query
    return LabelledItem(
        item_id,
        query.text,
        tuple((one.role, one.text) for one in query.history),
        query.gold_answers if project.scheme.shows_gold else (),
        item.passages,
        _answers(site, item, blind),
        item.parts,
        asked_questions(project, item, blind, given),
    )


def _answers(site: Site, item: AnnotationItem, blind: Blind) -> tuple[LabelledAnswer, ...]:
    drawn = blind.drawn(item)
    if any(one.of == "pair" for one in site.project.scheme.questions):
        names = ["Left", "Right"]
    else:
        names = ["Answer"] if len(drawn) == 1 else [f"Answer {n + 1}" for n in range(len(drawn))]
    # The reason of a failure may name the system.
    reason = site.project.task == "causes"
    return tuple(
        LabelledAnswer(token, name, one.text, one.reason if reason else "")
        for name, (token, one) in zip(names, drawn, strict=False)
    )


def _place(labels: list[GivenLabel], opened: list[str], item_id: str) -> LabelPlace:
    first: dict[str, int] = {}
    for one in labels:
        first[one.item_id] = min(one.sequence, first.get(one.item_id, one.sequence))
    still = set(opened)
    done = sorted((one for one in first if one not in still), key=first.__getitem__)
    order = [*done, *opened]
    number = order.index(item_id) + 1 if item_id in order else len(done)
    return LabelPlace(number, len(done), len(order))


LABEL: Final = SitePage("/label", "Label", "label.html", _page, "Labels", tasks=TASKS)
LABEL_ITEM: Final = SitePage("/item", "Item", "label_item.html", _item, tasks=TASKS)
