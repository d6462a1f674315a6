"""The components of a kind as attributes: `ragstone.retrievers.bm25(k1=0.9)`."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, Final

from ragstone.core.registry import find, known
from ragstone.errors import did_you_mean


class Folder:
    """The components of one kind, built in or of installed packages, each by its name or class.

    In a name, every character that Python does not allow is an underscore, and the `@k` of a
    ranking metric is left out.

    >>> retrievers.bm25(k1=0.9).k1, retrievers.BM25 is retrievers.bm25
    (0.9, True)
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __repr__(self) -> str:
        """Return one line: the kind."""
        return f"<ragstone.{self._kind}: {len(dir(self))} components>"

    def __dir__(self) -> list[str]:
        """Return one attribute per component."""
        first = {name: attribute for attribute, name in reversed(self._names.items())}
        return sorted(first.values())

    def __getattr__(self, attribute: str) -> Any:
        """Return the class of a component."""
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        if attribute not in self._names:
            hint = did_you_mean(attribute, dir(self))
            raise AttributeError(f"ragstone.{self._kind} has no {attribute!r}{hint}")
        return find(self._kind, self._names[attribute], where=f"ragstone.{self._kind}")

    @cached_property
    def _names(self) -> dict[str, str]:
        """Attribute -> name of the component, the preferred attribute of each component first."""
        found: dict[str, str] = {}
        # `F1` is the answer metric: the ranking metric `F1@k` is found by its class, `F1At`.
        for name in sorted(known(self._kind), key=lambda name: "@" in name):
            found.setdefault(re.sub(r"\W", "_", name.removesuffix("@k")), name)
            found.setdefault(known(self._kind)[name].rpartition(":")[2], name)
        return found


generators: Final = Folder("generators")
metrics: Final = Folder("metrics")
retrievers: Final = Folder("retrievers")
