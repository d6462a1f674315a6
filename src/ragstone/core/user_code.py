"""Your own Python files: imported with the modules beside them, digested class by class."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.util
import inspect
import shutil
import sys
import textwrap
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from ragstone.core.source_code import (
    Module,
    Reached,
    normal_text,
    package_module,
    syntax_tree,
    versions_of,
)
from ragstone.errors import ConfigError

_PREFIX: Final = "ragstone_user_"
_TEXTS: Final[dict[str, Mapping[Path, bytes]]] = {}
"""Name of an imported module -> the text of its file and of those beside it, as imported."""
_PACKAGES: Final[dict[str, frozenset[str]]] = {}
"""Digest of code -> top-level names of the packages that it imports."""
_OURS: Final[dict[str, str]] = {}
"""Place of a class of Ragstone, `module:Class` -> the digest of its code."""


def load_file(path: Path, where: str) -> ModuleType:
    """Import a Python file; a change of it, or of a module beside it, makes another module.

    Raises:
        ConfigError: the import failed; the message contains file, line and reason.
    """
    path = path.absolute()
    imported = _imported(_tree(path, {}).body, path, {})
    texts = {file: file.read_bytes() for file in (path, *imported)}
    digest = hashlib.sha256(b"\0".join(texts.values())).hexdigest()
    name = f"{_PREFIX}{path.stem}_{digest[:12]}"
    known = sys.modules.get(name)
    # The digest of a class is computed from its file, which may have been moved to another folder.
    if known is not None and Path(known.__file__ or "").is_file():
        return known
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{where}: cannot import {path}", path=path)
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up here while they are created.
    sys.modules[name] = module
    _TEXTS[name] = texts
    for file in imported:
        dotted = ".".join(file.relative_to(path.parent).with_suffix("").parts)
        sys.modules.pop(dotted.removesuffix(".__init__"), None)
    sys.path.insert(0, str(path.parent))
    # Bytecode is chosen by size and second of the last change, so it may be of an earlier text.
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
        for sibling in dict.fromkeys(file.relative_to(path.parent).parts[0] for file in imported):
            # A method may import it later, when the folder is not on the path.
            with contextlib.suppress(ImportError):
                importlib.import_module(sibling.removesuffix(".py"))
    except (Exception, SystemExit) as error:
        del sys.modules[name], _TEXTS[name]
        reason = error.msg if isinstance(error, SyntaxError) else error
        raise ConfigError(
            f"{where}: {path} failed on import: {type(error).__name__}: {reason}"
            f"{error_line(error)}",
            path=path,
        ) from error
    finally:
        sys.dont_write_bytecode = before
        sys.path.remove(str(path.parent))
    return module


def error_line(error: BaseException) -> str:
    """Return the file and the line that raised an error, in brackets."""
    if isinstance(error, SyntaxError):
        return f" ({Path(error.filename or '').name}, line {error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


def is_ours(kind: Any) -> bool:
    """Return whether a class or function belongs to the package."""
    # A function that `exec` made may have no module.
    module: str = kind.__module__ or ""
    return module.startswith("ragstone.")


def class_name(kind: type, suffix: str = "") -> str:
    """Return the name of a class in cache keys: `file:Class`; `Class` for one of the package.

    `suffix` follows the name of a file that is not an installed module, such as ".py".
    """
    if is_ours(kind):
        return kind.__qualname__
    module = kind.__module__
    if module.startswith(_PREFIX):
        module = module.removeprefix(_PREFIX).rpartition("_")[0] + suffix
    return f"{module}:{kind.__qualname__}"


@cache
def source_digest(kind: Any) -> str:
    """Return the SHA-256 of the code that a class or function reaches.

    Code counts as normalised syntax trees: comments, docstrings and layout do not change the
    digest. Of its own file, and of the modules of Ragstone that compute, the definitions count that
    the code uses, no matter how indirectly. A module beside your own file counts as a whole if the
    class uses a name from it, and so do the modules that it imports in turn.

    Raises:
        ConfigError: the class is defined in an interactive session that does not keep the code.
    """
    place, name = f"{kind.__module__}:{kind.__qualname__}", kind.__qualname__.partition(".")[0]
    if is_ours(kind) and place in _OURS:
        return _OURS[place]
    reached = Reached()
    if is_ours(kind):
        _reach_ours(reached, kind.__module__, name)
    elif not _reach_own(reached, kind, name):
        return hashlib.sha256(_source_of_methods(kind).encode()).hexdigest()
    for used in getattr(kind, "computed_with", ()):
        _reach_ours(reached, *used.split(":"))
    digest = hashlib.sha256(reached.text().encode()).hexdigest()
    _PACKAGES[digest] = frozenset(reached.packages)
    if is_ours(kind):
        _OURS[place] = digest
    return digest


def known_sources() -> dict[str, list[str]]:
    """Return what `source_digest` found for classes of Ragstone, for processes with the same code.

    Place of a class -> the digest of its code, then the packages that it imports.
    """
    return {place: [digest, *sorted(_PACKAGES[digest])] for place, digest in _OURS.items()}


def recall_sources(found: Mapping[str, Sequence[str]]) -> None:
    """Use what a process with the same code of Ragstone, byte by byte, found for its classes."""
    for place, (digest, *packages) in found.items():
        _OURS.setdefault(place, digest)
        _PACKAGES.setdefault(digest, frozenset(packages))


def packages_of(source: str) -> dict[str, str]:
    """Return distribution -> version of the packages that the code of a digest imports."""
    return versions_of(_PACKAGES.get(source, ()))


def _reach_ours(reached: Reached, module: str, name: str) -> None:
    """Reach a definition of Ragstone; that of a part itself counts wherever it is."""
    found = package_module(module, computing=False)
    if found is not None:
        reached.add(found, [name])


def _reach_own(reached: Reached, kind: Any, name: str) -> bool:
    """Reach a definition of your own file; return False if there is no file."""
    try:
        path = Path(inspect.getsourcefile(kind) or "")
    except (OSError, TypeError):
        return False  # a class of an interactive session
    if not path.is_file():
        return False
    # A class may come from a module beside the file that was imported last.
    beside_it = (texts for texts in reversed(_TEXTS.values()) if path in texts)
    texts = _TEXTS.get(kind.__module__) or next(beside_it, {})
    module = Module(_tree(path, texts))
    if name not in module.homes:
        return False  # made by `exec` or `type`
    reached.add(module, [name])
    for file in _imported(reached.statements(module), path, texts):
        reached.add_all(Module(_tree(file, texts)))
    return True


def file_digest(module: ModuleType, value: object) -> str:
    """Return the SHA-256 of the file that defines a value of a module.

    The files that your own file imports from its folder count too, and those of its package.
    """
    texts = _TEXTS.get(module.__name__)
    if texts is None:
        path = Path((inspect.getmodule(value) or module).__file__ or "")
        texts = {file: file.read_bytes() for file in _local_files(path, module.__name__)}
    return hashlib.sha256(b"\0".join(texts.values())).hexdigest()


def program_digest(words: Sequence[str]) -> str:
    """Return the SHA-256 of a command's files: the program, and every argument that is a file.

    A module after `-m` counts if it is in the current folder, and so do the Python files beside a
    script that it imports.
    """
    modules = [name for option, name in pairwise(words) if option == "-m"]
    paths = [Path(shutil.which(words[0]) or ""), *map(Path, words[1:])]
    for name in modules:
        place = Path(*name.split("."))
        paths += [place.with_suffix(".py"), *sorted(place.rglob("*.py"))]
    files: dict[Path, None] = {}
    for path in (path for path in paths if path.is_file()):
        scripts = _imported(_tree(path, {}).body, path, {}) if path.suffix == ".py" else ()
        files |= dict.fromkeys([path, *scripts])
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()


def _local_files(path: Path, module_name: str) -> list[Path]:
    """Return a module's file and, unless it is installed, the others of its package or folder."""
    if {"site-packages", "dist-packages"} & set(path.parts):
        return [path]
    depth = module_name.count(".") + (path.name == "__init__.py")
    if depth:
        return sorted(path.parents[depth - 1].rglob("*.py"))
    return [path, *_imported(_tree(path, {}).body, path, {})]


def _tree(path: Path, texts: Mapping[Path, bytes]) -> ast.Module:
    """Return the syntax tree of a file as it was imported; it may have changed since."""
    try:
        return syntax_tree(texts[path] if path in texts else path.read_bytes())
    except (SyntaxError, ValueError):  # The import reports it with its line.
        return ast.Module([], [])


def _source_of_methods(kind: type) -> str:
    """Return the code of a class without a file; a notebook keeps that of functions."""
    members = (m for own in kind.__mro__ if not is_ours(own) for m in vars(own).values())
    found = []
    for function in filter(inspect.isfunction, members):
        if is_ours(function):
            continue
        # A method that `dataclass` wrote has no code.
        with contextlib.suppress(OSError):
            found.append(_normal(inspect.getsource(function)))
    if not found:
        raise ConfigError(
            f"the code of {kind.__name__!r} is not available, so a change to it could not be "
            "detected; define it in a Python file or in a notebook"
        )
    return "".join(found)


def _normal(source: str) -> str:
    """Return code without comments and layout; a piece of a statement stays as it is."""
    try:
        return normal_text(syntax_tree(textwrap.dedent(source)))
    except SyntaxError:
        return source


def _imported(statements: list[ast.stmt], path: Path, texts: Mapping[Path, bytes]) -> list[Path]:
    """Return the files beside a file that statements import, and those that these import."""
    folder = next(iter(texts), path).parent
    found: dict[Path, None] = {}
    wanted = [(path, statements)]
    while wanted:
        for file in _named(*wanted.pop(), folder):
            if file not in found:
                found[file] = None
                wanted.append((file, _tree(file, texts).body))
    return list(found)


def _named(path: Path, statements: list[ast.stmt], folder: Path) -> list[Path]:
    """Return the modules of a folder, and the files of its packages, that a file imports."""
    names: dict[str, None] = {}
    for node in (node for statement in statements for node in ast.walk(statement)):
        if isinstance(node, ast.Import):
            names |= dict.fromkeys(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names[node.module.partition(".")[0]] = None
        elif isinstance(node, ast.ImportFrom) and path.parent != folder:
            names[path.relative_to(folder).parts[0]] = None
    files = [folder / f"{name}.py" for name in names]
    packages = (sorted((folder / name).rglob("*.py")) for name in names)
    return [file for file in chain(files, *packages) if file.is_file()]
