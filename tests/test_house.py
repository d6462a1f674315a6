"""The rules of the source: layers, circular imports, sizes and forbidden calls."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "ragstone"
FILES = sorted(SOURCE.rglob("*.py"))

LAYERS = [
    {"version"},
    {"types", "errors"},
    {"examples"},
    {"core", "text"},
    {"calls", "web"},
    {"models"},
    {"data"},
    {"protocols"},
    {"statistics"},
    {"indexes"},
    {"components"},
    {"causes"},
    {"data_quality", "evaluation"},
    {"results"},
    {"experiment"},
    {"building"},
    {"view", "annotation", "training"},
    {"testing"},
    {"cli"},
]
"""Parts of the package, lowest first: a part imports from its own layer or from those before it."""
LOOSE = {"__init__.py", "version.py", "types.py", "errors.py", "protocols.py"}

OTHER_TESTS = {
    "browser": "the report in a real browser",
    "comparison": "published figures and other libraries",
    "docs": "pages, and the code in them",
    "fakes": "made-up data of several tests",
    "golden": "cache keys and requests that must not change",
}
"""Folders of tests that are about no single folder of the package."""
TESTED_ELSEWHERE: dict[str, str] = {}


def module_of(path: Path) -> str:
    """Return a file's dotted name: `ragstone.core.store`."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def part_of(module: str) -> str:
    """Return the folder or loose module directly below the package."""
    return module.split(".")[1] if "." in module else module


@cache
def imports() -> dict[str, set[str]]:
    """Return module -> the package's modules it imports: inside functions and for types too."""
    names = {module_of(path): path for path in FILES}
    found: dict[str, set[str]] = {name: set() for name in names}
    for name, path in names.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                wanted = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                wanted = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                continue
            for target in wanted:
                # The longest beginning that is a module: the rest is a name in it.
                held = target
                while held and held not in names:
                    held = held.rpartition(".")[0]
                if held.startswith("ragstone.") and held != name:
                    found[name].add(held)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_run_down_the_layers(path: Path) -> None:
    """No import is from a higher layer, including lazy imports and those for types."""
    depth = {part: number for number, layer in enumerate(LAYERS) for part in layer}
    module = module_of(path)
    if module == "ragstone":
        return

    own = depth[part_of(module)]
    assert [target for target in imports()[module] if depth[part_of(target)] > own] == []


def folders() -> dict[str, set[str]]:
    """Return folder or loose module -> those that it imports."""
    found: dict[str, set[str]] = {}
    for name, targets in imports().items():
        if name != "ragstone":
            others = {part_of(target) for target in targets} - {part_of(name)}
            found.setdefault(part_of(name), set()).update(others)
    return found


def test_there_is_no_circle_of_files_or_folders() -> None:
    """Files can be sorted so that each imports only files before it; so can folders."""
    files = {name: targets for name, targets in imports().items() if name != "ragstone"}
    for graph in (files, folders()):
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            pytest.fail(f"a circle of imports: {error.args[1]}")


def test_the_plan_fits_on_a_page() -> None:
    """The folders are few, the longest chain of imports is short, and few folders are joined."""
    graph = folders()
    floors: dict[str, int] = {}
    for name in TopologicalSorter(graph).static_order():
        floors[name] = 1 + max((floors[target] for target in graph[name]), default=0)

    assert len(graph) <= 25
    assert max(floors.values()) <= 11
    assert sum(map(len, graph.values())) <= 160


def test_no_two_public_classes_share_a_name() -> None:
    """A name means one thing in the whole package."""
    names = [
        node.name
        for path in FILES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]

    assert [name for name, times in Counter(names).items() if times > 1] == []


def test_few_modules_are_loose() -> None:
    """Every other module is in a folder."""
    assert {path.name for path in SOURCE.glob("*.py")} == LOOSE


def test_tests_mirror_the_package() -> None:
    """Each folder of the package has one of tests, with the same path, and there are few others."""
    tests = {str(path.parent.relative_to(ROOT / "tests")) for path in ROOT.glob("tests/**/*.py")}
    package = {str(path.parent.relative_to(SOURCE)) for path in FILES}

    assert tests - package == set(OTHER_TESTS)
    assert package - tests == set(TESTED_ELSEWHERE)


def test_every_folder_has_a_docstring() -> None:
    """The `__init__.py` of a folder states what the folder contains."""
    for folder in {path.parent for path in FILES}:
        assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))), folder


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_files_and_functions_are_small_enough_to_read(path: Path) -> None:
    """A file has at most 400 lines, a function at most 60."""
    text = path.read_text(encoding="utf-8")
    functions = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]

    assert text.count("\n") <= 400
    assert all((n.end_lineno or n.lineno) - n.lineno < 60 for n in functions)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_nothing_unsafe_is_called(path: Path) -> None:
    """No eval, exec, pickle or print anywhere in the package."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = {
        n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and hasattr(n.func, "id")
    }
    modules = {alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names}

    assert not called & {"eval", "exec", "print"}
    assert not modules & {"pickle", "marshal", "shelve"}


def test_importing_is_free() -> None:
    """`import ragstone` and the command line's help load no heavy package."""
    code = (
        "import sys, ragstone\n"
        "from ragstone.cli.commands import root\n"
        "root(['--help'], standalone_mode=False)\n"
        "heavy = {'numpy', 'arro3', 'pydantic', 'asyncio', 'jinja2', 'onnxruntime', 'yaml'}\n"
        "heavy |= {f'ragstone.{n}' for n in ('experiment', 'results', 'components', 'data')}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "Commands:" in found.stdout
    assert found.stdout.splitlines()[-1] == "[]"


def test_public_names_are_listed_and_exist() -> None:
    """`__all__` is sorted, and every name in it is an attribute."""
    import ragstone

    assert list(ragstone.__all__) == sorted(ragstone.__all__)
    assert all(hasattr(ragstone, name) for name in ragstone.__all__)
