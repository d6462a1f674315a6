"""The code that a class or function reaches, as text that only a change of behaviour changes.

The text of a statement is its syntax tree without comments, layout, docstrings and annotations of
functions. It is the same under all versions of Python. A name is followed to its definition, also
through import statements inside functions. Definitions of `COMPUTING` are reached one by one; the
rest of the package (files, calls, commands) does not decide a result and is not reached.
"""

from __future__ import annotations

import ast
import importlib
import sys
import threading
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

COMPUTING: Final = (
    "ragstone.components",
    "ragstone.core.prompts",
    "ragstone.indexes",
    "ragstone.models",
    "ragstone.statistics",
    "ragstone.text",
)
"""The modules and packages of Ragstone whose code decides the result of a step."""
_SOURCE: Final = Path(__file__).resolve().parents[2]
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS: Final = (ast.Import, ast.ImportFrom)
_IGNORED: Final = frozenset({"annotation", "ctx", "kind", "returns", "type_comment"})
"""Fields of syntax nodes that do not change the behaviour of code."""
_PARSING: Final = threading.Lock()


class Imported(NamedTuple):
    """A name that an import statement binds."""

    name: str
    module: str
    attribute: str = ""
    """The name in the module; "" if the module itself is bound."""


class Statement:
    """A statement of a module, read when it is reached."""

    def __init__(self, node: ast.stmt) -> None:
        self.node = node

    @cached_property
    def defines(self) -> tuple[str, ...]:
        """The names that the statement binds or may change."""
        return tuple(_defined(self.node))

    @cached_property
    def imports(self) -> tuple[Imported, ...]:
        """The names that import statements in it bind."""
        return self._read[2]

    @property
    def uses(self) -> frozenset[str]:
        """The names that it reads."""
        return self._read[1]

    @property
    def text(self) -> str:
        """Its syntax tree as normalised text."""
        return self._read[0]

    @cached_property
    def _read(self) -> tuple[str, frozenset[str], tuple[Imported, ...]]:
        writer = _Writer()
        writer.write(self.node)
        return "".join(writer.text), frozenset(writer.names), tuple(writer.imports)


class Module:
    """The statements of a file by the names that they define."""

    def __init__(self, tree: ast.Module) -> None:
        self.statements = [Statement(node) for node in tree.body if not _is_for_types(node)]

    @cached_property
    def homes(self) -> dict[str, list[Statement]]:
        """Name -> statements that define it."""
        found: dict[str, list[Statement]] = {}
        for statement in self.statements:
            for name in statement.defines:
                found.setdefault(name, []).append(statement)
        return found


class Reached:
    """The definitions that are reached from some names."""

    def __init__(self) -> None:
        self.imported: set[Imported] = set()
        """Names bound by import statements of modules."""
        self.packages: set[str] = set()
        """Top-level names of imported modules that belong to no part of Ragstone."""
        self._found: dict[Module, set[Statement]] = {}
        self._seen: set[tuple[Module, str]] = set()

    def add(self, module: Module, names: Iterable[str]) -> None:
        """Add the definitions of some names of a module, and all that they reach."""
        wanted = [(module, name) for name in (*names, "*")]
        while wanted:
            place = wanted.pop()
            if place in self._seen:
                continue
            self._seen.add(place)
            module, name = place
            for statement in module.homes.get(name, ()):
                if isinstance(statement.node, _IMPORTS):
                    bound = [one for one in statement.imports if one.name == name]
                    self.imported.update(bound)
                else:
                    bound = list(statement.imports)
                    wanted += [(module, used) for used in statement.uses & module.homes.keys()]
                self._found.setdefault(module, set()).add(statement)
                wanted += [target for one in bound for target in self._targets(one)]

    def add_all(self, module: Module) -> None:
        """Add all statements of a module, and all that they reach."""
        self.add(module, list(module.homes))
        self._found[module] = set(module.statements)

    def statements(self, module: Module) -> list[ast.stmt]:
        """Return the statements of a module that are reached, in order."""
        found = self._found.get(module, set())
        return [statement.node for statement in module.statements if statement in found]

    def text(self) -> str:
        """Return the text of everything that is reached, in an order that no other code changes."""
        modules = [
            "\n".join(
                statement.text
                for statement in module.statements
                if statement in found and not isinstance(statement.node, _IMPORTS)
            )
            for module, found in self._found.items()
        ]
        bound = sorted(f"{one.name}={one.module}:{one.attribute}" for one in self.imported)
        return "\0".join([*sorted(modules), *bound])

    def _targets(self, imported: Imported) -> Iterator[tuple[Module, str]]:
        """Yield the definitions of an imported name, if they compute."""
        _, module, attribute = imported
        top = module.partition(".")[0]
        if top != "ragstone":
            self.packages.update({top} - sys.stdlib_module_names - {""})
            return
        if module == "ragstone":
            # A public name is imported from its module when it is first used.
            module = getattr(
                getattr(importlib.import_module(module), attribute, None), "__module__", ""
            )
        home, nested = package_module(module), package_module(f"{module}.{attribute or '-'}")
        if home is not None:
            names = [attribute] if attribute not in ("", "*") else list(home.homes)
            yield from ((home, name) for name in names)
        if nested is not None:
            yield from ((nested, name) for name in nested.homes)


@cache
def package_module(dotted: str, *, computing: bool = True) -> Module | None:
    """Return a module of Ragstone; None if there is none, or if it is not one that computes."""
    if computing and not any(f"{dotted}.".startswith(f"{part}.") for part in COMPUTING):
        return None
    base = _SOURCE.joinpath(*dotted.split("."))
    path = next((p for p in (base.with_suffix(".py"), base / "__init__.py") if p.is_file()), None)
    return None if path is None else Module(syntax_tree(path.read_bytes()))


def syntax_tree(source: str | bytes) -> ast.Module:
    """Return the syntax tree of some code, in any thread.

    Raises:
        SyntaxError: the code is malformed.
    """
    # Threads of Python 3.11 share the counter of the parser's recursion (CPython issue 106905).
    with _PARSING:
        return ast.parse(source)


def normal_text(tree: ast.AST) -> str:
    """Return a syntax tree as text without comments, layout, docstrings and annotations.

    >>> one, other = "def f(a: int): return a  # the same", "def f(a): 'Return a.'; return (a)"
    >>> normal_text(ast.parse(one)) == normal_text(ast.parse(other))
    True
    """
    writer = _Writer()
    writer.write(tree)
    return "".join(writer.text)


class _Writer:
    """Writes syntax nodes as text, and collects the names that they read and import."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.names: set[str] = set()
        self.imports: list[Imported] = []

    def write(self, node: Any, *, in_class: bool = False) -> None:
        """Write a node, a list of nodes or a plain value."""
        if isinstance(node, list):
            self.text.append("[")
            for item in node:
                if not _is_idle(item):
                    self.write(item, in_class=in_class)
            self.text.append("]")
        elif isinstance(node, ast.Name):
            self.names.add(node.id)
            self.text.append(f"Name({node.id})")
        elif isinstance(node, ast.Constant):
            # ascii: which characters repr escapes depends on the version of Python.
            self.text.append(f"Constant({node.value!a})")
        elif isinstance(node, ast.JoinedStr):
            self._write_joined(node)
        elif isinstance(node, ast.AnnAssign) and not in_class:
            if node.value is not None:
                self.write(ast.Assign([node.target], node.value))
        elif isinstance(node, ast.AST):
            self._write_node(node, in_class=in_class)
        else:
            self.text.append(ascii(node))

    def _write_node(self, node: ast.AST, *, in_class: bool) -> None:
        self.text.append(f"{type(node).__name__}(")
        self.imports += _bindings(node)
        for name in node._fields:
            value = getattr(node, name, None)
            # In a class, annotations make fields.
            ignored = name in _IGNORED and not (in_class and name == "annotation")
            if not ignored and value is not None and value != []:
                self.text.append(f"{name}=")
                self.write(value, in_class=isinstance(node, ast.ClassDef) and name == "body")
                self.text.append(",")
        self.text.append(")")

    def _write_joined(self, node: ast.JoinedStr) -> None:
        """Write an f-string; versions of Python cut the text between its values differently."""
        self.text.append("JoinedStr(")
        text = ""
        for part in node.values:
            if isinstance(part, ast.Constant):
                text += str(part.value)
                continue
            self.text.append(ascii(text))
            self.write(part)
            text = ""
        self.text.append(f"{text!a})")


def _is_idle(node: Any) -> bool:
    """Return whether a statement does nothing: a docstring, `pass`, or an import for types."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Pass) or _is_for_types(node)


def _is_for_types(node: Any) -> bool:
    """Return whether a statement is `if TYPE_CHECKING:`."""
    if not isinstance(node, ast.If) or node.orelse:
        return False
    return "TYPE_CHECKING" in (getattr(node.test, "id", ""), getattr(node.test, "attr", ""))


def _bindings(node: ast.AST) -> Iterator[Imported]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            top = alias.name.partition(".")[0]
            yield Imported(alias.asname or top, alias.name)
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        for alias in node.names:
            # A module beside the file is reached as a whole, in another way.
            named = "." * node.level + module
            yield Imported(alias.asname or alias.name, named, alias.name)


def _defined(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.Import | ast.ImportFrom):
        yield from (one.name for one in _bindings(statement))
    elif isinstance(statement, _DEFINITIONS):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (
            node.id for one in targets for node in ast.walk(one) if isinstance(node, ast.Name)
        )
    else:
        # A call or a block may change any value that it names.
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                yield node.id
            elif isinstance(node, _DEFINITIONS):
                yield node.name
            elif isinstance(node, ast.alias):
                yield (node.asname or node.name).partition(".")[0]


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """Return distribution -> installed version of some top-level modules, without unknown ones."""
    from importlib import metadata

    found = {name for package in packages for name in _distributions().get(package, ())}
    return {name: metadata.version(name) for name in sorted(found)}


@cache
def _distributions() -> dict[str, list[str]]:
    from importlib import metadata

    return dict(metadata.packages_distributions())
