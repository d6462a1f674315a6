"""Your own YAML files of prompts and taxonomies, checked when they are read."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from ragstone.core.parsing import read_yaml
from ragstone.errors import ConfigError, did_you_mean

T = TypeVar("T")


def read_model(path: Path, kind: str, model: type[T]) -> T:
    """Return a YAML file as a pydantic model or a dataclass.

    `kind` names the kind of file in errors: "taxonomy", for example.

    Raises:
        ConfigError: the file cannot be read, or a key is unknown, missing or of the wrong type.
    """
    document = read_yaml(path, kind)
    try:
        return TypeAdapter(model).validate_python(document)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "the file"
        is_known = first["type"] not in {"extra_forbidden", "unexpected_keyword_argument"}
        near = "" if is_known else did_you_mean(key, get_type_hints(model))
        raise ConfigError(f"{path}: {key}: {first['msg'].lower()}{near}") from error
