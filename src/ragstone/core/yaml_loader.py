"""PyYAML's safe loader without its traps.

It refuses a key that occurs twice in a mapping, types that JSON does not have (except dates),
merges that multiply, numbers that take seconds to compute, and characters that no server accepts.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from ragstone.core import limits

_TAG: Final = "tag:yaml.org,2002:"
_NUMBERS: Final = (f"{_TAG}int", f"{_TAG}float")
_NO_JSON: Final = frozenset({f"{_TAG}{name}" for name in ("binary", "omap", "pairs", "set")})
_NO_TEXT: Final = re.compile("[\x00\ud800-\udfff]")
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
"""A character as JSON writes those beyond U+FFFF: by two escapes, which PyYAML leaves apart."""


@cache
def yaml_loader(*, fast: bool) -> Any:
    """Return the class of the loader.

    A `fast` one takes a fifth of the time, with libyaml; its errors do not show the line.
    """
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader) if fast else yaml.SafeLoader
    kept = {tag: made for tag, made in base.yaml_constructors.items() if tag not in _NO_JSON}
    return type("Loader", (_Checks, base), {"yaml_constructors": kept})


class _Checks:
    """Checks before PyYAML's safe loader makes an object, and before it merges mappings."""

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        if node.id == "scalar":
            node.value = _PAIR.sub(_joined, node.value)
            _refuse(_problem_of_scalar(node), node)
        try:
            return super().construct_object(node, deep)  # type: ignore[misc]
        except (AttributeError, LookupError, ValueError):
            # What PyYAML raises for a value that is not of its tag: `!!timestamp x`.
            kind = node.tag.removeprefix(_TAG)
            _refuse(f"the value is not a {kind}; put quotation marks around it", node)

    def flatten_mapping(self, node: Any) -> None:
        # Another mapping that merges this one flattens it too, so keys are checked only once.
        done = self.__dict__.setdefault("flattened", set())
        if id(node) in done:
            return
        done.add(id(node))
        seen: set[Any] = set()
        for key, value in node.value:
            if key.id == "scalar" and key.value in seen:
                _refuse(f"the key {key.value!r} occurs twice; keep one", key)
            seen.add(key.value if key.id == "scalar" else id(key))
            if key.tag == f"{_TAG}merge":
                self._count_keys(value)
        super().flatten_mapping(node)  # type: ignore[misc]
        # PyYAML keeps a merged key beside the one that replaces it.
        node.value = list({_identity(key): (key, value) for key, value in node.value}.values())

    def _count_keys(self, merged: Any) -> None:
        """Refuse merges of too many keys in all: nested ones multiply."""
        for one in merged.value if merged.id == "sequence" else [merged]:
            if one.id == "mapping":
                self.flatten_mapping(one)
                self.__dict__["keys"] = self.__dict__.get("keys", 0) + len(one.value)
            if self.__dict__.get("keys", 0) > limits.MAX_YAML_MERGED_KEYS:
                _refuse(f"'<<' merges at most {limits.MAX_YAML_MERGED_KEYS:,} keys", one)


def _refuse(problem: str, node: Any) -> None:
    import yaml

    if problem:
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")


def _problem_of_scalar(node: Any) -> str:
    """Return why a number or a text is refused; "" if it is not."""
    digits, maximum = len(node.value), limits.MAX_NUMBER_CHARACTERS
    if node.tag in _NUMBERS and digits > maximum:
        return f"a number has at most {maximum} characters, found {digits:,}"
    found = _NO_TEXT.search(node.value)
    return f"a text must not contain the character {found[0]!r}; remove it" if found else ""


def _identity(key: Any) -> object:
    """Return what is equal for equal keys of a mapping."""
    return (key.tag, key.value) if key.id == "scalar" else id(key)
