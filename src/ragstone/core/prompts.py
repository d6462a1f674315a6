"""Prompt templates with named variables, and the texts that a generator sends.

    Template("Question: {query}").render({"query": "Who?"})

A variable is a plain name in braces; `{{` and `}}` are literal braces. There are no attributes,
indexes, formats or expressions, so that a template can access only its variables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Final

from ragstone.errors import ConfigError
from ragstone.types import ChatMessage, ContextPassage, Message, Task

_PIECE: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_BOLD: Final = "**"
_COLON: Final = re.compile(r"\s*[:\uff1a]")
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]*")
_OPTIONAL: Final = frozenset({"history", "language"})
_UNKNOWN_LANGUAGE: Final = "the language of the question"
"""The value of {language} for a query whose language is unknown."""


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
        self,
        values: Mapping[str, str],
        history: Sequence[Message] = (),
        examples: Sequence[tuple[Mapping[str, str], str]] = (),
    ) -> tuple[ChatMessage, ...]:
        """Return the chat messages: system, examples, history, user.

        The history becomes chat messages unless a template contains `{history}`. An example is the
        user template filled in with its values, and the answer to it.
        """
        system, user = (template.render(values) for template in self._templates)
        before: list[ChatMessage] = [("system", system)] if system else []
        for shown, answer in examples:
            before += [("user", self._templates[1].render(shown)), ("assistant", answer)]
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
class FewShot:
    """A question with its answer that precedes a prompt as an earlier turn.

    It is shown to tasks with passages if it has some, and to those without otherwise.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    query: str
    answer: str
    passages: tuple[str, ...] = ()

    @property
    def values(self) -> dict[str, str]:
        """The values of the variables of a prompt."""
        return {"query": self.query, "context": show_texts(self.passages), "history": ""}


@dataclass(frozen=True)
class RagPrompts:
    """The two prompts of a generator: with a context, and closed-book without one.

    Args:
        system: template of the system message; no such message is sent if it is empty.
        user: template of the user message.
        closed_book_system: template of the system message for a task without passages.
        closed_book_user: template of the user message for a task without passages.
        examples: questions with answers, sent as turns before the history.
        answer_after: the text before the final answer in a reply; "" if the whole reply is the
            answer.
    """

    system: str
    user: str
    closed_book_system: str
    closed_book_user: str
    examples: tuple[FewShot, ...] = ()
    answer_after: str = ""

    TEMPLATES: ClassVar = ("system", "user", "closed_book_system", "closed_book_user")

    @cached_property
    def with_context(self) -> Prompt:
        """The prompt for a task that has passages."""
        needed = frozenset({"query", "context"})
        return Prompt("with context", self.system, self.user, needed, _OPTIONAL)

    @cached_property
    def closed_book(self) -> Prompt:
        """The prompt for a task without passages."""
        needed = frozenset({"query"})
        return Prompt(
            "closed book", self.closed_book_system, self.closed_book_user, needed, _OPTIONAL
        )

    @property
    def names_language(self) -> bool:
        """Whether a text has the variable {language}."""
        return "language" in self.with_context.variables | self.closed_book.variables

    def with_sentence(self, sentence: str) -> RagPrompts:
        """Return the prompts with a sentence at the end of both system messages, once."""
        texts = self.system, self.closed_book_system
        system, closed = (
            text if text.endswith(sentence) else "\n\n".join(filter(None, [text, sentence]))
            for text in texts
        )
        return replace(self, system=system, closed_book_system=closed)

    def check(self) -> None:
        """Raise `ConfigError` if a template has a missing, unused or malformed variable."""
        _ = self.with_context, self.closed_book

    def render(self, task: Task, language: str = "") -> tuple[ChatMessage, ...]:
        """Return the chat messages for a task; `language` is the name of the query's."""
        query, passages = task.query, task.context.passages
        shared = {"language": language or _UNKNOWN_LANGUAGE}
        values = {"query": query.text, "history": show_history(query.history), **shared}
        fitting = (one for one in self.examples if bool(one.passages) == bool(passages))
        examples = [(one.values | shared, one.answer) for one in fitting]
        if not passages:
            return self.closed_book.render(values, query.history, examples)
        values["context"] = show_passages(passages)
        return self.with_context.render(values, query.history, examples)

    def final_answer(self, reply: str) -> str | None:
        """Return the answer in a reply, or None if nothing follows the text before it.

        Upper case does not matter, nor do the width of a colon, a space before it, and a bold face
        that begins before the text.

        >>> RagPrompts("", "", "", "", answer_after="Answer:").final_answer("So. **answer: Bern**")
        'Bern'
        """
        if not self.answer_after:
            return reply.strip()
        mark = re.escape(_COLON.sub(":", self.answer_after)).replace(":", _COLON.pattern)
        places = list(re.finditer(mark, reply, re.IGNORECASE))
        if not places:
            return None
        before, after = reply[: places[-1].start()], reply[places[-1].end() :]
        if before.endswith(_BOLD):
            after = after.replace(_BOLD, "", 1)
        return after.strip() or None


def show_passages(passages: Sequence[ContextPassage]) -> str:
    r"""Return passages as text for a prompt: numbered from 1, separated by blank lines.

    >>> show_passages([ContextPassage("p1", "One.", "gold"), ContextPassage("p2", "Two.", "gold")])
    '[1] One.\n\n[2] Two.'
    """
    return show_texts([passage.text for passage in passages])


def show_texts(texts: Sequence[str]) -> str:
    """Return texts as they are shown in a prompt: numbered, separated by blank lines."""
    return "\n\n".join(f"[{place}] {text}" for place, text in enumerate(texts, start=1))


def show_history(history: Sequence[Message]) -> str:
    r"""Return the history as text for a prompt, one message per line.

    >>> show_history([Message("user", "Hi."), Message("agent", "Hello!")])
    'User: Hi.\nAgent: Hello!'
    """
    return "\n".join(f"{message.role.capitalize()}: {message.text}" for message in history)


def _listed(names: Mapping[str, str] | frozenset[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names))
