"""The factors of an experiment's systems: components, parameters, prompt and release.

The names of these factors are the axes of tables over experiments: `retriever`, `retriever.top_k`,
`generator`, `prompt`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ragstone.core import limits
from ragstone.core.fingerprint import fingerprint
from ragstone.core.screen_text import shorten
from ragstone.core.spec import Spec, parse_spec, short_name
from ragstone.results.earlier import declared_release
from ragstone.results.prompts import prompt_names
from ragstone.results.record import Record, SystemEntry
from ragstone.results.trained_parts import trained_systems

PARTS: Final = ("query_former", "retriever", "reranker", "processor", "generator")
"""The keys of a system's components in the experiment file."""
DATASTORE: Final = "datastore"
SYSTEM_AXES: Final = (*PARTS, DATASTORE)
"""The factors that make up a system, apart from its prompt and release."""
PROMPT: Final = "prompt"
PROMPT_PARAMETERS: Final = (PROMPT, "system", "user", "closed_book_system", "closed_book_user")
"""Parameters of a generator that are its prompt."""
NONE: Final = "-"
"""The value of a factor that a system does not have, such as the reranker of one without."""


def system_factors(record: Record) -> dict[str, dict[str, str]]:
    """Return system -> name of a factor -> its value, for the systems of an experiment."""
    entries = record.file.get("systems") or ()
    written = [entry if isinstance(entry, Mapping) else {} for entry in entries]
    written += [{}] * (len(record.systems) - len(written))
    prompts = prompt_names(record)
    return {
        system.name: {**dict(_factors(system, entry)), PROMPT: prompts.get(system.name) or NONE}
        for system, entry in zip(record.systems, written, strict=False)
    }


def trained_on(record: Record) -> dict[str, tuple[str, ...]]:
    """Return system -> the data sets that it was trained on: declared ones, and that of the run."""
    entries, seen = record.file.get("systems") or (), trained_systems(record.trained)
    return {
        system.name: (
            *map(str, entry.get("trained_on") or ()),
            *([record.data.name] if system.name in seen else ()),
        )
        for system, entry in zip(record.systems, entries, strict=False)
        if isinstance(entry, Mapping)
    }


def _factors(system: SystemEntry, entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "system", system.name
    for part in PARTS:
        made = system.components.get(part)
        spec = _spec(entry.get(part), made)
        if spec is None:
            yield part, NONE
            continue
        named = part == "generator"
        shown = {k: v for k, v in spec.parameters.items() if not (named and k in PROMPT_PARAMETERS)}
        yield part, short_name({"name": spec.name, **shown})
        for key, value in _parameters(spec, made).items():
            if not (named and key in PROMPT_PARAMETERS):
                yield f"{part}.{key}", value
    yield DATASTORE, str(entry.get(DATASTORE) or NONE)
    yield "release", declared_release(entry) or NONE


def _spec(written: Any, made: Any) -> Spec | None:
    """Return a component as it is written, or by its key parts; None if there is none."""
    if written is not None:
        return parse_spec(written, where="system")
    component = made.get("component") if isinstance(made, Mapping) else None
    return Spec(str(component).rpartition("/")[2]) if component else None


def _unnamed(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with a name for the argument without one."""
    return {key or "value": value for key, value in parameters.items()}


def _parameters(spec: Spec, made: Any) -> dict[str, str]:
    """Return the written parameters, and the default values of the others if they are plain."""
    kept = made.get("parameters") if isinstance(made, Mapping) else None
    plain = kept.items() if isinstance(kept, Mapping) else ()
    found = {k: value_text(v) for k, v in plain if not isinstance(v, Mapping | list)}
    return found | {k: value_text(v) for k, v in _unnamed(spec.parameters).items()}


def value_text(value: object) -> str:
    """Return the value of a parameter as short text.

    >>> value_text(True), value_text(0.9), value_text({"name": "minilm", "threads": 1})
    ('true', '0.9', 'minilm(threads=1)')
    """
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    text = short_name(value) if isinstance(value, Mapping) else str(value)
    if isinstance(value, list | tuple):
        text = f"[{', '.join(map(value_text, value))}]"
    line = " ".join(text.split())
    if len(line) <= limits.SHOWN_CELL_CHARACTERS and line == text:
        return line
    # Two long texts with one beginning stay two values.
    head = shorten(line, limits.SHOWN_CELL_CHARACTERS - 7)
    return f"{head} {fingerprint(text)[:6]}"
