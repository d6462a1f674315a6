"""Digests of your own code: every change that can reach a class counts, and no other."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ragstone.core.user_code import load_file, source_digest

CLASS = "class Mine:\n    def embed(self, text):\n        return {}\n"


@pytest.fixture(autouse=True)
def _restored_modules() -> Iterator[None]:
    before = dict(sys.modules)
    yield
    for name in set(sys.modules) - set(before):
        del sys.modules[name]


def digest(folder: Path, files: Mapping[str, str]) -> str:
    """Write files and return the digest of `Mine` in `parts.py`."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return source_digest(load_file(folder / "parts.py", "test").Mine)


@pytest.mark.parametrize(
    "files",
    [
        {"parts.py": CLASS.format("ONE")},
        {"parts.py": f"T = {{}}\nT['x'] = ONE\n{CLASS.format('T')}"},
        {"parts.py": f"T = {{}}\nT.update(x=ONE)\n{CLASS.format('T')}"},
        {"parts.py": f"T = []\nfor _ in range(ONE):\n    T.append(1)\n{CLASS.format('T')}"},
        {"parts.py": f"{CLASS.format('self.k')}Mine.k = ONE\n"},
        {"parts.py": f"try:\n    def f(): return ONE\nfinally:\n    pass\n{CLASS.format('f()')}"},
        {"parts.py": "if True:\n    class Mine:\n        k = ONE\n"},
        {
            "parts.py": f"from other import *\n{CLASS.format('f()')}",
            "other.py": "def f(): return ONE",
        },
        {
            "parts.py": f"from other import f\n{CLASS.format('f()')}",
            "other.py": "from third import f",
            "third.py": "def f(): return ONE",
        },
        {
            "parts.py": f"import package.other\n{CLASS.format('package.other.f()')}",
            "package/__init__.py": "",
            "package/other.py": "from .third import f",
            "package/third.py": "def f(): return ONE",
        },
        {
            "parts.py": "from package.other import Mine",
            "package/other.py": f"from .third import f\n{CLASS.format('f()')}",
            "package/third.py": "def f(): return ONE",
        },
    ],
)
def test_a_change_of_code_that_a_class_uses_changes_its_digest(
    tmp_path: Path, files: Mapping[str, str]
) -> None:
    """The code may be at any place of the file, or in any file beside it."""
    first = digest(tmp_path, {name: text.replace("ONE", "11") for name, text in files.items()})
    second = digest(tmp_path, {name: text.replace("ONE", "12") for name, text in files.items()})

    assert first != second


@pytest.mark.parametrize("added", ["# A comment.\n", "class Other:\n    k = 1\n", "A = 1\n"])
def test_other_code_does_not_change_a_digest(tmp_path: Path, added: str) -> None:
    """Comments and other classes are not in the key."""
    first = digest(tmp_path, {"parts.py": CLASS.format(1)})

    assert digest(tmp_path, {"parts.py": CLASS.format(1) + added}) == first
