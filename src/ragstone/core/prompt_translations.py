"""The shipped translations of prompts: one file per language, such as `prompts/languages/ja.yaml`.

A file has the texts of all prompts in its language. The facts of a prompt, such as the maximum
number of words, are those of the English one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

from ragstone.core.own_files import read_model

LANGUAGES: Final = Path(__file__).resolve().parents[1] / "prompts" / "languages"
"""The folder of generators' prompts."""
BY_LANGUAGE: Final = ".{language}"
"""The end of a prompt's name: each query or item gets the prompt in its language."""
_IN_LANGUAGE: Final = re.compile(r"(.+)\.([a-z]{2})(?:-[A-Za-z]{2,4})?")


@dataclass(frozen=True)
class AnswerLanguage:
    """The sentences that ask for an answer in the query's language, which `named` names."""

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    query: str = "Answer in the language of the question."
    named: str = "Answer in {language}."


@dataclass(frozen=True, kw_only=True)
class LanguageFile:
    """The keys of the file of a language.

    Args:
        language: its code.
        reviewed: whether a native speaker has reviewed the texts.
        prompts: name of the prompt -> key -> text.
        system: the system template of all prompts, if they share one.
        answer_language: the sentences that ask for an answer in the language.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    language: str
    reviewed: bool
    prompts: Mapping[str, Mapping[str, Any]]
    system: str = ""
    answer_language: AnswerLanguage = AnswerLanguage()

    def keys_of(self, name: str) -> dict[str, Any]:
        """Return the keys of a translated prompt."""
        shared = {"system": self.system} if self.system else {}
        found = {"language": self.language, "reviewed": self.reviewed}
        return {**found, **shared, **self.prompts[name]}


class TranslatedName(NamedTuple):
    """The name of a translated prompt, taken apart."""

    prompt: str
    language: str


@cache
def languages(folder: Path) -> tuple[str, ...]:
    """Return the codes of the languages of a folder with translations."""
    return tuple(sorted(path.stem for path in folder.glob("*.yaml")))


@cache
def language_file(folder: Path, language: str) -> LanguageFile:
    """Return the file of a language."""
    return read_model(folder / f"{language}.yaml", "translations", LanguageFile)


def translations(folder: Path, prompts: Iterable[str]) -> dict[str, TranslatedName]:
    """Return the name of each translation -> prompt and language; no file is read.

    >>> translations(LANGUAGES, ["cited"])["cited.ja"]
    TranslatedName(prompt='cited', language='ja')
    """
    found = (TranslatedName(name, code) for name in prompts for code in languages(folder))
    return {".".join(one): one for one in found}


def names_by_language(prompt: str, names: Iterable[str]) -> dict[str, str]:
    """Return language -> name of the prompt in it, from the names of all prompts.

    >>> names_by_language("short", ["short", "short.de", "short.pt-BR", "short.strict", "long.de"])
    {'de': 'short.de', 'pt': 'short.pt-BR'}
    """
    found: dict[str, str] = {}
    for name in sorted(names):
        match = _IN_LANGUAGE.fullmatch(name)
        if match and match[1] == prompt:
            found.setdefault(match[2], name)
    return found


def answer_language_of(language: str) -> AnswerLanguage:
    """Return the sentences that ask for an answer, in a language; in English if it has none."""
    code = language.lower().partition("-")[0]
    known = code in languages(LANGUAGES)
    return language_file(LANGUAGES, code).answer_language if known else AnswerLanguage()
