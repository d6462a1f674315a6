"""Notes on queries whose language a prompt does not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ragstone.core.prompt_translations import BY_LANGUAGE
from ragstone.text.language_names import LANGUAGE_NAMES


def note_on_languages(prompt: str, known: Sequence[str], stated: Iterable[str]) -> Iterator[str]:
    """Yield a note on languages of queries that a prompt has no translation into.

    Args:
        prompt: its name.
        known: codes of the languages that it has, the first for all other queries.
        stated: the code of each query; "" if it is unknown.

    >>> list(note_on_languages("short.{language}", ["en", "de"], ["de", "sw", ""]))
    ["queries asked with the English prompt: 1, because 'short' has no translation into sw"]
    """
    found = Counter(language for language in stated if language and language not in known)
    if found:
        yield (
            f"queries asked with the {_name(known)} prompt: {found.total():,}, because "
            f"{prompt.removesuffix(BY_LANGUAGE)!r} has no translation into "
            f"{', '.join(sorted(found))}"
        )


def reason_of_default(language: str, known: Sequence[str]) -> str:
    """Return why a query gets the prompt in the first of the known languages; "" if it does not.

    >>> reason_of_default("sw", ["en", "de"]), reason_of_default("de", ["en", "de"])
    ('with the English prompt: no translation into sw', '')
    """
    if language in known:
        return ""
    why = f"no translation into {language}" if language else "their language is unknown"
    return f"with the {_name(known)} prompt: {why}"


def _name(known: Sequence[str]) -> str:
    return LANGUAGE_NAMES.get(known[0], known[0])
