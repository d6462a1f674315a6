"""Components: their declarations for the planner, outcomes of items, and your own classes.

A component is a frozen dataclass with one verb. Its fields are its configuration and its cache key;
heavy state is a `cached_property`, so that a result in the store loads no model. `protocols.py` has
the verb of every kind. The long form of a verb takes its items and a `services` object and returns
one `Outcome` per item. The verb of your own class may have other parameters and results:

- `retrieve(searches, corpus)`: a service (`calls`, `store`, `corpus`, `qrels`) by its name;
- `retrieve(search, corpus)`: one item at a time, by the singular name;
- plain values in place of outcomes.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Any, ClassVar, Final, Generic, NamedTuple, Self, TypeVar, cast

from ragstone.core import limits
from ragstone.core.component_error import component_error
from ragstone.core.slow_items import told_if_slow
from ragstone.core.user_code import is_ours
from ragstone.errors import ComponentError, ConfigError, RagstoneError, did_you_mean

NOT_IN_CACHE_KEY: Final[Mapping[str, bool]] = {"not_in_key": True}
"""Metadata of a dataclass field that cannot change the component's output."""

KEY_BY_CONTENT: Final[Mapping[str, bool]] = {"key_by_content": True}
"""Metadata of a dataclass field that is in the cache key only as `key_values` has it."""
IN_CACHE_KEY_IF_SET: Final[Mapping[str, bool]] = {"in_key_if_set": True}
"""Metadata of a field that is part of the key with another value than its default only.

A later parameter of a known component is such a field: kept results stay valid.
"""
SET_BY_A_RUN: Final[Mapping[str, bool]] = {"set_by_a_run": True}
"""Metadata of a dataclass field that is not written by people."""


def in_cache_key(field: dataclasses.Field[Any], component: object = None) -> bool:
    """Return whether a field is part of the cache key of a component, or of any without one."""
    if component is not None and IN_CACHE_KEY_IF_SET.items() <= field.metadata.items():
        return bool(getattr(component, field.name) != field.default)
    return not NOT_IN_CACHE_KEY.items() <= field.metadata.items()


SERVICES: Final = ("services", "calls", "store", "corpus", "qrels")
"""Parameters that a verb may have besides its items."""
DATA: Final = frozenset({"corpus", "qrels"})
"""Services whose content is part of a step's key."""
OPTIONAL: Final = DATA | {"gold", "noise", "retrieved"}
"""Inputs that are part of a step's key only if its component uses them."""
FIELDS: Final = frozenset({"gold_answers", "labels", "passage_labels"})
"""Fields of queries and passages that are part of a step's key only if its component uses them."""

TEMPLATE_FIELD: Final = re.compile("(^|_)(system|user)$")
"""Names of fields that contain a prompt template."""

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T_co]):
    """The result of a step for one item."""

    value: T_co
    reason: str = ""
    """Why the value is missing or a fallback; empty if the component did its work."""
    retry: bool = False
    """Whether the next run computes the item again, because a call failed."""


class Component:
    """The base of all protocols: the declarations and methods that the planner uses."""

    computed_with: ClassVar[tuple[str, ...]] = ()
    """Definitions of Ragstone, "module:name", that decide the output besides the class."""
    verb: ClassVar[str] = ""
    """The name of the method that does the work."""
    item_names: ClassVar[Mapping[str, str]] = {}
    """The verb's parameters with one entry per item -> their singular, for the short form."""
    item_fields: ClassVar[tuple[str, ...]] = ()
    """Fields of an item that the short form may take in place of the item."""
    requires_extra: ClassVar[str] = ""
    """The extras of Ragstone that the component needs, such as "local" or "chunk,local"."""
    required: ClassVar[tuple[str, ...]] = ()
    """Fields that every component of the kind has."""
    returns: ClassVar[tuple[type, ...]] = (object,)
    """Types of the verb's values; without `NoneType`, None is a failed item."""
    sizes: ClassVar[tuple[str, ...]] = ()
    """Fields that must be 1 or more; None is accepted too."""

    @property
    def content_revision(self) -> Any:
        """Plain data in the cache key besides the fields, such as the digest of a model file."""
        return None

    @property
    def uses(self) -> frozenset[str]:
        """The optional inputs and fields that the verb reads, such as "corpus" and "labels".

        All others are withheld. A class may set it as an attribute.
        """
        return frozenset()

    @property
    def fields_read(self) -> frozenset[str]:
        """The fields among `FIELDS` that the verb reads: all if your own class declares nothing."""
        for kind in type(self).__mro__:
            if is_ours(kind):
                break
            if "uses" in vars(kind):
                return FIELDS & self.uses
        return FIELDS & self.uses if is_ours(type(self)) else FIELDS

    @property
    def training_folder(self) -> Path | None:
        """The output folder of the training that made its weights; None if none is known."""
        return None

    @property
    def templates(self) -> Mapping[str, str]:
        """Name -> text of the component's prompt templates: its fields `system` and `user`."""
        names = [f.name for f in dataclasses.fields(cast("Any", self))]
        texts = {name: getattr(self, name) for name in names if TEMPLATE_FIELD.search(name)}
        return {name: text for name, text in texts.items() if isinstance(text, str) and text}

    @property
    def named_prompt(self) -> Mapping[str, Any]:
        """The facts of the prompt that a field names, as plain data; {} if none does."""
        return {}

    @property
    def key_values(self) -> Mapping[str, Any]:
        """Field -> the content that its value stands for, which replaces it in the cache key."""
        return {}

    @property
    def needs_model(self) -> bool:
        """Whether the verb runs a model, so that a plan does not call it."""
        return False

    @property
    def takes_all_items(self) -> bool:
        """Whether the verb needs all items at once; otherwise it may be called with a part."""
        return False

    def __post_init__(self) -> None:
        """Raise `ConfigError` if a field of `sizes` is below 1."""
        for name in self.sizes:
            value = getattr(self, name, None)
            if value is not None and not (isinstance(value, int) and value >= 1):
                raise ConfigError(f"{name} must be 1 or more, found {value!r}")

    def check(self, services: Any) -> None:
        """Raise if the component cannot work here: a package, a file or a server is missing."""

    def of_run(self, run: str) -> Self:
        """Return the component with results of its own for a run; "" is for all runs."""
        return self

    def data_notes(self, dataset: Any) -> Iterable[str]:
        """Return why the component may give poor results on a data set; shown by a plan."""
        return ()

    def cost(self, n_queries: int, n_passages: int) -> int:
        """Return the maximum number of model calls for some queries with their passages."""
        return 0

    def index_bytes(self, services: Any) -> Mapping[str, int]:
        """Return a key -> bytes for each index that the component would add to the store."""
        return {}

    @classmethod
    def complete(cls, part: type) -> type:
        """Return a class of this kind: `part` itself, or `part` with the declarations it omits.

        Raises:
            ConfigError: `part` has no verb of this kind, or the verb has an unknown parameter.
        """
        if issubclass(part, cls):
            return part
        if issubclass(part, Component) or not callable(getattr(part, cls.verb, None)):
            verb = f"{cls.verb}({', '.join(_parameters(getattr(cls, cls.verb)))})"
            raise ConfigError(f"{part.__name__!r} has no method {verb}", value=part.__name__)
        for name in cls.required:
            if name not in {field.name for field in dataclasses.fields(cast("Any", part))}:
                raise ConfigError(f"{part.__name__!r} needs a field {name}", key=name)
        same = {name: getattr(part, name) for name in ("__module__", "__qualname__", "__doc__")}
        if not cls.item_names:
            return type(part.__name__, (part, cls), same)
        form = _Form.of(part, cls)
        derived = {
            "needs_model": property(lambda _: form.may_call),
            "cost": lambda _self, n_queries, _n_passages: n_queries if form.may_call else 0,
            "uses": form.uses,
        }
        added = {name: value for name, value in derived.items() if not hasattr(part, name)}
        members = {**added, cls.verb: form.long_verb(), **same}
        return type(part.__name__, (part, cls), members)


class _Form(NamedTuple):
    """The verb of your own class, with the parameters that the protocol or a service provides."""

    verb: Callable[..., Any]
    parameters: tuple[str, ...]
    protocol: type[Component]

    @classmethod
    def of(cls, part: type, protocol: type[Component]) -> _Form:
        """Return the form of a class's verb; raise `ConfigError` for an unknown parameter."""
        verb = getattr(part, protocol.verb)
        own, long = _parameters(verb), _parameters(getattr(protocol, protocol.verb))
        items = [*protocol.item_names, *protocol.item_names.values(), *protocol.item_fields]
        known = {*long, *SERVICES, *items}
        if inspect.iscoroutinefunction(verb) or inspect.isasyncgenfunction(verb):
            raise ConfigError(f"{part.__name__}.{protocol.verb} is async; write it without async")
        for name, parameter in own.items():
            if name not in known and parameter.default is inspect.Parameter.empty:
                raise ConfigError(
                    f"{part.__name__}.{protocol.verb} has a parameter {name!r} that is never "
                    f"given{did_you_mean(name, known)}",
                    key=name,
                )
        if own.keys().isdisjoint(items):
            raise ConfigError(
                f"{part.__name__}.{protocol.verb} takes no items; it needs self and one of the "
                f"parameters {', '.join(items)}"
            )
        return cls(verb, tuple(name for name in own if name in known), protocol)

    @property
    def may_call(self) -> bool:
        """Whether the verb may call models."""
        return bool({"calls", "services"} & set(self.parameters))

    @property
    def uses(self) -> frozenset[str]:
        """The optional inputs that the parameters name, alone or as a part of another one."""
        whole = {*self.protocol.item_names, *self.protocol.item_names.values()}
        named = set(self.parameters)
        fields = self.protocol.item_fields if named & whole else ()
        data = DATA if "services" in named else ()
        return (OPTIONAL & named.union(fields, data)) | FIELDS

    def long_verb(self) -> Callable[..., Any]:
        """Return the verb in the protocol's form."""
        names, fields = self.protocol.item_names, self.protocol.item_fields
        takes_one_item = not {*names.values(), *fields}.isdisjoint(self.parameters)

        def call(component: object, *lists: Any, services: Any, **others: Any) -> Iterator[Any]:
            named = dict(zip(names, lists, strict=True)) | others | {"services": services}
            if not takes_one_item:
                yield from self.verb(component, **self._arguments(named))
                return
            for members in zip(*lists, strict=True):
                item = {name: getattr(members[0], name) for name in fields}
                single = dict(zip(names.values(), members, strict=True))
                yield self.verb(component, **self._arguments(item | named | single))

        return call

    def _arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        services = given["services"]
        return {n: given[n] if n in given else getattr(services, n) for n in self.parameters}


def _parameters(method: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a method without `self`."""
    return dict(list(inspect.signature(method).parameters.items())[1:])


def run_component(part: Component, services: Any, *lists: Sequence[Any], **named: Any) -> list[Any]:
    """Return one outcome per item of a component's verb.

    Args:
        part: the component.
        services: the `Services` of the step.
        lists: the items, one list per parameter of the verb that takes items.
        named: further parameters of the verb.

    Raises:
        ComponentError: your own component returned another number of values than items or a value
            of a wrong type, or raised for each of the first ten items. An exception for an item is
            that item's outcome.
    """
    call = partial(getattr(part, part.verb), **named, services=services)
    found = list(call(*lists) if is_ours(type(part)) else _guarded(part, call, lists))
    if len(found) != len(lists[0]):
        raise _wrong_count(part, len(found), len(lists[0]))
    return found


def _outcome(part: Component, value: Any) -> Outcome[Any]:
    """Return the outcome of a value; raise `ComponentError` if its type is wrong."""
    outcome = value if isinstance(value, Outcome) else Outcome(value)
    found, name = outcome.value, type(part).__name__
    if isinstance(found, part.returns) or (found is None and outcome.reason):
        return outcome
    if found is None:
        return Outcome(None, f"{name}.{part.verb} returned None", retry=True)
    shown = repr(found)[: limits.MAX_VALUE_CHARACTERS]
    legal = " or ".join(kind.__name__ for kind in part.returns if kind is not NoneType)
    raise ComponentError(
        f"{name}.{part.verb} returned {shown} ({type(found).__name__}); it must return {legal}",
        component=name,
        value=found,
    )


def _guarded(
    part: Component, call: Callable[..., Any], lists: Sequence[Sequence[Any]]
) -> Iterator[Outcome[Any]]:
    """Yield the outcomes of your own component; an item that raises has a failed outcome."""
    with told_if_slow(type(part).__name__, lists[0]) as done:
        try:
            for value in call(*lists):
                yield _outcome(part, value)
                done.count += 1
        except RagstoneError:
            raise
        except Exception:  # noqa: BLE001 - whatever the user's code raises is an outcome
            # The whole list may have failed because of one item: the rest is computed one by one.
            rest = zip(*(items[done.count :] for items in lists), strict=True)
            for outcome in _one_by_one(part, call, list(rest), worked=done.count > 0):
                yield outcome
                done.count += 1


def _one_by_one(
    part: Component, call: Callable[..., Any], rest: Sequence[Any], *, worked: bool
) -> Iterator[Outcome[Any]]:
    """Yield the outcomes of items computed alone; raise if none of the first few succeeds."""
    for failed, members in enumerate(rest, start=1):
        try:
            values = list(call(*([member] for member in members)))
        except RagstoneError:
            raise
        except Exception as error:
            failure = component_error(part, error, members[0])
            if not worked and failed == limits.MAX_FIRST_FAILURES:
                raise failure from error
            yield Outcome(None, str(failure), retry=True)
        else:
            if len(values) != 1:
                raise _wrong_count(part, len(values), 1)
            worked = True
            yield _outcome(part, values[0])


def _wrong_count(part: Component, found: int, expected: int) -> ComponentError:
    name = type(part).__name__
    return ComponentError(
        f"{name}.{part.verb} returned {found} values for {expected} items; it must return one per "
        "item, in order",
        component=name,
        value=found,
    )
