"""Judges' prompts by name: the judge's own, `prompts/NAME.yaml` beside the experiment, or shipped.

A file replaces texts of the judge's own prompt; texts that it leaves out are the judge's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import ClassVar, Final

from ragstone.core.parsing import read_yaml
from ragstone.core.prompt_files import (
    SHIPPED,
    NamedPrompt,
    PromptFacts,
    in_languages,
    own_names,
    own_path,
    own_prompt,
    read_keys,
    shipped_names,
    unknown_prompt,
)
from ragstone.core.prompt_translations import (
    BY_LANGUAGE,
    TranslatedName,
    language_file,
    languages,
    translations,
)
from ragstone.errors import ConfigError

JUDGES: Final = SHIPPED / "judges"
_TEXTS: Final = (
    *("system", "user", "claims_user"),
    *("form", "form_after_reason", "claims_form"),
)


@dataclass(frozen=True, kw_only=True)
class JudgePromptFile(PromptFacts):
    """The keys of the file of a judge's prompt; a text that is empty is the judge's own.

    Args:
        judge: the judge that the prompt is of; "" if any judge may take it.
        user: template of the user message.
        system: template of the system message.
        claims_user: template of the user message that asks for claims.
        critiques: name of a rating of `critiques` -> template of its user message.
        form: the request to write the verdict alone, at the end of the user message.
        form_after_reason: the request to write a reason and then the verdict.
        claims_form: the request to write the claims as a list.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    judge: str = ""
    user: str = ""
    system: str = ""
    claims_user: str = ""
    critiques: Mapping[str, str] = field(default_factory=dict)
    form: str = ""
    form_after_reason: str = ""
    claims_form: str = ""

    @property
    def texts(self) -> dict[str, str]:
        """Key -> each text that is not empty; that of a critique is `NAME_user`."""
        found = {key: getattr(self, key) for key in _TEXTS}
        found |= {f"{name}_user": text for name, text in self.critiques.items()}
        return {key: text for key, text in found.items() if text}

    def over(self, default: JudgePromptFile) -> JudgePromptFile:
        """Return the file with the texts of `default` in place of those that it leaves out.

        >>> own = JudgePromptFile(user="Is {answer} right?")
        >>> own.over(JudgePromptFile(user="{answer}", system="You grade.")).texts
        {'system': 'You grade.', 'user': 'Is {answer} right?'}
        """
        missing = {key: getattr(default, key) for key in _TEXTS if not getattr(self, key)}
        critiques = {**default.critiques, **self.critiques}
        return replace(self, **missing, critiques=critiques)


def find_judge_prompt(
    name: str, judge: str, default: JudgePromptFile
) -> NamedPrompt[JudgePromptFile]:
    """Return the prompt of a judge by its name.

    Args:
        name: the name; "" and the judge's name are its own prompt, unless a file beside the
            experiment has the judge's name.
        judge: the judge.
        default: its own prompt.

    Raises:
        ConfigError: there is no such prompt, it is of another judge, or its file is wrong.
    """
    if not name:
        return NamedPrompt(judge, default)
    known = {judge, *shipped_for(judge)}
    if name.endswith(BY_LANGUAGE):
        first = find_judge_prompt(name.removesuffix(BY_LANGUAGE), judge, default)
        find = partial(find_judge_prompt, judge=judge, default=default)
        return in_languages(first, find, known | {*own_names()})
    found = own_prompt(name, JudgePromptFile, known)
    if found is None and name == judge:
        return NamedPrompt(judge, default)
    if found is None and name in shipped_translations():
        found = NamedPrompt(name, _shipped(name))
    if found is None:
        raise unknown_prompt(name, f"prompt of the judge {judge!r}:", known | {*_own_of(judge)})
    if found.file.judge not in {"", judge}:
        raise ConfigError(
            f"the prompt {name!r} is of the judge {found.file.judge!r}, not of {judge!r}; those of "
            f"{judge!r} are: {', '.join(sorted(known | {*_own_of(judge)}))}",
            key="prompt",
            value=name,
        )
    return replace(found, file=found.file.over(default))


@cache
def _translations() -> dict[str, TranslatedName]:
    """Return the name of each shipped translation -> judge and language."""
    # Each language has the same judges.
    return translations(JUDGES, language_file(JUDGES, languages(JUDGES)[0]).prompts)


def shipped_translations() -> tuple[str, ...]:
    """Return the names of the shipped translations, such as `equivalence.de`."""
    return tuple(_translations())


def shipped_for(judge: str) -> tuple[str, ...]:
    """Return the names of the shipped files of a judge.

    >>> shipped_for("idk")[:3]
    ('idk.ar', 'idk.de', 'idk.es')
    """
    return tuple(name for name, one in _translations().items() if one.prompt == judge)


def own_judge_names() -> dict[str, str]:
    """Return the name of each prompt beside the experiment that names a judge -> the judge."""
    named = {name: judge_of(own_path(name)) for name in own_names()}
    return {name: judge for name, judge in named.items() if judge}


def judge_of(path: Path) -> str:
    """Return the judge that the file of a prompt names; "" if it names none or is unreadable."""
    try:
        document = read_yaml(path, "prompt")
    except ConfigError:
        return ""
    return str(document.get("judge") or "") if isinstance(document, Mapping) else ""


def judge_of_prompt(name: str) -> str:
    """Return the judge that a prompt names: of an own file, else of a shipped one; or ""."""
    if own_path(name).is_file():
        return judge_of(own_path(name))
    is_shipped = name in _translations() and name not in shipped_names()
    return _translations()[name].prompt if is_shipped else ""


def _own_of(judge: str) -> tuple[str, ...]:
    return tuple(name for name, named in own_judge_names().items() if named == judge)


@cache
def _shipped(name: str) -> JudgePromptFile:
    judge, language = _translations()[name]
    keys = language_file(JUDGES, language).keys_of(judge)
    about = f"The prompt of {judge}, translated."
    return read_keys({"judge": judge, "about": about, **keys}, JudgePromptFile)
