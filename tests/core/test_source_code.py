"""The text of code: equal for equal behaviour, under all versions of Python."""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import re
from typing import Any

import pytest

from ragstone.components.generators.prompt_choice import PromptChoice
from ragstone.components.llm import LlmComponent
from ragstone.components.metrics.exact_match import ExactMatch
from ragstone.core.builtins import BUILT_IN
from ragstone.core.component import Component
from ragstone.core.source_code import (
    COMPUTING,
    Imported,
    Module,
    Reached,
    normal_text,
    package_module,
    versions_of,
)
from ragstone.core.user_code import packages_of, source_digest
from ragstone.experiment.metric_set import MetricSet
from ragstone.protocols import ContextSetting

PROGRAM = '''
"""A module."""
from dataclasses import dataclass
import numpy as np

LIMIT: int = 3  # not above

@dataclass(frozen=True)
class Part:
    """Something."""

    size: int = 1
    name: str = ""
    """Its name."""

    def run(self, text: str, *, times: int = 2, **others: object) -> list[str]:
        """Return texts."""
        kept: list[str] = []
        for n in range(times):
            kept.append(f"{n:>{self.size}}: {{{text!r}}} of {LIMIT}" "!")
        match kept:
            case [first, *_] if first:
                pass
        return [*kept, text[1:-1], *(x for x in others), "\\u2009é"]
'''


def text(source: str) -> str:
    """Return the normal text of a program."""
    return normal_text(ast.parse(source))


def test_a_definition_alone_is_written_as_in_its_module() -> None:
    """The annotation of a module's variable changes nothing."""
    typed, plain = (ast.parse(line).body[0] for line in ("LIMIT: int = 3", "LIMIT = 3"))
    assert normal_text(typed) == normal_text(plain)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"""A module."""', '"""Another text."""'),
        ("  # not above", ""),
        ("LIMIT: int = 3", "LIMIT = 3"),
        ('    """Its name."""\n', ""),
        ("-> list[str]", "-> Sequence[str]"),
        ("text: str,", "text,"),
        ("[*kept, text[1:-1],", "[\n    *kept,\n    (text[1:-1]),"),
        ("        kept: list[str] = []", "        kept = []"),
    ],
)
def test_what_does_not_change_behaviour_does_not_change_the_text(before: str, after: str) -> None:
    """Docstrings, comments, layout, and annotations other than those of fields."""
    assert before in PROGRAM
    assert text(PROGRAM.replace(before, after)) == text(PROGRAM)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("LIMIT: int = 3", "LIMIT: int = 4"),
        ("size: int = 1", "size: float = 1"),
        ("times: int = 2", "times: int = 3"),
        ("frozen=True", "frozen=False"),
        ("import numpy as np", "import math as np"),
        ("!r}}", "!s}}"),
        (" of {", " in {"),
        ('"!"', '"?"'),
        ("text[1:-1]", "text[1:]"),
        ("if first", "if not first"),
        ("[*kept", "[kept"),
    ],
)
def test_what_changes_behaviour_changes_the_text(before: str, after: str) -> None:
    """Values, fields, defaults, decorators, imports, texts and control flow."""
    assert before in PROGRAM
    assert text(PROGRAM.replace(before, after)) != text(PROGRAM)


def test_the_text_is_the_same_under_all_versions_of_python() -> None:
    """It is written field by field, so a passport can be verified under another version."""
    digest = hashlib.sha256(text(PROGRAM).encode()).hexdigest()

    assert digest.startswith("8f72484f59d6")


def test_fields_that_a_later_python_adds_change_nothing_while_they_are_empty() -> None:
    """Type parameters came with Python 3.12, and empty fields differ between versions."""
    one = ast.parse("def f(a): return a")
    other = ast.parse("def f(a): return a")
    function: Any = other.body[0]
    function.type_params = []
    function._fields = (*function._fields, "type_params")

    assert normal_text(one) == normal_text(other)


def reached_from(source: str, *names: str) -> tuple[Reached, Module]:
    """Return what some names of a program reach, and its module."""
    module, reached = Module(ast.parse(source)), Reached()
    reached.add(module, names)
    return reached, module


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("import a.b", ["a"]),
        ("import a.b as c, d", ["c", "d"]),
        ("from a import b, c as d", ["b", "d"]),
        ("from . import b", ["b"]),
        ("from a import *", ["*"]),
        ("def f(x=Y): return Z", ["f"]),
        ("async def f(): pass", ["f"]),
        ("class C(B): x = 1", ["C"]),
        ("A = B = c", ["A", "B"]),
        ("(a, [b, *d]) = e", ["a", "b", "d"]),
        ("A.b = c", ["A"]),
        ("A: int = c", ["A"]),
        ("A += c", ["A"]),
        ("T.update(x=c)", ["T", "c"]),
        (
            "if A:\n    def f(): pass\n    import x.y\n    from z import w as v",
            ["A", "f", "x", "v"],
        ),
        ("if TYPE_CHECKING:\n    import x", []),
        ("if typing.TYPE_CHECKING:\n    import x", []),
        ("if TYPE_CHECKING:\n    import x\nelse:\n    y = 1", ["TYPE_CHECKING", "x", "y"]),
        ("while TYPE_CHECKING:\n    import x", ["TYPE_CHECKING", "x"]),
    ],
)
def test_names_that_a_statement_binds_or_may_change(statement: str, names: list[str]) -> None:
    """A call or a block may change any value that it names; imports for types bind nothing."""
    assert sorted(Module(ast.parse(statement)).homes) == sorted(names)


F = "FunctionDef(name='f',args=arguments(),body=[{}],)"
"""The text of a function."""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f():\n    'Text.'\n    pass\n    1", F.format("")),
        ("def f():\n    if TYPE_CHECKING:\n        import x", F.format("")),
        ("def f():\n    x: int", F.format("")),
        ("x: int = 1", "Assign(targets=[Name(x)],value=Constant(1),)"),
        (
            "class C:\n    x: int\n    def f():\n        y: int = 'é'",
            (
                "ClassDef(name='C',body=[AnnAssign(target=Name(x),annotation=Name(int),simple=1,)"
                + F.format("Assign(targets=[Name(y)],value=Constant('\\xe9'),)")
                + "],)"
            ),
        ),
        (
            "f'a{b}c{d!r:>{e}}é'",
            (
                "Expr(value=JoinedStr('a'FormattedValue(value=Name(b),conversion=-1,)'c'"
                "FormattedValue(value=Name(d),conversion=114,format_spec=JoinedStr('>'"
                "FormattedValue(value=Name(e),conversion=-1,)''),)'\\xe9'),)"
            ),
        ),
        (
            "from ..a import b as c",
            "ImportFrom(module='a',names=[alias(name='b',asname='c',)],level=2,)",
        ),
    ],
)
def test_the_text_of_code(source: str, expected: str) -> None:
    """Fields in order, without those that are empty and without idle statements."""
    assert text(source) == f"Module(body=[{expected}],)"


def test_the_text_of_what_is_reached_has_no_imports_and_no_order_of_modules() -> None:
    """Definitions in the order of the file, then the names that imports bind."""
    source = "from os import path\nimport a.b, c\ndef f(): return A + path + a\nB = 3\nA = 1\n"
    reached, module = reached_from(source, "f", "f")

    body = normal_text(ast.parse("return A + path + a")).removeprefix("Module(body=[")
    assert reached.text() == (
        f"{F.format(body.removesuffix('],)'))}\n"
        "Assign(targets=[Name(A)],value=Constant(1),)\0a=a.b:\0path=os:path"
    )
    assert reached.imported == {Imported("a", "a.b"), Imported("path", "os", "path")}
    assert reached.packages == {"a"}
    assert reached.statements(module) == [module.statements[n].node for n in (0, 1, 2, 4)]
    assert reached.statements(Module(ast.parse(source))) == []
    both = Reached()
    for one in (source, "Z = 0"):
        both.add_all(Module(ast.parse(one)))
    other = Reached()
    for one in ("Z = 0", source):
        other.add_all(Module(ast.parse(one)))
    assert both.text() == other.text() != reached.text()
    assert both.packages == {"a", "c"}


@pytest.mark.parametrize(
    ("source", "has", "packages"),
    [
        ("from ragstone.text.thinking import without_thinking\nf = without_thinking",
         "name='without_thinking'", set()),
        ("from ragstone.text import thinking\nf = thinking", "name='without_thinking'", set()),
        ("import ragstone.text.thinking\nf = ragstone", "name='without_thinking'", set()),
        ("from ragstone.text.thinking import *\nf = 1", "name='without_thinking'", set()),
        ("from ragstone import Summary\nf = Summary", "name='Summary'", set()),
        ("from ragstone import Ranking\nf = Ranking", "", set()),
        ("from ragstone import nothing\nf = nothing", "", set()),
        ("import ragstone\nf = ragstone", "", set()),
        ("from ragstone.core.store import Store\nf = Store", "", set()),
        ("from .beside import g\nf = g", "", set()),
        ("from . import g\nf = g", "", set()),
        ("def f():\n    import yaml.loader, sys\n    from numpy.linalg import norm", "",
         {"yaml", "numpy"}),
        ("import yaml\nf = 1", "", set()),
        ("from yaml import *\nf = 1", "", {"yaml"}),
    ],
)  # fmt: skip
def test_imports_are_followed_into_code_that_computes(
    source: str, has: str, packages: set[str]
) -> None:
    """A name, a module, all names, and a public name; other packages are collected."""
    reached, _ = reached_from(source, "f")

    _, *modules = [part for part in reached.text().split("\0") if "(" in part]
    assert bool(has) == bool(modules)
    assert has in reached.text()
    assert reached.packages == packages


def test_a_module_of_the_package_is_found_by_its_name() -> None:
    """Others are found only if any code is asked for."""
    one, package = package_module("ragstone.text.thinking"), package_module("ragstone.text")
    assert one is not None
    assert package is not None
    assert "without_thinking" in one.homes
    assert "without_thinking" not in package.homes
    assert package_module("ragstone.texts") is None
    assert package_module("ragstone.text.nothing") is None
    assert package_module("ragstone.core.store", computing=False) is not None


def test_versions_of_packages() -> None:
    """By the names of distributions, in order; modules without one are left out."""
    found = versions_of(["yaml", "numpy", "no_such_package", "numpy"])

    assert list(found) == sorted(found, key=str)
    assert {name.lower() for name in found} == {"numpy", "pyyaml"}
    assert all(version[0].isdigit() for version in found.values())


READS = {
    "gold_answers": r"attr='gold_answers'",
    "labels": r"(attr='query',\)|Name\(query\)),attr='labels'",
}
"""Field of a query -> the text of code that reads it."""
COMPONENTS: dict[str, type] = {
    f"{kind}/{name}": getattr(importlib.import_module(module), class_name)
    for kind, names in BUILT_IN.items()
    for name, (module, class_name) in ((n, t.split(":")) for n, t in names.items())
    if kind not in ("readers", "exporters", "chunkers", "metrics")
}
"""The built-in components of steps; metrics are a step together, a `MetricSet`."""


def test_the_text_of_code_that_reads_a_field_is_recognised() -> None:
    """The patterns match the code that they are meant for."""
    found = text("a = task.query.labels, query.labels, task.query.gold_answers")

    assert all(re.search(pattern, found) for pattern in READS.values())
    assert len(re.findall(READS["labels"], found)) == 2


@pytest.mark.parametrize("name", COMPONENTS)
def test_a_built_in_component_declares_the_fields_that_its_code_reads(name: str) -> None:
    """Gold answers and labels of queries are withheld from all others."""
    part = COMPONENTS[name]
    module = package_module(part.__module__)
    assert module is not None
    reached = Reached()
    reached.add(module, [part.__qualname__])

    uses = inspect.getattr_static(part, "uses")
    if uses is inspect.getattr_static(Component, "uses"):
        uses = frozenset()

    text = reached.text()
    if issubclass(part, LlmComponent):
        # The model that it calls has a prompt of its own, which the component does not send.
        choice = package_module(PromptChoice.__module__)
        assert choice is not None
        for statement in choice.homes[PromptChoice.__name__]:
            text = text.replace(statement.text, "")
    reads = {field for field, pattern in READS.items() if re.search(pattern, text)}
    if issubclass(part, ContextSetting):
        # The queries that a setting applies to are chosen before its step, by their labels too.
        reads -= {"labels"}
    # The uses of a component with a part of its own are a property that adds those of the part.
    assert isinstance(uses, property) or uses >= reads


def test_only_code_that_computes_is_reached() -> None:
    """Files, calls and commands are infrastructure, and no result depends on their code."""
    reached = Reached()
    module = package_module(ExactMatch.__module__)
    assert module is not None
    reached.add(module, ["ExactMatch"])

    assert package_module("ragstone.core.store") is None
    assert "squad_normal" in reached.text()
    assert "class Store" not in reached.text()
    assert all(package_module(part) for part in COMPUTING)


def test_the_code_of_a_step_besides_its_class_is_reached() -> None:
    """The batches that metrics read are made by the function that scores."""
    assert packages_of(source_digest(MetricSet))["numpy"]


def test_a_module_is_reached_definition_by_definition() -> None:
    """Names lead to their definitions, and imports inside functions are followed."""
    module = Module(
        ast.parse("A = 1\nB = A\ndef f():\n    import yaml\n    return B\ndef g(): ...")
    )
    reached = Reached()
    reached.add(module, ["f"])

    assert len(reached.statements(module)) == 3
    assert reached.packages == {"yaml"}
