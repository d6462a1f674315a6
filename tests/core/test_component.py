"""What a component declares, and how your own class becomes one."""

# ruff: noqa: ARG001, ARG005, PLR0917 - the parameters of a verb declare what it uses

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from ragstone.core.component import (
    FIELDS,
    IN_CACHE_KEY_IF_SET,
    NOT_IN_CACHE_KEY,
    SET_BY_A_RUN,
    Component,
    Outcome,
    in_cache_key,
)
from ragstone.errors import ConfigError

SERVICES = SimpleNamespace(
    calls="the calls", store="the store", corpus="the corpus", qrels="the qrels", services="none"
)


class Kind(Component):
    """A protocol with two lists of items, a field of the first ones, and an argument."""

    verb = "work"
    item_names: ClassVar = {"queries": "query", "retrieved": "ranking"}
    item_fields: ClassVar[tuple[str, ...]] = ("gold", "noise")
    returns = (int, str)
    required = ("k",)

    def work(
        self, queries: Sequence[Any], retrieved: Sequence[Any], services: Any, mode: str
    ) -> Iterator[Outcome[int]]:
        """Return outcomes."""
        raise NotImplementedError


class Other(Component):
    """Another protocol, without items, whose verb has one form."""

    verb = "open"

    def open(self, path: str) -> str:
        """Return a text."""
        raise NotImplementedError


@dataclass(frozen=True)
class Base:
    """The required field of the kind."""

    k: int = 1


def made(work: Callable[..., Any], **more: Any) -> Any:
    """Return a component of a class with this verb."""
    return Kind.complete(dataclass(frozen=True)(type("Mine", (Base,), {"work": work, **more})))()


QUERIES = [SimpleNamespace(query_id=f"q{n}", gold=f"g{n}", noise=n) for n in range(3)]
RANKINGS = ["r0", "r1", "r2"]


def found(part: Any) -> list[Any]:
    """Return what the verb gives for all items."""
    return list(part.work(QUERIES, RANKINGS, services=SERVICES, mode="fast"))


class Silent(Kind):
    """A class of your own that declares nothing."""


class Declared(Silent):
    """A class of your own that reads labels."""

    uses = frozenset({"labels", "corpus"})


class Packaged(Kind):
    """A class as those of the package are."""

    __module__ = "ragstone.components.some"
    uses = frozenset({"gold_answers"})


class Derived(Packaged):
    """A class of your own that derives from one of the package."""


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (Silent, FIELDS),
        (Declared, {"labels"}),
        (type("Below", (Declared,), {}), {"labels"}),
        (Packaged, {"gold_answers"}),
        (Derived, FIELDS),
        (type("Mixed", (Packaged, type("Mixin", (), {"uses": frozenset()})), {}), FIELDS),
    ],
)
def test_a_class_of_your_own_that_declares_nothing_may_read_all_fields(
    kind: type[Kind], fields: set[str]
) -> None:
    """Otherwise the fields are those of the nearest declaration that is not the package's."""
    assert kind().fields_read == fields


def test_a_component_that_declares_nothing_does_and_uses_nothing() -> None:
    """A plan takes it as a part without a model, an index or calls."""
    part = Silent()

    assert (part.content_revision, part.training_folder, part.uses) == (None, None, frozenset())
    assert (part.needs_model, part.takes_all_items, part.cost(3, 9)) == (False, False, 0)
    assert (part.named_prompt, part.key_values, part.index_bytes(SERVICES)) == ({}, {}, {})
    assert (part.of_run("a"), part.data_notes(None)) == (part, ())


def test_the_metadata_of_a_field_decide_whether_it_is_in_the_key() -> None:
    """Without a component, a field counts that is in the key if it is set."""

    @dataclass(frozen=True)
    class Part(Component):
        a: int = 1
        device: str = field(default="cpu", metadata=NOT_IN_CACHE_KEY)
        later: int = field(default=1, metadata=IN_CACHE_KEY_IF_SET)
        both: int = field(default=1, metadata={**IN_CACHE_KEY_IF_SET, **SET_BY_A_RUN})
        neither: int = field(default=1, metadata={**NOT_IN_CACHE_KEY, **SET_BY_A_RUN})

    def names(*component: object) -> set[str]:
        return {one.name for one in fields(Part) if in_cache_key(one, *component)}

    assert names() == {"a", "later", "both"}
    assert names(Part()) == {"a"}
    assert names(Part(2, "gpu", 2, 2, 2)) == {"a", "later", "both"}


def test_templates_are_the_texts_of_fields_named_system_or_user() -> None:
    """Alone or as the last word; an empty text and another value are none."""

    @dataclass(frozen=True)
    class Prompted(Component):
        system: str = "Be brief."
        user: str = ""
        check_user: str = "Check {answer}"
        their_system: int = 3
        users: str = "two"
        superuser: str = "root"

    assert Prompted().templates == {"system": "Be brief.", "check_user": "Check {answer}"}


@pytest.mark.parametrize(
    ("size", "is_legal"),
    [(1, True), (7, True), (None, True), (0, False), (-1, False), ("3", False), (1.5, False)],
)
def test_a_size_is_a_whole_number_of_one_or_more(size: Any, *, is_legal: bool) -> None:
    """None is accepted too, and the error names field and value."""

    @dataclass(frozen=True)
    class Sized(Component):
        top_k: Any
        other: int = 0
        sizes: ClassVar = ("top_k", "missing")

    if is_legal:
        assert Sized(size).top_k == size
    else:
        with pytest.raises(ConfigError, match=f"top_k must be 1 or more, found {size!r}"):
            Sized(size)


async def waiting(self: Any, query: Any) -> int:
    """Return a value later."""
    return 1


async def streaming(self: Any, queries: Any) -> AsyncIterator[int]:
    """Yield values later."""
    yield 1


def test_a_class_of_the_kind_is_complete() -> None:
    """It is not made again."""
    assert Kind.complete(Declared) is Declared


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (Other, r"'Other' has no method work\(queries, retrieved, services, mode\)"),
        (type("No", (Base,), {"work": 3}), r"'No' has no method work"),
        (type("No", (Other,), {"work": lambda self, query: 1}), r"'No' has no method work"),
        (
            dataclass(type("No", (), {"work": lambda self, query: 1})),
            "'No' needs a field k",
        ),
        (
            type("No", (Base,), {"work": lambda self, query, qery: 1}),
            "No.work has a parameter 'qery' that is never given; did you mean 'query'",
        ),
        (type("No", (Base,), {"work": lambda self, calls, mode: 1}), "No.work takes no items"),
        (type("No", (Base,), {"work": waiting}), "No.work is async; write it without async"),
        (type("No", (Base,), {"work": streaming}), "No.work is async; write it without async"),
    ],
)
def test_a_class_that_cannot_be_completed_is_an_error(part: type, message: str) -> None:
    """The error has the method or the field that it needs."""
    with pytest.raises(ConfigError, match=message):
        Kind.complete(part)


def test_a_kind_without_items_takes_the_verb_as_it_is() -> None:
    """The completed class has the name and the docstring of yours."""

    class Mine:
        """Opens."""

        def open(self, path: str) -> str:
            return path.upper()

    whole = Other.complete(Mine)

    assert whole().open("a") == "A"
    assert issubclass(whole, Other)
    names = (whole.__name__, whole.__qualname__, whole.__module__, whole.__doc__)
    assert names == ("Mine", Mine.__qualname__, __name__, "Opens.")


@pytest.mark.parametrize(
    ("work", "uses", "may_call"),
    [
        (lambda self, query: 1, {"gold", "noise"}, False),
        (lambda self, queries, retrieved: 1, {"retrieved", "gold", "noise"}, False),
        (lambda self, gold: 1, {"gold"}, False),
        (lambda self, ranking, unit=0: 1, {"gold", "noise"}, False),
        (lambda self, query, qrels: 1, {"gold", "noise", "qrels"}, False),
        (lambda self, queries, services: 1, {"gold", "noise", "qrels", "corpus"}, True),
        (lambda self, gold, calls, unit=0: 1, {"gold"}, True),
    ],
)
def test_the_parameters_of_a_verb_declare_what_it_uses(
    work: Callable[..., Any], uses: set[str], *, may_call: bool
) -> None:
    """An item has its fields in it, and `services` has the data and the calls."""
    part = made(work)

    assert part.uses == FIELDS | uses
    assert part.fields_read == FIELDS
    assert (part.needs_model, part.cost(5, 50)) == (may_call, 5 if may_call else 0)


def test_what_a_class_declares_itself_is_kept() -> None:
    """The derived declarations only fill gaps."""
    part = made(
        lambda self, query, calls: 1, needs_model=False, cost=lambda *_: 8, uses=frozenset({"gold"})
    )

    assert (part.needs_model, part.cost(1, 1), part.uses) == (False, 8, {"gold"})
    assert part.fields_read == set()


def test_a_verb_of_all_items_gets_lists_and_services_by_name() -> None:
    """An argument of the protocol and a parameter with a default too."""

    def work(self: Any, queries: Any, retrieved: Any, store: Any, mode: Any, unit: Any = 2) -> Any:
        return [
            (q.query_id, r, store, mode, unit, self.k)
            for q, r in zip(queries, retrieved, strict=True)
        ]

    expected = [(f"q{n}", f"r{n}", "the store", "fast", 2, 1) for n in range(3)]
    assert found(made(work)) == expected


def test_a_verb_of_one_item_is_called_for_each() -> None:
    """With the item, one of its fields, or the services themselves."""

    def work(self: Any, query: Any, ranking: Any, gold: Any, services: Any, calls: Any) -> Any:
        return query.query_id, ranking, gold, services is SERVICES, calls

    expected = [(f"q{n}", f"r{n}", f"g{n}", True, "the calls") for n in range(3)]
    assert found(made(work)) == expected
    assert found(made(lambda self, gold: gold)) == ["g0", "g1", "g2"]
    with pytest.raises(ValueError, match="zip"):
        list(made(lambda self, gold: gold).work(QUERIES, RANKINGS[:2], services=SERVICES, mode=""))
