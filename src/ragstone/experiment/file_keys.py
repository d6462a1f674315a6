"""The base of the parts of an experiment file: keys with a docstring each."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler


class FileKeys(BaseModel):
    """A mapping of an experiment file, which refuses unknown keys.

    The docstrings below its keys are their descriptions in the JSON Schema. They are read from the
    source when a schema is asked for: pydantic's own option reads it at every import.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: Any, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the JSON Schema of the keys, each with its description."""
        made = handler(core_schema)
        keys = handler.resolve_ref_schema(made)["properties"]
        for name, described in _descriptions(cls).items():
            keys[name] = {**keys[name], "description": described}
        return made


@cache
def _descriptions(model: type[FileKeys]) -> Mapping[str, str]:
    """Return key -> the docstring below it."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(body, ast.ClassDef)  # noqa: S101 - what a class is in its source
    return {
        key.target.id: inspect.cleandoc(text.value.value)
        for key, text in pairwise(body.body)
        if isinstance(key, ast.AnnAssign)
        and isinstance(key.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
