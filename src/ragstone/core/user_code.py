"""Your own Python files: imported with the modules beside them, digested class by class."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Final

from ragstone.errors import ConfigError

_PREFIX: Final = "ragstone_user_"
_TEXTS: Final[dict[str, Mapping[Path, bytes]]] = {}
"""Name of an imported module -> the text of its file and of those beside it, as imported."""


def load_file(path: Path, where: str) -> ModuleType:
    """Import a Python file; a change of it, or of a module beside it, makes another module.

    Raises:
        ConfigError: the import failed; the message contains file, line and reason.
    """
    siblings = list(_siblings(path))
    texts = {file: file.read_bytes() for file in (path, *siblings)}
    digest = hashlib.sha256(b"\0".join(texts.values())).hexdigest()
    name = f"{_PREFIX}{path.stem}_{digest[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{where}: cannot import {path}", path=path)
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up here while they are created.
    sys.modules[name] = module
    _TEXTS[name] = texts
    for sibling in siblings:
        sys.modules.pop(sibling.stem, None)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name], _TEXTS[name]
        reason = error.msg if isinstance(error, SyntaxError) else error
        raise ConfigError(
            f"{where}: {path} failed on import: {type(error).__name__}: {reason}"
            f"{error_line(error)}",
            path=path,
        ) from error
    finally:
        sys.path.remove(str(path.parent))
    return module


def error_line(error: Exception) -> str:
    """Return the file and the line that raised an error, in brackets."""
    if isinstance(error, SyntaxError):
        return f" ({Path(error.filename or '').name}, line {error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


def is_ours(kind: type) -> bool:
    """Return whether a class belongs to the package."""
    return kind.__module__.startswith("ragstone.")


def class_name(kind: type) -> str:
    """Return the name of a class in cache keys: `file:Class`; `Class` for one of the package."""
    if is_ours(kind):
        return kind.__qualname__
    module = kind.__module__
    if module.startswith(_PREFIX):
        module = module.removeprefix(_PREFIX).rpartition("_")[0]
    return f"{module}:{kind.__qualname__}"


def source_digest(kind: type) -> str:
    """Return the SHA-256 of a class's code and of the code in its file that it uses.

    Code counts as a syntax tree: comments and layout do not change the digest, nor do other classes
    of the file. A module beside the file counts as a whole if the class uses a name from it.

    Raises:
        ConfigError: the class is defined in an interactive session that does not keep the code.
    """
    try:
        path = Path(inspect.getsourcefile(kind) or "")
    except (OSError, TypeError):
        path = Path()  # a class of an interactive session
    if not path.is_file():
        return hashlib.sha256(_source_of_methods(kind).encode()).hexdigest()
    texts = _TEXTS.get(kind.__module__, {})
    parts = _used(_tree(path, texts), kind.__qualname__.partition(".")[0])
    beside = [ast.dump(_tree(file, texts)) for file in _imported(parts, path.parent)]
    return hashlib.sha256("\0".join([*map(ast.dump, parts), *beside]).encode()).hexdigest()


def _tree(path: Path, texts: Mapping[Path, bytes]) -> ast.Module:
    """Return the syntax tree of a file as it was imported; it may have changed since."""
    return ast.parse(texts[path] if path in texts else path.read_bytes())


def _source_of_methods(kind: type) -> str:
    """Return the code of a class without a file; a notebook keeps that of functions."""
    found = []
    for function in filter(inspect.isfunction, vars(kind).values()):
        # A method that `dataclass` wrote has no code.
        with contextlib.suppress(OSError):
            found.append(inspect.getsource(function))
    if not found:
        raise ConfigError(
            f"the code of {kind.__name__!r} is not available, so a change to it could not be "
            "detected; define it in a Python file or in a notebook"
        )
    return "".join(found)


def _used(tree: ast.Module, name: str) -> list[ast.stmt]:
    """Return the statements of a module that define a name, and those that these use, in order."""
    homes: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for defined in _defined(statement):
            homes.setdefault(defined, []).append(statement)
    wanted, found = [name], set()
    while wanted:
        for statement in homes.pop(wanted.pop(), ()):
            found.add(statement)
            wanted += [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return [statement for statement in tree.body if statement in found]


def _defined(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    else:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
            elif isinstance(node, ast.alias):
                yield (node.asname or node.name).partition(".")[0]


def _siblings(path: Path) -> Iterator[Path]:
    """Yield the modules beside a file that it imports, and those that these import."""
    seen, wanted = {path}, [path]
    while wanted:
        try:
            tree = ast.parse(wanted.pop().read_bytes())
        except SyntaxError:
            continue  # The import reports it with its line.
        for file in _imported(tree.body, path.parent):
            if file not in seen:
                seen.add(file)
                wanted.append(file)
                yield file


def _imported(statements: list[ast.stmt], folder: Path) -> list[Path]:
    """Return the files of a folder that statements import."""
    names: dict[str, None] = {}
    for node in (node for statement in statements for node in ast.walk(statement)):
        if isinstance(node, ast.Import):
            names |= dict.fromkeys(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names[node.module.partition(".")[0]] = None
    return [file for name in names if (file := folder / f"{name}.py").is_file()]
