"""Prompt templates with named variables, and the prompts that generators use by default.

    Template("Question: {query}").render({"query": "Who?"})

A variable is a plain name in braces; `{{` and `}}` are literal braces. There are no attributes,
indexes, formats or expressions, so that a template can access only its variables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ragstone.errors import ConfigError
from ragstone.types import ChatMessage, ContextPassage, Message, Task

_PIECE: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]*")

CLOSED_BOOK_SYSTEM: Final = (
    "You answer questions from what you know. Give only the answer, in a few words."
)
CLOSED_BOOK_USER: Final = "{query}"
WITH_CONTEXT_SYSTEM: Final = (
    "You answer questions from the passages given. Give only the answer, in a few words. "
    "If the passages do not hold the answer, say: I cannot answer."
)
WITH_CONTEXT_USER: Final = "{context}\n\nQuestion: {query}"


@dataclass(frozen=True)
class Template:
    """A text with variables in braces; `name` appears in errors, such as `chat.user_prompt`."""

    text: str
    name: str = "template"

    @cached_property
    def variables(self) -> frozenset[str]:
        """Names of the variables; a malformed template is a `ConfigError`.

        >>> sorted(Template("{context} {{not one}} {query}").variables)
        ['context', 'query']
        """
        return frozenset(name for _, name in self._pieces if name is not None)

    def render(self, values: Mapping[str, str]) -> str:
        """Return the text with its variables filled in; a missing one is a `ConfigError`.

        Values are not parsed as templates.

        >>> Template("{query} {{x}}").render({"query": "Why {context}?"})
        'Why {context}? {x}'
        """
        missing = sorted(self.variables - set(values))
        if missing:
            raise ConfigError(
                f"{self.name}: no value for the variable {{{missing[0]}}}; "
                f"known here: {_listed(values)}"
            )
        return "".join(text if name is None else values[name] for text, name in self._pieces)

    @cached_property
    def _pieces(self) -> tuple[tuple[str, str | None], ...]:
        """Literal texts and variables, in order: (text, None) or ("", name)."""
        pieces: list[tuple[str, str | None]] = []
        end = 0
        for match in _PIECE.finditer(self.text):
            pieces.append((self.text[end : match.start()], None))
            end = match.end()
            found = match.group()
            if found in {"{{", "}}"}:
                pieces.append((found[0], None))
            elif match[1] is not None and _NAME.fullmatch(match[1]):
                pieces.append(("", match[1]))
            else:
                raise ConfigError(
                    f"{self.name}: cannot read {found!r} at character {match.start() + 1}; a "
                    "variable is a plain name in braces, such as {query}; double a literal brace"
                )
        pieces.append((self.text[end:], None))
        return tuple(pieces)


@dataclass(frozen=True)
class Prompt:
    """A system and a user template that are filled in together.

    Args:
        name: name in errors.
        system: template of the system message; if empty, no system message is sent.
        user: template of the user message.
        needed: variables that one of the two templates must use.
        allowed: further variables that they may use.
    """

    name: str
    system: str
    user: str
    needed: frozenset[str]
    allowed: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Check the variables, so that a wrong template fails before a run."""
        unused = sorted(self.needed - self.variables)
        if unused:
            raise ConfigError(
                f"prompt {self.name!r}: the variable {{{unused[0]}}} is given but not used; "
                "add it to the template"
            )
        for template in self._templates:
            unknown = sorted(template.variables - self.needed - self.allowed)
            if unknown:
                raise ConfigError(
                    f"{template.name}: unknown variable {{{unknown[0]}}}; "
                    f"known here: {_listed(self.needed | self.allowed)}"
                )

    @cached_property
    def variables(self) -> frozenset[str]:
        """Names of the variables of both templates."""
        return self._templates[0].variables | self._templates[1].variables

    def render(
        self, values: Mapping[str, str], history: Sequence[Message] = ()
    ) -> tuple[ChatMessage, ...]:
        """Return the chat messages: system, history, user.

        The history becomes chat messages unless a template contains `{history}`.
        """
        system, user = (template.render(values) for template in self._templates)
        before: list[ChatMessage] = [("system", system)] if system else []
        if "history" not in self.variables:
            roles = {"user": "user", "agent": "assistant"}
            before += [(roles[message.role], message.text) for message in history]
        return (*before, ("user", user))

    @cached_property
    def _templates(self) -> tuple[Template, Template]:
        return (
            Template(self.system, f"prompt {self.name!r}, system"),
            Template(self.user, f"prompt {self.name!r}, user"),
        )


@dataclass(frozen=True)
class RagPrompts:
    """The two prompts of a generator: with a context, and closed-book without one."""

    system: str = WITH_CONTEXT_SYSTEM
    user: str = WITH_CONTEXT_USER
    closed_book_system: str = CLOSED_BOOK_SYSTEM
    closed_book_user: str = CLOSED_BOOK_USER

    @cached_property
    def with_context(self) -> Prompt:
        """The prompt for a task that has passages."""
        needed = frozenset({"query", "context"})
        return Prompt("with context", self.system, self.user, needed, frozenset({"history"}))

    @cached_property
    def closed_book(self) -> Prompt:
        """The prompt for a task without passages."""
        needed, allowed = frozenset({"query"}), frozenset({"history"})
        return Prompt(
            "closed book", self.closed_book_system, self.closed_book_user, needed, allowed
        )

    def check(self) -> None:
        """Raise `ConfigError` if a template has a missing, unused or malformed variable."""
        _ = self.with_context, self.closed_book

    def render(self, task: Task) -> tuple[ChatMessage, ...]:
        """Return the chat messages for a task."""
        query, passages = task.query, task.context.passages
        values = {"query": query.text, "history": show_history(query.history)}
        if not passages:
            return self.closed_book.render(values, query.history)
        return self.with_context.render(
            {**values, "context": show_passages(passages)}, query.history
        )


def show_passages(passages: Sequence[ContextPassage]) -> str:
    r"""Return passages as text for a prompt: numbered from 1, separated by blank lines.

    >>> show_passages([ContextPassage("p1", "One.", "gold"), ContextPassage("p2", "Two.", "gold")])
    '[1] One.\n\n[2] Two.'
    """
    return "\n\n".join(f"[{place}] {p.text}" for place, p in enumerate(passages, start=1))


def show_history(history: Sequence[Message]) -> str:
    r"""Return the history as text for a prompt, one message per line.

    >>> show_history([Message("user", "Hi."), Message("agent", "Hello!")])
    'User: Hi.\nAgent: Hello!'
    """
    return "\n".join(f"{message.role.capitalize()}: {message.text}" for message in history)


def _listed(names: Mapping[str, str] | frozenset[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names))
