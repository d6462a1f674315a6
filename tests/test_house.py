"""The house's own rules, checked over the source: import direction, size, annotations, no print."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "ragstone"
FILES = sorted(SOURCE.rglob("*.py"))

LAYERS = [
    {"errors", "types", "__init__"},
    {"protocols"},
    {
        "notes",
        "progress",
        "schemas",
        "fingerprint",
        "components",
        "environment",
        "model_table",
        "call_types",
    },
    {"store", "registry", "models", "prompts"},
]
"""Foundations, each layer importing only what is above it (at run time, at the top of the file)."""
READERS = {"cli", "report", "views", "web", "results", "experiment"}
"""What reads or runs everything; no component may import it."""
COMPONENTS = {
    "chunking", "contexts", "datasets", "embedders", "generators", "judges", "metrics", "queries",
    "rerankers", "processors", "retrievers", "analysis",
}  # fmt: skip


def module_of(path: Path) -> str:
    """Return the part of the package a file belongs to: `store`, `retrievers`."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Return the parts of the package that a file imports at run time, at its top."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            root, _, rest = node.module.partition(".")
            if root == "ragstone":
                names = [rest.partition(".")[0]] if rest else [alias.name for alias in node.names]
                found |= set(names)
    return {name for name in found if not name.startswith("__")}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_one_way(path: Path) -> None:
    """Types <- protocols <- foundations <- components <- pipeline <- experiment <- cli."""
    part = module_of(path)
    if part in COMPONENTS or any(part in layer for layer in LAYERS):
        assert not imported(path) & READERS
    for depth, layer in enumerate(LAYERS):
        if part in layer:
            allowed = set().union(*LAYERS[: depth + 1])
            assert imported(path) <= allowed


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_files_and_functions_are_small_enough_to_read(path: Path) -> None:
    """A file has at most 400 lines, a function at most 60."""
    text = path.read_text()
    functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)]

    assert text.count("\n") <= 400
    assert all((n.end_lineno or n.lineno) - n.lineno < 60 for n in functions)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_nothing_unsafe_is_called(path: Path) -> None:
    """No eval, exec, pickle or print anywhere in the package."""
    tree = ast.parse(path.read_text())
    called = {
        n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and hasattr(n.func, "id")
    }
    modules = {alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names}

    assert not called & {"eval", "exec", "print"}
    assert not modules & {"pickle", "marshal", "shelve"}


def test_importing_is_free() -> None:
    """`import ragstone` and the command line's help load no heavy package."""
    code = (
        "import sys, ragstone, ragstone.cli\n"
        "heavy = {'numpy', 'arro3', 'pydantic', 'aiohttp', 'jinja2', 'onnxruntime', 'yaml'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"


def test_what_is_public_is_listed_and_exists() -> None:
    """`__all__` is sorted, and every name in it can be had."""
    import ragstone

    assert list(ragstone.__all__) == sorted(ragstone.__all__)
    assert all(hasattr(ragstone, name) for name in ragstone.__all__)
