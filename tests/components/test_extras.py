"""Every built-in component declares the extras whose packages it imports."""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from ragstone.core import describe
from ragstone.core.builtins import BUILT_IN

_ROOT: Final = Path(__file__).parents[2]
_LIBRARIES: Final = ("components", "data", "indexes", "models", "text")
"""Layers whose modules import the packages on behalf of a component."""
_COMPONENTS: Final = [(kind, name) for kind, table in BUILT_IN.items() for name in table]
_OPTIONAL: Final[Mapping[str, set[str]]] = {
    "bm25": {"stem"},  # only with a stemmer
    "fusion": {"stem"},  # of bm25
    "elasticsearch": {"stem"},  # of fusion
    "checks": {"checks"},  # only for regex and json_schema
    "cross-encoder": {"hf", "local"},  # sentence-transformers installs torch and tokenizers
    "BERTScore-P": {"local"},  # only with the bundled encoder
    "BERTScore-R": {"local"},
    "BERTScore-F1": {"local"},
    "Bert-K-Precision": {"local"},
    "RB_agg": {"local"},
    "published": {"hub"},  # only without files in a folder
    "token-similarity": {"hf", "hub"},  # only for published encoders, which these do not take
    "token-K-precision": {"hf", "hub"},
    "semantic-similarity": {"hf", "hub"},
    "local": {"hub", "hf"},  # only for an adapter whose base is on the hub
    "hf": {"train", "local"},  # only with an adapter; its packages bring safetensors
    "vllm": {"hf", "train", "local"},  # its packages bring transformers, for the tokens of a prompt
    "parallel": {"remote"},  # only for an address of an object store
    "trained": {"local"},  # its packages bring safetensors and tokenizers
    "sentence-transformers": {"local", "hf"},  # its packages bring tokenizers and transformers
    "sentence-transformers-sparse": {"local", "hf"},
    "bge-m3": {"local"},  # transformers brings safetensors and tokenizers
    "bge-m3-sparse": {"local"},
    "bge-m3-tokens": {"local"},
}
_EVERYWHERE: Final = {"lang"}
"""Without it, scripts and function words tell languages; metrics that need it declare it."""
_BROUGHT: Final = {"hf": {"hub"}, "st": {"hub"}, "vllm": {"hub"}}
"""Extra -> extras whose packages its own packages install."""


def _owners() -> dict[str, str]:
    """Return the imported name of each package of an extra -> the extra."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]
    names = {"PyStemmer": "Stemmer", "vl-convert-python": "vl_convert"}
    # No component needs the extra of annotation, which shares the driver of PostgreSQL.
    packages = {
        re.split(r"[\[>=]", requirement)[0]: extra
        # The first extra owns a package that several have.
        for extra, requirements in reversed(project["optional-dependencies"].items())
        for requirement in requirements
        if extra != "annotate" and not requirement.startswith("ragstone")
    }
    return {names.get(p, p.replace("-", "_")): extra for p, extra in packages.items()}


def _imports(node: ast.AST) -> Iterator[str]:
    """Yield the modules that run-time imports name, those inside functions included."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        yield node.module or ""
    for child in ast.iter_child_nodes(node):
        yield from _imports(child)


def _reached(module: str, seen: set[str]) -> None:
    """Add a module and all that it imports, directly or through the libraries, to `seen`."""
    seen.add(module)
    package, _, layer = module.partition(".")
    path = _ROOT / "src" / f"{module.replace('.', '/')}.py"
    if package == "ragstone" and layer.startswith(_LIBRARIES) and path.is_file():
        for name in _imports(ast.parse(path.read_text())):
            if name not in seen:
                _reached(name, seen)


@pytest.mark.parametrize(("kind", "name"), _COMPONENTS)
def test_the_extras_of_imported_packages_are_declared(kind: str, name: str) -> None:
    """`requires_extra` lists the extras of all packages that the component's modules import."""
    module, _, attribute = BUILT_IN[kind][name].partition(":")
    seen: set[str] = set()
    _reached(module, seen)
    owners = _owners()
    imported = {owners[top] for path in seen if (top := path.partition(".")[0]) in owners}
    needed: str = getattr(import_module(module), attribute).requires_extra
    declared = set(filter(None, needed.split(",")))

    assert declared <= imported
    brought = {other for extra in declared for other in _BROUGHT.get(extra, set())}
    assert imported - declared <= _OPTIONAL.get(name, set()) | brought | _EVERYWHERE


def test_a_component_is_installed_if_the_packages_of_all_its_extras_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One missing package of one extra is enough."""
    for missing in ("", "sentencex", "onnx"):
        monkeypatch.setattr(describe, "installed", lambda name, m=missing: "1" if name != m else "")
        entries = {entry["name"]: entry for entry in describe.describe_kind("chunkers")}

        assert entries["sentences"]["requires"] == ["ragstone[chunk,local]"]
        assert entries["sentences"]["installed"] is not bool(missing)
        assert (entries["words"]["requires"], entries["words"]["installed"]) == ([], True)
