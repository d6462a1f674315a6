"""The tasks in a terminal: the same items, questions and events as on the pages, by keys alone.

Each label is an event in the database before the next question is asked, so that a cut connection
loses nothing: the next start goes on with the first question that is open.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from ragstone.annotation import terminal_keys
from ragstone.annotation.assignment import next_items
from ragstone.annotation.blind import Blind
from ragstone.annotation.done import is_done, statements
from ragstone.annotation.events import Event
from ragstone.annotation.item_questions import AskedQuestion, asked_questions
from ragstone.annotation.items import AnnotationItem, base_id
from ragstone.annotation.terminal_keys import ENTER, KeySource
from ragstone.annotation.terminal_text import KEYS, item_text, question_text
from ragstone.core.screen_text import plain, wrapped
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.annotation.site import Site

_RULE: Final = "-"


class _Leave(Exception):
    """The person left the item: by a skip, an undo or the end."""


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
        project, item = self.site.project, self.site.project.items[base_id(item_id)]
        blind = Blind(project, self.person, item_id)
        self._shown = time.monotonic()
        self._keep(Event(_new_id(), "open", item_id))
        self._say(f"\n{_RULE * self.width}\n")
        answers = [answer for _, answer in blind.drawn(item)]
        written = list(statements(project.scheme, item, self._given(item_id)).values())
        self._say(item_text(item, answers, written, project.scheme, self.width))
        seen: set[tuple[str, str]] = set()
        while asked := self._open_question(item_id, blind, seen):
            seen.add((asked.field, asked.part))
            self._ask(item_id, item, blind, asked)
        if is_done(project.scheme, item, self._labels(item_id)):
            self.labelled.add(item_id)

    def _open_question(
        self, item_id: str, blind: Blind, seen: Container[tuple[str, str]]
    ) -> AskedQuestion | None:
        """Return the next question without a label; statements are written before others."""
        project, given = self.site.project, self._given(item_id)
        item = project.items[base_id(item_id)]
        texts = statements(project.scheme, item, given)
        failed = {blind.tokens[one.part] for one in item.answers if one.text is None}
        found = asked_questions(project, item, blind, given, parts=True)
        for one in sorted(found, key=lambda one: one.kind != "parts"):
            is_open = one.given is None and (one.field, one.part) not in seen
            if is_open and one.part not in failed:
                text = texts.get(one.part)
                return replace(one, about=f"{one.about}, {text}" if text else one.about)
        return None

    # A question

    def _ask(self, item_id: str, item: AnnotationItem, blind: Blind, asked: AskedQuestion) -> None:
        """Ask until there is a label, or the question is left out."""
        lines = [f"{one.key}  {one.shown}  {one.words}".rstrip() for one in asked.options]
        lines += ["e  write"] if asked.kind in ("text", "parts") else []
        lines += ["Enter  leave it out"] if asked.optional else []
        self._say("\n" + question_text(asked, lines, self.width))
        names = {one.value: one.shown for one in asked.options if one.value in blind.parts}
        suggested = asked.suggested
        shown = suggested if isinstance(suggested, list) else names.get(suggested, suggested)
        if suggested is not None and asked.shown == "before":
            self._say(f"  the model says: {plain(str(shown))}")
        value = self._value(item_id, item, asked)
        if value is None:
            return
        seconds = round(time.monotonic() - self._shown, 2)
        mode = asked.shown if asked.field in item.suggested else ""
        event = Event(_new_id(), "label", item_id, asked.field, asked.part, value, mode, seconds)
        self._keep(blind.named(event))
        if suggested is not None and asked.shown == "after":
            self._say(f"  the model said: {plain(str(shown))}")

    def _value(self, item_id: str, item: AnnotationItem, asked: AskedQuestion) -> Any:
        """Return the label that the person gives; None to leave the question out."""
        options = {one.key: one.value for one in asked.options}
        chosen: list[Any] = []
        while True:
            key = self.keys.key()
            must_write = key == ENTER and not asked.optional
            if asked.kind in ("text", "parts") and (key == "e" or must_write):
                return self._typed(item, asked)
            if key in options and asked.kind == "choice":
                return options[key]
            if key in options and asked.kind == "choices":
                value = options[key]
                chosen = [one for one in chosen if one != value] + [value] * (value not in chosen)
                self._say(f"  {', '.join(map(str, chosen))}; Enter saves")
            elif key == ENTER and (chosen or asked.optional):
                return chosen or None
            else:
                self._command(item_id, key)

    def _typed(self, item: AnnotationItem, asked: AskedQuestion) -> Any:
        """Return a text, or the statements that are written line by line."""
        if asked.kind == "text":
            line = self.keys.line(f"  text (Enter keeps: {plain(asked.start)}) ")
            return line.strip() or None if line else None
        for number, text in enumerate(item.parts, 1):
            self._say(wrapped(f"{number}. {text}", self.width, "  "))
        found: list[str] = []
        while line := self.keys.line(f"  statement {len(found) + 1} (an empty line ends): "):
            found.append(line.strip())
        return found or list(item.parts) or None

    # Other keys

    def _command(self, item_id: str, key: str) -> None:
        """Run the command of a key; raise `_Leave` if the item is left."""
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
        kinds = ("label", "skip")
        given = list(self.site.database.events(person=self.person, kinds=kinds, counted=True))
        if not given:
            self._say("  nothing to undo")
            return
        last = given[-1].event
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

    def _given(self, item_id: str) -> dict[tuple[str, str], Any]:
        return {(one.field, one.part): one.value for one in self._labels(item_id)}


def _new_id() -> str:
    return f"terminal-{secrets.token_hex(12)}"
