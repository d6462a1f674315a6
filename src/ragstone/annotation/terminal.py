"""The tasks in a terminal: the same items, questions and events as on the pages, by keys alone.

Each label is an event in the database before the next question is asked, so that a cut connection
loses nothing: the next start goes on with the first question that is open.
"""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ragstone.annotation import terminal_keys
from ragstone.annotation.assignment import next_items
from ragstone.annotation.blind import SIDES, Blind
from ragstone.annotation.done import is_done
from ragstone.annotation.events import Event
from ragstone.annotation.items import AnnotationItem, ShownAnswer, base_id
from ragstone.annotation.parts import ItemPart, parts_of
from ragstone.annotation.schemes import KEYS as OPTION_KEYS
from ragstone.annotation.schemes import Question
from ragstone.annotation.terminal_keys import ENTER, KeySource
from ragstone.annotation.terminal_text import KEYS, item_text, plain, question_text, wrapped
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.annotation.site import Site

_RULE: Final = "-"


class _Leave(Exception):
    """The person left the item: by a skip, an undo or the end."""


@dataclass(frozen=True)
class _Asked:
    """A question about one part of an item."""

    question: Question
    part: str
    about: str = ""
    """The part for the eye."""


@dataclass
class TerminalPage:
    """A person's session in a terminal.

    Args:
        site: the project and its database.
        person: who labels.
        keys: where keys come from.
        write: writes a text.
        width: characters of a line.
    """

    site: Site
    person: str
    keys: KeySource
    write: Callable[[str], object]
    width: int = 80
    labelled: set[str] = field(default_factory=set)
    """The items that were finished in this session."""
    _shown: float = field(default=0.0, init=False)
    _again: str = field(default="", init=False)
    """The item that an undo leads back to."""
    _over: bool = field(default=False, init=False)

    def run(self) -> int:
        """Show item after item until none is left or the person quits; return how many were done.

        Raises `ConfigError` for conversations, which need the page.
        """
        if self.site.project.task == "conversation":
            raise ConfigError("conversations need the page: leave --terminal out", key="terminal")
        self._say(f"{plain(self.site.project.name)}: {self.site.project.scheme.ask}")
        self._say("Keys: 1, 2, ... label; u undo, s skip, g guidelines, m comment, q quit, ? all")
        while not self._over:
            found = [self._again] if self._again else next_items(self.site, self.person, 1)
            self._again = ""
            if not found:
                self._say("No item is left for you.")
                break
            try:
                self._item(found[0])
            except _Leave:
                continue
            except KeyboardInterrupt:
                break
        self._say(f"{len(self.labelled):,} items labelled in this session.")
        return len(self.labelled)

    def _say(self, text: str) -> None:
        self.write(f"{text}\n")

    # An item

    def _item(self, item_id: str) -> None:
        item = self.site.project.items[base_id(item_id)]
        self._shown = time.monotonic()
        self._keep(Event(_new_id(), "open", item_id))
        self._say(f"\n{_RULE * self.width}\n")
        drawn = self._drawn(item_id, item)
        self._show(item_id, item, drawn)
        for asked in self._questions(item_id, item, drawn):
            self._ask(item_id, item, asked)
        if is_done(self.site.project.scheme, item, self._labels(item_id)):
            self.labelled.add(item_id)

    def _show(self, item_id: str, item: AnnotationItem, drawn: Sequence[ShownAnswer]) -> None:
        parts = [one.text for one in self._written(item_id, item)]
        self._say(item_text(item, drawn, parts, self.site.project.scheme, self.width))

    def _drawn(self, item_id: str, item: AnnotationItem) -> list[ShownAnswer]:
        """Return the answers in this person's order, which is that of the pages."""
        blind = Blind(self.site.project, self.person, item_id)
        return [answer for _, answer in blind.drawn(item)]

    def _questions(
        self, item_id: str, item: AnnotationItem, drawn: Sequence[ShownAnswer]
    ) -> Iterator[_Asked]:
        """Yield the open questions part by part; those about statements after these are written."""
        questions = self.site.project.scheme.questions
        for group in (True, False):
            found: dict[str, list[_Asked]] = {}
            for question in questions:
                if (question.kind == "parts") == group:
                    for part, about in self._parts(question, item_id, item, drawn):
                        found.setdefault(part, []).append(_Asked(question, part, about))
            for asked in itertools.chain.from_iterable(found.values()):
                if self._given(item_id, asked.question.name, asked.part) is None:
                    yield asked

    def _parts(
        self,
        question: Question,
        item_id: str,
        item: AnnotationItem,
        drawn: Sequence[ShownAnswer],
    ) -> list[tuple[str, str]]:
        """Return each part that a question is about, with its name for the eye."""
        match question.of:
            case "answer":
                named = enumerate(drawn, 1)
                return [(a.part, f"Answer {n}") for n, a in named if a.text is not None]
            case "passage":
                return [(p.passage_id, f"Passage {n}") for n, p in enumerate(item.passages, 1)]
            case "part":
                parts = enumerate(self._written(item_id, item), 1)
                return [(one.part_id, f"Statement {n}, {one.text}") for n, one in parts]
        return [("", "")]

    def _written(self, item_id: str, item: AnnotationItem) -> list[ItemPart]:
        """Return the statements that the person wrote, or those of the item."""
        given = {(one.field, one.part): one.value for one in self._labels(item_id)}
        return parts_of(self.site.project.scheme, item, given)

    # A question

    def _ask(self, item_id: str, item: AnnotationItem, asked: _Asked) -> None:
        """Ask until there is a label, or the question is left out."""
        suggested = self._suggested(item, asked)
        mode = self.site.project.settings.suggestions
        options = self._options(item_id, item, asked.question)
        lines = [f"{key}  {shown}" for key, (_, shown) in options.items()]
        lines += ["e  write"] if asked.question.kind in ("text", "parts") else []
        lines += ["Enter  leave it out"] if asked.question.optional else []
        self._say("\n" + question_text(asked.question, asked.about, lines, self.width))
        if suggested is not None and mode == "before":
            self._say(f"  the model says: {plain(str(suggested))}")
        value = self._value(item_id, item, asked, {k: v for k, (v, _) in options.items()})
        if value is None:
            return
        shown = "" if suggested is None else mode
        seconds = round(time.monotonic() - self._shown, 2)
        name, part = asked.question.name, asked.part
        self._keep(Event(_new_id(), "label", item_id, name, part, value, shown, seconds))
        if suggested is not None and mode == "after":
            self._say(f"  the model said: {plain(str(suggested))}")

    def _options(
        self, item_id: str, item: AnnotationItem, question: Question
    ) -> dict[str, tuple[Any, str]]:
        """Return key -> value and text; the sides of a pair are in this person's order."""
        values = [one.value for one in question.options]
        if question.of == "pair" and len(item.answers) == len(SIDES):
            first = self._drawn(item_id, item)[0] == item.answers[0]
            sides = iter(SIDES if first else reversed(SIDES))
            values = [next(sides) if one in SIDES else one for one in values]
        return {
            key: (value, f"{one.shown}  {one.words}".rstrip())
            for key, value, one in zip(OPTION_KEYS, values, question.options, strict=False)
        }

    def _suggested(self, item: AnnotationItem, asked: _Asked) -> Any:
        """Return the model's label; that of a part is in an object with a label per part."""
        found = item.suggested.get(asked.question.name)
        return found.get(asked.part) if isinstance(found, dict) else found

    def _value(
        self, item_id: str, item: AnnotationItem, asked: _Asked, options: dict[str, Any]
    ) -> Any:
        """Return the label that the person gives; None to leave the question out."""
        chosen: list[Any] = []
        while True:
            key = self.keys.key()
            kind = asked.question.kind
            must_write = key == ENTER and not asked.question.optional
            if kind in ("text", "parts") and (key == "e" or must_write):
                return self._typed(item, asked.question)
            if key in options and kind == "choice":
                return options[key]
            if key in options and kind == "choices":
                value = options[key]
                chosen = [one for one in chosen if one != value] + [value] * (value not in chosen)
                self._say(f"  {', '.join(map(str, chosen))}; Enter saves")
            elif key == ENTER and (chosen or asked.question.optional):
                return chosen or None
            else:
                self._command(item_id, key)

    def _typed(self, item: AnnotationItem, question: Question) -> Any:
        """Return a text, or the statements that are written line by line."""
        if question.kind == "text":
            start = {"query": item.query.text, "answer": next(iter(item.query.gold_answers), "")}
            before = start.get(question.start, "")
            line = self.keys.line(f"  text (Enter keeps: {plain(before)}) ")
            return line.strip() or None if line else None
        for number, text in enumerate(item.parts, 1):
            self._say(wrapped(f"{number}. {text}", self.width, "  "))
        found: list[str] = []
        while line := self.keys.line(f"  statement {len(found) + 1} (an empty line ends): "):
            found.append(line.strip())
        return found or list(item.parts) or None

    # Other keys

    def _command(self, item_id: str, key: str) -> None:
        """Do what a key says; raise `_Leave` if the item is left."""
        match key:
            case "u":
                self._undo()
            case "s":
                reason = self.keys.line("  why is it skipped? ") or "no reason given"
                seconds = round(time.monotonic() - self._shown, 2)
                self._keep(Event(_new_id(), "skip", item_id, value=reason, seconds=seconds))
                raise _Leave
            case "g":
                self._say(
                    wrapped(self.site.project.scheme.guidelines or "No guidelines.", self.width)
                )
            case "m":
                if text := self.keys.line("  comment: "):
                    self._keep(Event(_new_id(), "comment", item_id, value=text))
            case "q" | "\x03" | terminal_keys.END:
                self._over = True
                raise _Leave
            case "?":
                self._say("\n".join(f"  {name:<10} {does}" for name, does in KEYS))
            case _:
                self._say(f"  no such key: {plain(key.strip()) or 'Enter'}; ? lists the keys")

    def _undo(self) -> None:
        """Take the last label or skip back and return to its item."""
        events = self.site.database.events(person=self.person, kinds=("label", "skip", "undo"))
        counts: dict[str, Event] = {}
        for kept in events:
            counts[kept.event.client_id] = kept.event
            if kept.event.kind == "undo":
                counts.pop(str(kept.event.value), None)
                del counts[kept.event.client_id]
        if not counts:
            self._say("  nothing to undo")
            return
        last = list(counts.values())[-1]
        self._keep(Event(_new_id(), "undo", last.item_id, value=last.client_id))
        self._again = last.item_id
        self.labelled.discard(last.item_id)
        self._say("  undone")
        raise _Leave

    # Events

    def _keep(self, event: Event) -> None:
        self.site.database.append(self.person, [event])

    def _labels(self, item_id: str) -> list[Any]:
        return list(self.site.database.labels(item_id=item_id, person=self.person))

    def _given(self, item_id: str, name: str, part: str) -> Any:
        found = self._labels(item_id)
        return next((one.value for one in found if (one.field, one.part) == (name, part)), None)


def _new_id() -> str:
    return f"terminal-{secrets.token_hex(12)}"
