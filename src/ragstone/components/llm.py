"""The model that a component asks: written as a generator is, and used for its endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

from ragstone.calls.client import Calls
from ragstone.calls.types import Endpoint, Sampling
from ragstone.core.registry import create
from ragstone.errors import ConfigError

WrittenModel: TypeAlias = str | dict[str, Any]
"""As people write it: `local`, or `{name: chat, model: ...}`."""


class AskedModel(Protocol):
    """A generator that can be asked anything, not only to answer queries."""

    @property
    def endpoint(self) -> Endpoint:
        """The model and where it is."""
        ...

    @property
    def sampling(self) -> Sampling:
        """How its replies are drawn."""
        ...


def asked_model(written: WrittenModel, *, where: str) -> AskedModel:
    """Return the model that `written` describes; raise `ConfigError` where it cannot be asked."""
    made: AskedModel = create("generators", written, where=f"{where}, model")
    if not isinstance(getattr(made, "endpoint", None), Endpoint):
        raise ConfigError(
            f"{where}: {type(made).__name__} is no model that can be asked; take local, or "
            "{name: chat, model: ...}"
        )
    return made


def check_model(model: AskedModel, calls: Calls) -> None:
    """Raise where the model cannot be had: no file, no package, nobody at the address."""
    check = getattr(model, "check", None)
    if check is not None:
        check(calls)


def sampling_of(model: AskedModel, max_tokens: int, **changes: Any) -> Sampling:
    """Return how a component's replies are drawn: as the model's own, of another length."""
    return replace(model.sampling, max_tokens=max_tokens, **changes)


def model_revision(model: AskedModel, sampling: Sampling) -> Mapping[str, str]:
    """Return which model is asked, and how: part of the key of what it is asked for."""
    return {"model": model.endpoint.identity, "sampling": sampling.canonical.decode()}
