"""What the documentation of the public API lacks: `python tools/api_documented.py`.

For each name of docs/stability.yaml and each public member of its class, the rules are: a mark of
its stability there; a docstring; an example that runs, in the docstring or in the file of its page
in tools/site/api; its parameters, and what it returns; a unit for every number; the errors that its
module raises in it; and for a name that computes a statistic, a page or paper as the source.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.site.api_pages import example, value_of  # noqa: E402
from tools.site.stability import PublicName, public_names  # noqa: E402

from ragstone import errors  # noqa: E402

FORMULAS: Final = {"compare", "gate", "Summary", "leaderboard", "effects", "sensitivity"}
"""Public names that compute a statistic; metrics have their source in their own docstrings."""
_SOURCE: Final = re.compile(r"docs/[\w-]+\.md|\b(?:19|20)\d\d\b")
_UNIT: Final = re.compile(
    r"seconds?|tokens?|characters?|bytes|numbers?|maximum|most|largest|smallest|seed|share|mean|"
    r"positions?|any number|range|count|level|length|queries|passages|items|values|differences?|"
    r"cost|currency|turn|calls?|times|grade|confidence|probability|port|exit code|answers|points?|"
    r"per ",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"\b(?:int|float)\b")
_ERRORS: Final = {
    name
    for name, value in vars(errors).items()
    if inspect.isclass(value) and issubclass(value, errors.RagstoneError)
}


def main() -> int:
    """Print what is missing, and return 1 if something is."""
    missing = sorted(set(shortcomings()))
    for place, what in missing:
        print(f"{place}: {what}")
    print(f"{len(list(documented()))} names and members, {len(missing)} shortcomings")
    return 1 if missing else 0


def shortcomings() -> Iterator[tuple[str, str]]:
    """Yield each name or member with what it lacks."""
    yield from unmarked()
    for one, member in documented():
        yield from _of_member(one, member) if member else _of_name(one)


def documented() -> Iterator[tuple[PublicName, str]]:
    """Yield each public name, as itself ("") and with each member of its class."""
    for one in public_names():
        yield one, ""
        for member in (*one.members, *one.experimental):
            yield one, member


def unmarked() -> Iterator[tuple[str, str]]:
    """Yield the members without a mark or with two, and the marks without a member.

    A member of a public base class is marked there, unless the class repeats the mark.
    """
    values = {one: value_of(one) for one in public_names()}
    classes = {value: one for one, value in values.items() if inspect.isclass(value)}
    for value, one in classes.items():
        bases = (base for base in value.__mro__[1:] if base in classes)
        inherited = {member for base in bases for member in _members(base)}
        marks, members = Counter((*one.members, *one.experimental)), _members(value)
        for member in members - inherited - marks.keys():
            yield f"{one.name}.{member}", "no stability"
        for member, count in marks.items():
            if count > 1:
                yield f"{one.name}.{member}", "two marks of stability"
            if member not in members:
                yield f"{one.name}.{member}", "a mark of stability, and no such member"


def _members(owner: type) -> set[str]:
    """Return the public methods, properties and attributes of a class that Ragstone defines."""
    ours = [base for base in owner.__mro__ if base.__module__.startswith("ragstone")]
    kinds = ((*vars(b), *vars(b).get("__annotations__", ()), *_set_in_init(b)) for b in ours)
    return {name for names in kinds for name in names if not name.startswith("_")}


def _set_in_init(owner: type) -> Iterator[str]:
    """Yield the attributes that the constructor of a class sets."""
    for node in ast.walk(_tree(owner)):
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            for inner in ast.walk(node):
                if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
                    yield inner.attr


def _of_name(one: PublicName) -> Iterator[tuple[str, str]]:
    value = value_of(one)
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        if not _shown(one.page, one.name) and ">>> " not in (inspect.getdoc(value) or ""):
            yield one.name, "no example"
        return
    text = inspect.getdoc(value) or ""
    if not text:
        yield one.name, "no docstring"
    members = (
        [m for m in one.members if _shown(one.page, m, value)] if inspect.isclass(value) else []
    )
    if ">>> " not in text and not members and not _shown(one.page, one.name):
        yield one.name, "no example"
    if one.name in FORMULAS and not _SOURCE.search(text):
        yield one.name, "no source of what it computes"
    if inspect.isroutine(value):
        yield from _of_function(one.name, value)


def _of_member(one: PublicName, member: str) -> Iterator[tuple[str, str]]:
    owner, place = value_of(one), f"{one.name}.{member}"
    found = inspect.getattr_static(owner, member, None)
    function = _function(found)
    text = inspect.getdoc(function) if function else _attribute_text(owner, member)
    if not text:
        yield place, "no docstring"
        return
    if ">>> " not in text and not _shown(one.page, member, owner):
        yield place, "no example"
    if inspect.isfunction(function):
        yield from _of_function(place, function)
    elif _NUMBER.search(str(_annotation(owner, member))) and not _UNIT.search(text):
        yield place, "a number without a unit"


def _function(found: Any) -> Callable[..., Any] | None:
    """Return the function of a method or property, or None for an attribute."""
    match found:
        case cached_property():
            return found.func
        case property():
            return found.fget
        case staticmethod() | classmethod():
            return found.__func__
    return found if inspect.isfunction(found) else None


def _of_function(place: str, function: Callable[..., Any]) -> Iterator[tuple[str, str]]:
    text = inspect.getdoc(function) or ""
    signature = inspect.signature(function)
    for name in signature.parameters:
        if name not in {"self", "cls"} and not re.search(rf"\b{name}\b", text):
            yield place, f"the parameter {name} is not explained"
    returned = str(signature.return_annotation)
    if returned not in {"None", "bool"} and not re.match(r"[A-Z(]\S* ", text):
        yield place, "what it returns is not stated"
    if _NUMBER.search(returned) and not _UNIT.search(text):
        yield place, "a number without a unit"
    for name in sorted(_raised(function)):
        if not re.search(rf"\b{name}\b", text):
            yield place, f"the error {name} is not named"


def _raised(function: Callable[..., Any]) -> set[str]:
    """Return the errors of Ragstone that a function, or a function of its file, raises in it."""
    definitions = _definitions(inspect.getsourcefile(function) or "")
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    found: set[str] = set()
    seen: set[str] = set()
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        for inner in ast.walk(node):
            if isinstance(inner, ast.Raise) and isinstance(inner.exc, ast.Call):
                found.add(_called(inner.exc))
            elif isinstance(inner, ast.Call) and (name := _called(inner)) not in seen:
                seen.add(name)
                todo += [definitions[name]] if name.startswith("_") and name in definitions else []
    return found & _ERRORS


def _called(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


@cache
def _definitions(file: str) -> dict[str, ast.AST]:
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def _annotation(owner: type, member: str) -> Any:
    return next(
        (
            b.__annotations__[member]
            for b in owner.__mro__
            if member in vars(b).get("__annotations__", {})
        ),
        "",
    )


def _attribute_text(owner: type, member: str) -> str:
    """Return the text of an attribute: below it, in a section, or where it is named."""
    for base in owner.__mro__[:-1]:
        if not base.__module__.startswith("ragstone"):
            continue
        text, strings = inspect.cleandoc(base.__doc__ or ""), _strings(base)
        listed = rf"^    (?:\w+, )*{member}(?:, \w+)*: (.+(?:\n     .*)*)"
        if line := re.search(listed, text, re.MULTILINE):
            return line[1]
        named = [one for one in (text, *strings.values()) if f"`{member}`" in one]
        if found := strings.get(member) or " ".join(named):
            return found
    return ""


@cache
def _strings(owner: type) -> dict[str, str]:
    """Return attribute -> the string below it, in the source of a class."""
    found = {}
    for body in (getattr(node, "body", None) for node in ast.walk(_tree(owner))):
        for node, after in pairwise(body if isinstance(body, list) else ()):
            target = node.target if isinstance(node, ast.AnnAssign) else node
            target = target.targets[0] if isinstance(target, ast.Assign) else target
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                name = getattr(target, "id", getattr(target, "attr", ""))
                found[name] = str(after.value.value)
    return found


@cache
def _tree(owner: type) -> ast.AST:
    return ast.parse(textwrap.dedent(inspect.getsource(owner)))


def _shown(page: str, name: str, owner: type | None = None) -> bool:
    """Return whether an example of the page, or of the class, uses a name."""
    text = example(page) + (inspect.getdoc(owner) or "" if owner else "")
    lines = "\n".join(line for line in text.splitlines() if line.startswith((">>> ", "... ")))
    return bool(re.search(rf"\.{name}\b" if owner else rf"\b{name}\b", lines))


if __name__ == "__main__":
    sys.exit(main())
