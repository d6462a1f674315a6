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
from ragstone.core.source_code import COMPUTING, Module, Reached, normal_text, package_module
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
