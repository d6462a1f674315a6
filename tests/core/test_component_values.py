"""What the verb of a component may return, and items for which your own one raises."""

# ruff: noqa: ARG001, ARG005 - the parameters of a verb declare what it uses

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from tests.core.test_component import SERVICES, Base, Kind, made

from ragstone.core import component, limits
from ragstone.core.component import Outcome, run_component
from ragstone.core.slow_items import Returned, told_if_slow
from ragstone.errors import ComponentError, DatasetError


def outcomes(part: Any, count: int = 3) -> list[Outcome[Any]]:
    """Return the outcomes of some items."""
    queries = [SimpleNamespace(query_id=f"q{n}", gold=n, noise=0) for n in range(count)]
    return run_component(part, SERVICES, queries, ["r"] * count, mode="fast")


def test_plain_values_become_outcomes() -> None:
    """An outcome stays as it is; None without a reason is a failure that is computed again."""
    given = [7, Outcome(3, "a fallback"), None, Outcome(None, "no quota"), "text"]
    part = made(lambda self, gold: given[gold])

    assert outcomes(part, 5) == [
        Outcome(7),
        Outcome(3, "a fallback"),
        Outcome(None, "Mine.work returned None", retry=True),
        Outcome(None, "no quota"),
        Outcome("text"),
    ]


@pytest.mark.parametrize("value", [1.5, Outcome(1.5, "why"), [1] * 90])
def test_a_value_of_another_type_is_an_error(value: Any) -> None:
    """The error has the start of the value, its type and the legal ones; so for an outcome."""
    with pytest.raises(ComponentError) as caught:
        outcomes(made(lambda self, gold: value))

    bare = value.value if isinstance(value, Outcome) else value
    assert str(caught.value) == (
        f"Mine.work returned {repr(bare)[: limits.MAX_VALUE_CHARACTERS]} ({type(bare).__name__}); "
        "it must return int or str"
    )
    assert (caught.value.component, caught.value.value) == ("Mine", bare)


def test_none_is_not_named_among_legal_types() -> None:
    """A kind whose values may be missing returns None without a failure."""
    part = made(lambda self, gold: None if gold else 1.5, returns=(int, type(None)))

    with pytest.raises(ComponentError, match=r"it must return int$"):
        outcomes(part)
    assert outcomes(made(lambda self, gold: None, returns=(int, type(None)))) == [Outcome(None)] * 3


@pytest.mark.parametrize("is_packaged", [False, True])
@pytest.mark.parametrize("count", [2, 4])
def test_another_number_of_values_is_an_error(count: int, *, is_packaged: bool) -> None:
    """Also for a component of the package."""
    more = {"__module__": "ragstone.some"} if is_packaged else {}
    part = made(lambda self, queries: [1] * count, **more)

    with pytest.raises(ComponentError, match=f"returned {count} values for 3 items") as caught:
        outcomes(part)
    assert caught.value.value == count


def test_a_component_of_the_package_is_not_guarded() -> None:
    """Its values are returned as they are, and its exceptions are faults of the package."""
    more = {"__module__": "ragstone.some"}

    found: list[Any] = outcomes(made(lambda self, queries: [1.5] * 3, **more))
    assert found == [1.5] * 3
    with pytest.raises(KeyError):
        outcomes(made(lambda self, gold: {}[gold], **more))


def test_a_verb_may_have_one_list_of_items() -> None:
    """Its length is the number of values that are expected."""

    class Single(Kind):
        item_names: ClassVar = {"queries": "query"}
        item_fields = ()

    class Mine(Base):
        def work(self, query: int) -> int:
            return query + self.k

    part = Single.complete(Mine)()

    assert run_component(part, SERVICES, []) == []
    assert run_component(part, SERVICES, [4, 5]) == [Outcome(5), Outcome(6)]


def failing(bad: set[int], **more: Any) -> Any:
    """Return a component that raises for some items; it takes all at once."""

    def work(self: Any, queries: Any) -> Any:
        for query in queries:
            if query.gold in bad:
                raise ValueError(f"bad {query.gold}")
            yield query.gold

    return made(work, **more)


@pytest.mark.parametrize("count", [1, 3, limits.MAX_FIRST_FAILURES - 1, 30])
def test_an_item_that_raises_fails_alone(count: int) -> None:
    """The others have their values, whether it is first, last or one of many."""
    bad = set(range(1, count))
    done = outcomes(failing(bad), count + 1)

    assert [one.value for one in done] == [0, *[None] * (count - 1), count]
    assert all(one.retry == (one.value is None) for one in done)
    assert all(f"bad {n}" in done[n].reason and f"'q{n}'" in done[n].reason for n in bad)


def test_a_component_that_raises_for_the_first_ten_items_is_an_error() -> None:
    """It would raise for all; nine failures before the first value are outcomes."""
    most = limits.MAX_FIRST_FAILURES
    first, *_, last = outcomes(failing(set(range(most - 1))), most)
    assert (first.value, last.value) == (None, most - 1)

    with pytest.raises(ComponentError, match=f"Mine raised ValueError: bad {most - 1}"):
        outcomes(failing(set(range(most))), most + 1)
    later = outcomes(failing({1, *range(3, 30)}), 31)
    assert [one.value for one in later if one.value is not None] == [0, 2, 30]


def test_errors_of_the_package_go_through_and_every_call_alone_returns_one_value() -> None:
    """An error with a remedy of its own is not an outcome, in the list or alone."""

    def refuse(self: Any, queries: Any) -> Any:
        if len(queries) > 1:
            raise ValueError("one at a time")
        raise DatasetError("no such passage")

    def twice(self: Any, queries: Any) -> Any:
        if len(queries) > 1:
            raise ValueError("one at a time")
        return [1, 2]

    with pytest.raises(DatasetError, match="no such passage"):
        outcomes(made(refuse))
    with pytest.raises(ComponentError, match="returned 2 values for 1 items"):
        outcomes(made(twice))
    with pytest.raises(DatasetError, match="at once"):
        outcomes(made(lambda self, gold: (_ for _ in ()).throw(DatasetError("at once"))))


def test_the_items_that_returned_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """All together or one by one, the warning about a slow item names the right one."""
    counts: list[int] = []

    @contextmanager
    def told(name: str, items: Sequence[Any]) -> Iterator[Returned]:
        with told_if_slow(name, items) as returned:
            yield returned
        counts.append(returned.count)

    def work(self: Any, query: Any) -> int:
        return 1 // query.gold if self.fails else 1

    monkeypatch.setattr(component, "told_if_slow", told)
    for fails in (False, True):
        outcomes(made(work, fails=fails))
    assert counts == [3, 3]
