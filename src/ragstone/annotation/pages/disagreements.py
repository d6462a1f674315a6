"""The page on which a reviewer decides disagreements, one question after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Final

from ragstone.annotation.blind import Blind
from ragstone.annotation.disagreements import (
    SCALE_POINTS,
    Dispute,
    comparable,
    disagreements,
)
from ragstone.annotation.item_questions import asked_questions
from ragstone.annotation.items import ADJUDICATED
from ragstone.annotation.schemes import KEYS
from ragstone.annotation.site import Document, Site, SitePage, Visit
from ragstone.web import limits
from ragstone.web.errors import PageError, StateText

if TYPE_CHECKING:
    from ragstone.annotation.database import Database
    from ragstone.types import Passage
    from ragstone.web.page_query import PageQuery

_SIDES: Final = ("Left", "Right")
"""The names of the answers of a pair."""
_STATES: Final = {"open": "not decided", "decided": "decided", "all": "all"}


@dataclass(frozen=True, slots=True)
class GivenOpinion:
    """The opinion of one person."""

    person: str
    """A name, or `Person 1` if names are hidden."""
    shown: str
    comments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DisputedOption:
    """A label that a reviewer may choose."""

    key: str
    value: Any
    shown: str
    words: str
    people: int
    """How many people gave it."""
    chosen: bool


def disagreements_document(site: Site, visit: Visit) -> Document:
    """Return the queue, and the disagreement at which the reviewer is."""
    query = visit.query
    threshold = query.number("threshold", SCALE_POINTS, least=1, most=1000)
    found = disagreements(site.project, site.database, threshold=threshold)
    state = query.choice("state", _STATES, "open")
    listed = [one for one in found if state == "all" or one.decided == (state == "decided")]
    now = _now(site, visit, found, listed)
    start = query.number("from", 0, most=max(0, len(listed)))
    rows = listed[start : start + limits.VIEW_ROWS]
    return {
        "total": len(found),
        "decided": sum(one.decided for one in found),
        "state": state,
        "states": _STATES,
        "threshold": threshold,
        "listed": len(listed),
        "from": start,
        "rows": [_Seen(site, visit, one).row(current=one is now) for one in rows],
        "now": None if now is None else _Seen(site, visit, now).whole(),
        "around": _around(site, visit, now, listed),
        "empty": _empty(found, state, query),
        "may_name": visit.person.role == "owner",
        "named": _is_named(visit),
    }


def _now(
    site: Site, visit: Visit, found: Sequence[Dispute], listed: Sequence[Dispute]
) -> Dispute | None:
    """Return the disagreement of the address, else the first one of the list."""
    query, item_id = visit.query, visit.query.text("item")
    if not item_id:
        return listed[0] if listed else None
    part = Blind(site.project, visit.person.name, item_id).parts
    wanted = (item_id, query.text("field"), part.get(query.text("part"), query.text("part")))
    for one in found:
        if (one.item_id, one.field, one.part) == wanted:
            return one
    said = f"People do not disagree about {wanted[1] or 'this'} of the item {item_id!r}."
    raise PageError(404, StateText(said, link="/disagreements", link_text="All disagreements"))


def _is_named(visit: Visit) -> bool:
    return visit.person.role == "owner" and visit.query.text("names") == "shown"


class _Seen:
    """A disagreement as a reviewer sees it: the systems have no names."""

    def __init__(self, site: Site, visit: Visit, one: Dispute) -> None:
        self.site, self.visit, self.one = site, visit, one
        self.item = site.project.items[one.item_id]
        self.blind = Blind(site.project, visit.person.name, one.item_id)
        self.question = site.project.scheme.question(one.field)
        self.part = self.blind.tokens.get(one.part, one.part)
        asked = asked_questions(site.project, self.item, self.blind, {})
        place = (one.field, self.part)
        self.asked = next((a for a in asked if (a.field, a.part) == place), None)
        self.options = list(self._options())

    @property
    def place(self) -> dict[str, str]:
        """The values of its address."""
        return {"item": self.one.item_id, "field": self.one.field, "part": self.part}

    @property
    def about(self) -> str:
        """The part for the eye."""
        return self.asked.about if self.asked else self.part

    @property
    def decided(self) -> str:
        """The decision for the eye; empty if there is none."""
        return next((option.shown for option in self.options if option.chosen), "")

    def hidden(self, value: Any) -> Any:
        """Return a label for the browser: the answers of a pair have tokens."""
        is_pair = self.question is not None and self.question.of == "pair"
        return self.blind.hidden(value) if is_pair else value

    def _options(self) -> Iterator[DisputedOption]:
        """Yield the labels to choose from: the options of a choice, and labels that were given."""
        given = [self.hidden(label.value) for label in self.one.given]
        final = [comparable(self.hidden(self.one.final.value))] if self.one.decided else []
        offered: dict[str, tuple[Any, str, str]] = {}
        if self.asked is not None and self.asked.kind == "choice":
            for one in self.asked.options:
                offered[comparable(one.value)] = (one.value, one.shown, one.words)
        for value in given:
            offered.setdefault(comparable(value), (value, _words(value), ""))
        people = [comparable(value) for value in given]
        keys = chain(KEYS, repeat(""))
        for key, (text, (value, shown, words)) in zip(keys, offered.items(), strict=False):
            yield DisputedOption(key, value, shown, words, people.count(text), text in final)

    def opinions(self) -> Iterator[GivenOpinion]:
        """Yield the opinion of each person, with the person's comments on the item."""
        shown = {comparable(option.value): option.shown for option in self.options}
        comments = _comments(self.site.database, self.one.item_id)
        for number, label in enumerate(self.one.given, 1):
            name = label.person if _is_named(self.visit) else f"Person {number}"
            said = shown[comparable(self.hidden(label.value))]
            yield GivenOpinion(name, said, tuple(comments.get(label.person, ())))

    def answers(self) -> list[tuple[str, str | None]]:
        """Return (name, text) of the answer in question, or of all answers."""
        is_pair = self.question is not None and self.question.of == "pair"
        drawn = self.blind.drawn(self.item)
        names = _SIDES if is_pair else [f"Answer {n + 1}" for n in range(len(drawn))]
        named = list(zip(names, drawn, strict=False))
        own = [(name, held.text) for name, (token, held) in named if token == self.part]
        return own or [(name, held.text) for name, (_, held) in named]

    def passages(self) -> list[Passage]:
        """Return the passage in question, or all passages."""
        own = [one for one in self.item.passages if one.passage_id == self.one.part]
        return own or list(self.item.passages)

    def parts(self) -> list[tuple[str, str]]:
        """Return (name, text) of the statement in question, or of all statements."""
        named = [(f"part:{n}", f"Statement {n}", t) for n, t in enumerate(self.item.parts, 1)]
        own = [(name, text) for part, name, text in named if part == self.one.part]
        return own or [(name, text) for _, name, text in named]

    def row(self, *, current: bool) -> Document:
        """Return its row of the queue."""
        return {
            "query": self.item.query.text,
            "field": self.one.field,
            "about": self.about,
            "size": self.one.size,
            "given": [(one.shown, one.people) for one in self.options if one.people],
            "decided": self.decided,
            "link": self.visit.query.link(self.place),
            "current": current,
        }

    def whole(self) -> Document:
        """Return all that a reviewer sees of it."""
        project, query = self.site.project, self.item.query
        return {
            "item_id": self.one.item_id,
            "field": f"{ADJUDICATED}{self.one.field}",
            "part": self.part,
            "name": self.one.field,
            "text": self.question.text if self.question else "",
            "about": self.about,
            "query": query.text,
            "history": [(one.role, one.text) for one in query.history],
            "gold": query.gold_answers if project.scheme.shows_gold else (),
            "answers": self.answers(),
            "passages": self.passages(),
            "parts": self.parts(),
            "options": self.options,
            "opinions": list(self.opinions()),
            "size": self.one.size,
            "decided": self.decided,
        }


def _words(value: Any) -> str:
    """Return a label as text."""
    return " · ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)


def _comments(database: Database, item_id: str) -> dict[str, list[str]]:
    """Return person -> comments on an item."""
    found: dict[str, list[str]] = {}
    for kept in database.events(item_id=item_id, kinds=("comment",), counted=True):
        if kept.event.value:
            found.setdefault(kept.person, []).append(str(kept.event.value))
    return found


def _around(
    site: Site, visit: Visit, now: Dispute | None, listed: Sequence[Dispute]
) -> dict[str, str]:
    """Return the addresses before and after a disagreement, and that after a decision."""
    number = next((n for n, one in enumerate(listed) if one is now), None)
    start = visit.query.link({"item": "", "field": "", "part": ""})

    def link(place: int) -> str:
        if number is None or not 0 <= place < len(listed):
            return ""
        return visit.query.link(_Seen(site, visit, listed[place]).place)

    if number is None:
        return {"previous": "", "next": "", "after": start, "number": ""}
    before, after = link(number - 1), link(number + 1)
    return {"previous": before, "next": after, "after": after or start, "number": f"{number + 1}"}


def _empty(found: Sequence[Dispute], state: str, query: PageQuery) -> StateText | None:
    """Return why the list is empty."""
    if not found:
        then = "Labels of at least two people are compared. A scale disagrees by 2 points or more."
        return StateText("People do not disagree about any item.", then)
    if state == "open":
        link = query.link({"state": "decided", "item": "", "field": "", "part": ""})
        said = "All disagreements are decided."
        return StateText(said, link=link, link_text="Show the decisions")
    return StateText("Nothing is decided yet.", link="/disagreements", link_text="Decide")


DISAGREEMENTS: Final = SitePage(
    "/disagreements",
    "Disagreements",
    "disagreements.html",
    disagreements_document,
    "Disagreements",
    roles=("reviewer", "owner"),
    tasks=("labels", "support", "ratings", "pairwise", "nuggets", "causes", "validation"),
)
