"""The page on which people answer the questions of a scheme, item by item.

`/label` is the page with the person's next item, or with `?item=ID`. `/item` is the part of it that
changes from item to item: the script asks for the next ones before they are needed, with the ids
that it has in `held`, one a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ragstone.annotation.assignment import items_left, next_items, standing
from ragstone.annotation.blind import Blind
from ragstone.annotation.item_questions import AskedQuestion, asked_questions, part_questions
from ragstone.annotation.items import base_id
from ragstone.annotation.parts import ItemPart, parts_of, plain_parts, read_parts
from ragstone.annotation.site import Document, Site, SitePage, Visit
from ragstone.annotation.tasks import OWN
from ragstone.web.errors import PageError, StateText

if TYPE_CHECKING:
    from ragstone.annotation.items import AnnotationItem
    from ragstone.types import Passage

TASKS: Final = tuple(task for task in OWN if task != "conversation")
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
    parts: tuple[ItemPart, ...]
    """The statements, those that the person wrote or those of the item."""
    own_parts: list[dict[str, str]]
    """The statements of the item, with which a person starts."""
    asked: list[AskedQuestion]

    @property
    def is_quick(self) -> bool:
        """Whether the last key stores the item: there are required choices only."""
        return all(one.kind == "choice" and not one.optional for one in self.asked)

    def about(self, part: ItemPart) -> list[AskedQuestion]:
        """Return the questions about a statement."""
        return [one for one in self.asked if one.part == part.part_id]

    @property
    def outer(self) -> list[AskedQuestion]:
        """The questions outside of lists of statements."""
        writes = any(one.kind == "parts" for one in self.asked)
        inner = {one.part_id for one in self.parts} if writes else set()
        return [one for one in self.asked if one.part not in inner]


def _page(site: Site, visit: Visit) -> Document:
    name = visit.person.name
    found = _item(site, visit)
    with site.work.lock:
        done = len(site.work.of(name).states)
    total = done + items_left(site, name)
    place = {"done": done, "total": total, "width": f"{100 * done / max(total, 1):.1f}%"}
    return {**found, "place": place, "reasons": SKIP_REASONS}


def _item(site: Site, visit: Visit) -> Document:
    """Return the wanted item, else the first of the person's next ones that is not held."""
    person, item_id = visit.person.name, visit.query.text("item")
    state = _state(site, item_id) if item_id else None
    if not item_id:
        held = set(visit.query.text("held").split("\n")) - {""}
        offered = next_items(site, person, len(held) + 1)
        item_id = next((one for one in offered if one not in held), "")
        state = None if item_id else _over(site, person)
    return {
        "scheme": site.project.scheme,
        "part_questions": _part_questions(site),
        "suggestions": site.project.settings.suggestions,
        "item": None if state else _shown(site, person, item_id),
        "state": state,
        "place": None,
        "agreement": visit.person.role != "annotator" or site.project.settings.agreement,
    }


def _part_questions(site: Site) -> list[AskedQuestion]:
    """Return the questions about a statement that is still to be marked; none if nobody does."""
    return part_questions(site.project) if site.project.scheme.writes_parts else []


def _over(site: Site, person: str) -> StateText:
    """Return why there is no further item for a person."""
    if not site.project.items:
        command = f"ragstone annotate {site.project.name} --task {site.project.task} --data DATA"
        return StateText("This project has no items.", "Items are made from a data set.", command)
    then = "Your labels are kept. They can still be changed: Back shows the last item."
    return StateText(standing(site, person).said or "There is no further item.", then)


def _state(site: Site, item_id: str) -> StateText | None:
    """Return why an item of an address is not shown; None if it is."""
    own = base_id(item_id)
    if own not in site.project.items:
        said = f"There is no item {item_id!r}."
        raise PageError(404, StateText(said, link="/label", link_text="Next item"))
    reason = site.database.withdrawn([own]).get(own)
    if reason is None:
        return None
    said, then = f"The item {own!r} was withdrawn.", reason or "No label of it counts."
    return StateText(said, then, link="/label", link_text="Next item")


def _shown(site: Site, person: str, item_id: str) -> LabelledItem:
    project = site.project
    item, blind = project.items[base_id(item_id)], Blind(project, person, item_id)
    labels = site.database.labels(item_id=item_id, person=person)
    given = {(one.field, one.part): one.value for one in labels}
    query = item.query
    return LabelledItem(
        item_id,
        query.text,
        tuple((one.role, one.text) for one in query.history),
        query.gold_answers if project.scheme.shows_gold else (),
        item.passages,
        _answers(site, item, blind),
        tuple(parts_of(project.scheme, item, given)),
        plain_parts(read_parts(item.parts)) or [],
        asked_questions(project, item, blind, given, parts=project.scheme.writes_parts),
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


LABEL: Final = SitePage("/label", "Label", "label.html", _page, "Labels", tasks=TASKS)
LABEL_ITEM: Final = SitePage("/item", "Item", "label_item.html", _item, tasks=TASKS, quick=True)
