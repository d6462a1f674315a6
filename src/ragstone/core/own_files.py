"""YAML files of prompts and taxonomies, checked when they are read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args, get_type_hints

from ragstone.core.parsing import read_yaml
from ragstone.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

T = TypeVar("T")
_UNKNOWN: Final = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
_PLAIN: Final = dict.fromkeys(_UNKNOWN, "unknown key") | {
    "dataclass_type": "a mapping of keys to values is needed",
    "model_type": "a mapping of keys to values is needed",
    "missing": "this key is required",
    "tuple_type": "a list is needed",
}
"""Type of a pydantic error -> its message, where pydantic's speaks of Python."""


def read_model(path: Path, kind: str, model: type[T]) -> T:
    """Return a YAML file as a pydantic model or a dataclass.

    `kind` names the kind of file in errors: "taxonomy", for example.

    Raises:
        ConfigError: the file cannot be read, or a key is unknown, missing or of the wrong type.
    """
    from pydantic import TypeAdapter, ValidationError

    document = read_yaml(path, kind)
    try:
        return TypeAdapter(model).validate_python(document)
    except ValidationError as error:
        # A misspelt key explains why another one is missing.
        first = min(error.errors(), key=lambda one: one["type"] not in _UNKNOWN)
        place = _place(first)
        key = ".".join(map(str, place)) or "the file"
        near = ""
        if first["type"] in _UNKNOWN:
            near = did_you_mean(str(place[-1]), _keys(model, place[:-1]))
        # Each form that a key may have is an error of its own.
        alike = [one for one in error.errors() if _place(one) == place]
        messages = (_PLAIN.get(one["type"], one["msg"].lower()) for one in alike)
        message = ", or ".join(dict.fromkeys(messages))
        problem = f"{path}: {key}: {message}{near}"
        raise ConfigError(problem, path=path, key=key, value=first["input"]) from error


def _place(error: ErrorDetails) -> tuple[int | str, ...]:
    """Return the keys of an error's place without the types that pydantic tried there."""
    given = error["loc"]
    # The last part of an unknown key's place is that key, whatever it contains.
    keys = given[-1:] if error["type"] in _UNKNOWN else ()
    others = given[: len(given) - len(keys)]
    return (*(part for part in others if isinstance(part, int) or "[" not in part), *keys)


def _keys(model: Any, place: tuple[int | str, ...]) -> Iterator[str]:
    """Yield the keys that a file may have at a place, such as `closed_book` or `examples.0`."""
    for step in place:
        if isinstance(step, str):
            model = get_type_hints(model).get(step)
        # The members of a list, or the mapping that may be None.
        model = next((kind for kind in get_args(model) if isinstance(kind, type)), model)
    names = get_type_hints(model) if isinstance(model, type) else ()
    yield from (name for name in names if not name.startswith("_"))
