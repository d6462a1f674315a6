"""Strategies as people write them: a name, or one with parameters such as `writer(model=...)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from ragstone.building.strategies import STRATEGIES, Strategy
from ragstone.building.trained_writer import trained_strategy
from ragstone.core.spec import parse_spec
from ragstone.errors import ConfigError, did_you_mean

WITH_PARAMETERS: Final[Mapping[str, Callable[..., Strategy]]] = {"writer": trained_strategy}
"""Name -> what makes the strategy of its parameters."""


def find_strategy(written: str) -> Strategy:
    """Return the strategy with a name, with its parameters if it takes some.

    Raises:
        ConfigError: there is no such strategy, or a parameter is unknown, missing or wrong.
    """
    spec = parse_spec(written, where="strategy")
    if spec.name in WITH_PARAMETERS:
        return _made(spec.name, spec.parameters)
    if spec.name not in STRATEGIES:
        names = [*STRATEGIES, *WITH_PARAMETERS]
        raise ConfigError(f"unknown strategy {written!r}{did_you_mean(spec.name, names)}")
    if spec.parameters:
        raise ConfigError(f"the strategy {spec.name!r} has no parameters, found {written!r}")
    return STRATEGIES[spec.name]


def _made(name: str, parameters: Mapping[str, Any]) -> Strategy:
    make = WITH_PARAMETERS[name]
    known = inspect.signature(make).parameters
    for key in parameters:
        if key not in known:
            raise ConfigError(
                f"the strategy {name!r} has no parameter {key!r}{did_you_mean(key, known)}", key=key
            )
    missing = [k for k, one in known.items() if one.default is one.empty and k not in parameters]
    if missing:
        raise ConfigError(
            f"the strategy {name!r} needs {missing[0]}: {name}({missing[0]}=FOLDER)", key=missing[0]
        )
    return make(**parameters)
