"""The tasks, each with its own scheme, and schemes from files."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from ragstone.annotation.schemes import Option, Question, Scheme, TaskName
from ragstone.core.own_files import read_model
from ragstone.data.taxonomy import TaxonomyFile, load_taxonomy, own_taxonomies
from ragstone.errors import ConfigError, did_you_mean

FOLDER: Final = Path(__file__).parent / "own_schemes"
"""The schemes that come with Ragstone, in the form of your own ones."""
OWN: Final[dict[TaskName, str]] = {
    "conversation": "conversation",
    "labels": "relevance",
    "support": "support",
    "ratings": "fanc",
    "pairwise": "pairwise",
    "nuggets": "nuggets",
    "causes": "causes",
    "validation": "validation",
}
"""Task -> the name of its own scheme."""


@cache
def own_scheme(name: str) -> Scheme:
    """Return a scheme that comes with Ragstone."""
    return read_model(FOLDER / f"{name}.yaml", "scheme", Scheme)


def scheme_of(task: TaskName, written: str, folder: Path) -> Scheme:
    """Return the scheme that a project names: a file beside it, a name, or "" for the task's own.

    Raises `ConfigError` if there is no such scheme.
    """
    if not written:
        return own_scheme(OWN[task])
    if written.endswith((".yaml", ".yml")):
        return read_model(folder / written, "scheme", Scheme)
    if written in own_taxonomies():
        return taxonomy_scheme(load_taxonomy(written))
    if written not in scheme_names():
        near = did_you_mean(written, scheme_names())
        problem = f"there is no scheme {written!r}{near}; a file of your own ends with .yaml"
        raise ConfigError(problem, key="scheme", value=written)
    return own_scheme(written)


def scheme_names() -> list[str]:
    """Return the names of the schemes that come with Ragstone."""
    return sorted([*(one.stem for one in FOLDER.glob("*.yaml")), *own_taxonomies()])


def scheme_file(name: str) -> str:
    """Return a scheme as the YAML of a scheme file; keys with their default are left out."""
    import yaml

    document = _chosen(scheme_of("labels", name, Path()))
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)


def scheme_schema() -> dict[str, Any]:
    """Return the JSON Schema of scheme files."""
    from pydantic import TypeAdapter

    return TypeAdapter(Scheme).json_schema()


def _chosen(held: Any) -> Any:
    """Return a dataclass as plain data without the fields that have their default."""
    if isinstance(held, tuple):
        return [_chosen(one) for one in held]
    if not is_dataclass(held):
        return held
    values = {one.name: (getattr(held, one.name), one.default) for one in fields(held)}
    return {name: _chosen(value) for name, (value, default) in values.items() if value != default}


def taxonomy_scheme(taxonomy: TaxonomyFile) -> Scheme:
    """Return a taxonomy as a scheme with one question.

    >>> taxonomy_scheme(load_taxonomy("mtrag-question-types")).questions[0].kind
    'choices'
    """
    options = tuple(Option(name, words) for name, words in taxonomy.labels.items())
    kind = "choices" if taxonomy.several else "choice"
    question = Question(taxonomy.name, taxonomy.task, kind=kind, options=options)  # type: ignore[arg-type]
    return Scheme(taxonomy.name, (question,), taxonomy.task, taxonomy.multiple, each="query")
