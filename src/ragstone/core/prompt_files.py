"""Generators' prompts by name: `prompts/NAME.yaml` beside the experiment file, or a shipped one.

docs/prompts.md lists the keys of a file and the traits of the shipped prompts.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, TypeVar

from ragstone.core import limits
from ragstone.core.fingerprint import fingerprint
from ragstone.core.own_files import read_model
from ragstone.core.prompt_translations import (
    BY_LANGUAGE,
    LANGUAGES,
    language_file,
    names_by_language,
    translations,
)
from ragstone.core.prompts import FewShot, RagPrompts
from ragstone.core.registry import own_folder
from ragstone.errors import ConfigError, did_you_mean

_LOG: Final = logging.getLogger(__name__)
DEFAULT_PROMPT: Final = "instruction"
SHIPPED: Final = Path(__file__).resolve().parents[1] / "prompts"
FOLDER: Final = "prompts"
"""The folder of own prompts, beside the experiment file."""
_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]*")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_DIGITS: Final = 4
F = TypeVar("F", bound="PromptFacts")


@dataclass(frozen=True)
class ClosedBook:
    """The texts for a task without passages: by default the query alone."""

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    system: str = ""
    user: str = "{query}"


@dataclass(frozen=True, kw_only=True)
class PromptFacts:
    """The keys of the file of any prompt that are not sent."""

    about: str = ""
    language: str = "en"
    version: int = 1
    reviewed: bool | None = None
    """Whether a native speaker has reviewed a translation; None for other prompts."""

    def __post_init__(self) -> None:
        """Raise `ConfigError` if a text is too long, or the version or language is malformed."""
        for key, text in self.texts.items():
            if len(text) > limits.MAX_PROMPT_CHARACTERS:
                raise ConfigError(
                    f"{key} has {len(text):,} characters; the maximum is "
                    f"{limits.MAX_PROMPT_CHARACTERS:,}: shorten it, because it is sent per query",
                    key=key,
                )
        if self.version < 1:
            raise ConfigError(f"version must be 1 or more, found {self.version}", key="version")
        if not _LANGUAGE.fullmatch(self.language):
            raise ConfigError(
                f"language must be a code such as en or pt-BR, found {self.language!r}",
                key="language",
            )

    @property
    def texts(self) -> dict[str, str]:
        """Key -> each text of the file that is sent."""
        raise NotImplementedError

    @property
    def sent_texts(self) -> dict[str, str]:
        """Key -> each text that decides the replies; its digest is that of the prompt."""
        return self.texts


@dataclass(frozen=True, kw_only=True)
class PromptFile(PromptFacts):
    """The keys of the file of a generator's prompt."""

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    user: str
    system: str = ""
    closed_book: ClosedBook = field(default_factory=ClosedBook)
    examples: tuple[FewShot, ...] = ()
    answer_after: str = ""
    refusal: str = ""
    """The sentence that the texts ask for if the passages do not contain the answer."""
    max_words: int | None = None
    """The maximum length of an answer that the texts ask for."""
    citations: bool = False
    """Whether the texts ask for the numbers of passages."""
    judge: str = ""
    """The judge that the prompt is of, which makes it none of a generator."""

    def __post_init__(self) -> None:
        """Raise `ConfigError` if a text is malformed, or a fact is not in the texts."""
        super().__post_init__()
        if self.judge:
            raise ConfigError(
                f"this is a prompt of the judge {self.judge!r}; a generator takes a file without "
                "the key judge",
                key="judge",
            )
        written = " ".join(self.texts.values())
        for key in ("refusal", "max_words"):
            value = getattr(self, key)
            if value and str(value) not in written:
                raise ConfigError(f"{key} is {value!r}, which no text asks for", key=key)
        self.sent.check()

    @cached_property
    def texts(self) -> dict[str, str]:
        """Key -> each text of the file that is sent."""
        closed = {f"closed_book.{key}": text for key, text in asdict(self.closed_book).items()}
        shown = {
            f"examples.{place}": "\n".join([*one.passages, one.query, one.answer])
            for place, one in enumerate(self.examples)
        }
        return {"system": self.system, "user": self.user, **closed, **shown}

    @property
    def sent(self) -> RagPrompts:
        """The texts that a generator sends, and how it reads the reply."""
        closed = self.closed_book.system, self.closed_book.user
        return RagPrompts(self.system, self.user, *closed, self.examples, self.answer_after)

    @property
    def sent_texts(self) -> dict[str, str]:
        """Key -> each text that is sent or that decides how a reply is read."""
        return sent_texts(self.sent)


@dataclass(frozen=True)
class NamedPrompt(Generic[F]):
    """A prompt with its name."""

    name: str
    file: F
    is_own: bool = False
    """Whether it is a file beside the experiment, not a shipped one."""
    replaces_shipped: bool = False
    """Whether it is such a file with the name of a shipped prompt."""
    translations: Mapping[str, NamedPrompt[F]] = field(default_factory=dict)
    """Language -> the prompt in it, if the query's language chooses; `file` is for all others."""

    @cached_property
    def sent_texts(self) -> dict[str, str]:
        """Key -> text of the prompt, `de.KEY` for those of its translations."""
        found = dict(self.file.sent_texts)
        for language, one in self.translations.items():
            found |= {f"{language}.{key}": text for key, text in one.file.sent_texts.items()}
        return found

    @property
    def _members(self) -> tuple[NamedPrompt[F], ...]:
        return (self, *self.translations.values())

    def label(self, sent: Mapping[str, str] | None = None) -> str:
        """Return the short name of the texts that are sent, for tables.

        The name, with the version if it is not 1. Four digits of the content follow if parameters
        replace a text, or if an own prompt has the name of a shipped one.
        """
        own = self.sent_texts
        sent = own if sent is None else sent
        shown = self.name if self.file.version == 1 else f"{self.name}@{self.file.version}"
        is_as_named = sent == own and not any(one.replaces_shipped for one in self._members)
        return shown if is_as_named else f"{shown}~{fingerprint(sent)[:_DIGITS]}"

    def facts(self, sent: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return the name of the prompt, the digest of the texts sent, and those replaced."""
        own = self.sent_texts
        sent = own if sent is None else sent
        several = {"languages": [self.file.language, *self.translations]}
        reviewed = {one.file.reviewed for one in self._members} - {None}
        return {
            "label": self.label(sent),
            "name": self.name,
            "version": self.file.version,
            "language": self.file.language,
            **(several if self.translations else {}),
            "reviewed": all(reviewed) if reviewed else None,
            "own": any(one.is_own for one in self._members),
            "digest": fingerprint(sent),
            "replaced": [key for key in {**own, **sent} if own.get(key) != sent.get(key)],
        }


def find_prompt(name: str) -> NamedPrompt[PromptFile]:
    """Return a generator's prompt: `prompts/NAME.yaml` beside the experiment, or a shipped one.

    A name that ends with `.{language}` is the prompt with all its translations.

    Raises:
        ConfigError: there is no such prompt, or its file is wrong; the message names file and key.
    """
    translated = translations(LANGUAGES, shipped_names())
    shipped = {*shipped_names(), *translated}
    if name.endswith(BY_LANGUAGE):
        default = find_prompt(name.removesuffix(BY_LANGUAGE))
        return in_languages(default, find_prompt, {*shipped, *own_names()})
    if own := own_prompt(name, PromptFile, shipped):
        return own
    if name in shipped:
        return NamedPrompt(name, _shipped(name))
    known = {*shipped, *own_names()}
    near = {*names_by_language(name.rpartition(".")[0], known).values()}
    raise unknown_prompt(name, "prompt", near or known - translated.keys())


def in_languages(
    default: NamedPrompt[F], find: Callable[[str], NamedPrompt[F]], known: Collection[str]
) -> NamedPrompt[F]:
    """Return a prompt with its translations; the language of a query or an item chooses.

    Args:
        default: the prompt for a language without a translation.
        find: returns a translation by its name.
        known: the names of all prompts.

    Raises:
        ConfigError: there is no translation, or the file of one is wrong.
    """
    names = names_by_language(default.name, known)
    names.pop(default.file.language.partition("-")[0], None)
    if not names:
        raise ConfigError(
            f"the prompt {default.name!r} is in one language: there is no file such as "
            f"{own_path(default.name + '.de')}; name it without {BY_LANGUAGE}",
            key="prompt",
            value=default.name + BY_LANGUAGE,
        )
    found = {language: find(name) for language, name in names.items()}
    return replace(default, name=default.name + BY_LANGUAGE, translations=found)


def own_prompt(name: str, kind: type[F], shipped: Collection[str]) -> NamedPrompt[F] | None:
    """Return the prompt of `prompts/NAME.yaml` beside the experiment; None if there is no file.

    Args:
        name: the name.
        kind: the keys of the file.
        shipped: names of shipped prompts: a notice names a file that takes the place of one.

    Raises:
        ConfigError: the name is not one, or the file is wrong; the message names file and key.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"the prompt {name!r} is not a name; write its texts into {FOLDER}/NAME.yaml beside "
            "the experiment file, or set system and user",
            key="prompt",
            value=name,
        )
    path = own_path(name)
    if not path.is_file():
        return None
    if name in shipped:
        _tell(path, name)
    return NamedPrompt(name, read_prompt(path, kind), True, name in shipped)


def unknown_prompt(name: str, kind: str, known: Collection[str]) -> ConfigError:
    """Return the error for a name that no prompt has, with the nearest of those known."""
    return ConfigError(
        f"unknown {kind} {name!r}, and there is no file {own_path(name)}"
        f"{did_you_mean(name, known)}",
        key="prompt",
        value=name,
    )


def own_path(name: str) -> Path:
    """Return the path of the file of an own prompt, which need not exist."""
    return own_folder() / FOLDER / f"{name}.yaml"


@cache
def shipped_names() -> tuple[str, ...]:
    """Return the names of the shipped prompts, the default first."""
    names = sorted(path.stem for path in SHIPPED.glob("*.yaml"))
    return tuple(sorted(names, key=lambda name: name != DEFAULT_PROMPT))


def own_names() -> tuple[str, ...]:
    """Return the names of the prompts beside the experiment file."""
    names = (path.stem for path in (own_folder() / FOLDER).glob("*.yaml"))
    return tuple(sorted(name for name in names if _NAME.fullmatch(name)))


def sent_texts(sent: RagPrompts) -> dict[str, str]:
    """Return key -> each text that is sent or that decides how a reply is read."""
    values = asdict(sent)
    examples = "\n\n".join(
        "\n\n".join([*filter(None, [one.values["context"]]), f"Q: {one.query}\nA: {one.answer}"])
        for one in sent.examples
    )
    return {key: text for key, text in {**values, "examples": examples}.items() if text}


def traits(prompt: NamedPrompt[PromptFile]) -> dict[str, Any]:
    """Return the prompt's requests, and its order of passages, query and history."""
    file, sent = prompt.file, prompt.file.sent
    place = {name: _place(sent, name) for name in ("context", "query", "history")}
    turns = (1, -1)
    after = (place["history"] or turns) > (place["context"] or turns)
    return {
        "refusal": file.refusal,
        "max_words": file.max_words,
        "citations": file.citations,
        "order": ["passages", "query"]
        if (place["context"] or turns) < (place["query"] or turns)
        else ["query", "passages"],
        "history": f"{'text' if place['history'] else 'turns'} "
        f"{'after' if after else 'before'} the passages",
        "examples": len(file.examples),
        "answer_after": file.answer_after,
        "language": file.language,
    }


def label_of(parameters: Mapping[str, Any]) -> str:
    """Return the short name of the prompt in the cache key parts of a generator.

    It is the name of a shipped prompt, or `texts~` and four digits of the texts, or "" for a
    component without a prompt.
    """
    keys = ("system", "user", "closed_book_system", "closed_book_user")
    if not all(isinstance(parameters.get(key), str) for key in keys):
        return ""
    more = parameters.get("prompt") or {}
    examples = tuple(
        FewShot(one["query"], one["answer"], tuple(one["passages"]))
        for one in more.get("examples", ())
    )
    texts = {key: parameters[key] for key in keys}
    sent = RagPrompts(**texts, examples=examples, answer_after=more.get("answer_after", ""))
    for name in shipped_names():
        if _shipped(name).sent == sent:
            return NamedPrompt(name, _shipped(name)).label()
    return f"texts~{fingerprint(sent_texts(sent))[:_DIGITS]}"


def _place(sent: RagPrompts, variable: str) -> tuple[int, int] | None:
    """Return the message, 0 for system, and the character at which a variable begins."""
    for message, text in enumerate((sent.system, sent.user)):
        at = text.find(f"{{{variable}}}")
        if at >= 0:
            # The turns of a history come between the two.
            return 2 * message, at
    return None


def read_prompt(path: Path, kind: type[F]) -> F:
    """Return the file of a prompt; an error names the file and the key."""
    try:
        return read_model(path, "prompt", kind)
    except ConfigError as error:
        told = str(error)
        raise error.with_message(told if str(path) in told else f"{path}: {told}") from error


@cache
def _shipped(name: str) -> PromptFile:
    if name in shipped_names():
        return read_prompt(SHIPPED / f"{name}.yaml", PromptFile)
    named = translations(LANGUAGES, shipped_names())[name]
    keys = language_file(LANGUAGES, named.language).keys_of(named.prompt)
    english = _shipped(named.prompt)
    facts = {key: getattr(english, key) for key in ("about", "version", "max_words", "citations")}
    return read_keys({**facts, **keys}, PromptFile)


def read_keys(keys: Mapping[str, Any], kind: type[F]) -> F:
    """Return a shipped prompt from its keys."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind).validate_python(keys)


@cache
def _tell(path: Path, name: str) -> None:
    _LOG.warning("%s takes the place of the shipped prompt %r", path, name)
