"""The reference page of experiment files, from their JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tools.site.page_text import code, linked, page, table

from ragstone.experiment.config import ExperimentFile
from ragstone.experiment.repeat_spec import RepeatSpec

UP: Final = "../"


def file_page() -> str:
    """Return the page: a table of the file's keys, and one of the keys of each part."""
    schema = ExperimentFile.model_json_schema()
    return page(
        "# Keys of the experiment file",
        f"[The experiment file]({UP}experiment-file.md) explains them, with examples. "
        "`ragstone config schema` prints this schema as JSON.",
        "## The file",
        _table(schema, ""),
        *_parts(schema),
    )


def keys() -> list[str]:
    """Return every key with its path: `sample.limit`, `systems[].retriever`."""
    schema = ExperimentFile.model_json_schema()
    inner = [f"{at}{name}" for at, part in _nested(schema) for name in part["properties"]]
    return [*schema["properties"], *inner]


def _nested(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the path and the schema of each part with keys of its own."""
    for name, value in schema["properties"].items():
        for form in (value, *value.get("anyOf", ())):
            target = form.get("$ref") or form.get("items", {}).get("$ref")
            if target:
                end = "[]." if form.get("type") == "array" else "."
                yield f"{name}{end}", schema["$defs"][target.rpartition("/")[2]]
    yield "repeats.", RepeatSpec.model_json_schema()


def _parts(schema: Mapping[str, Any]) -> Iterator[str]:
    for at, part in _nested(schema):
        yield f"## `{at.rstrip('.')}`"
        yield linked(part.get("description", ""), UP)
        yield _table(part, at)


def _table(part: Mapping[str, Any], at: str) -> str:
    required = part.get("required", ())
    rows = [
        (
            code(f"{at}{name}"),
            code(_type(value)),
            "required" if name in required else _default(value),
            linked(value.get("description", ""), UP),
        )
        for name, value in part["properties"].items()
    ]
    return table(("key", "type", "default", "meaning"), rows)


def _type(value: Mapping[str, Any]) -> str:
    """Return the allowed values of a key.

    >>> _type({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]})
    'integer (at least 1) | null'
    """
    if "anyOf" in value:
        return " | ".join(map(_type, value["anyOf"]))
    if "$ref" in value:
        return "mapping"
    if "enum" in value:
        return " | ".join(map(json.dumps, value["enum"]))
    if value.get("type") == "array":
        return f"list of {_type(value.get('items', {}))}{_bounds(value)}"
    named = {"object": "mapping", "null": "null", "string": "text", None: "any value"}
    return named.get(value.get("type"), str(value.get("type"))) + _bounds(value)


def _bounds(value: Mapping[str, Any]) -> str:
    words = {
        "minimum": "at least", "maximum": "at most", "exclusiveMinimum": "above",
        "minItems": "at least", "maxItems": "at most", "pattern": "pattern",
    }  # fmt: skip
    found = ", ".join(f"{word} {value[name]}" for name, word in words.items() if name in value)
    return f" ({found})" if found else ""


def _default(value: Mapping[str, Any]) -> str:
    default = value.get("default")
    return "" if default is None or default == "" else code(json.dumps(default))
