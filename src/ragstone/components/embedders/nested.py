"""The embedder that a component takes as a parameter."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Final

from ragstone.core.builtins import name_of
from ragstone.core.component import Component
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.registry import create
from ragstone.core.spec import ComponentSpec
from ragstone.errors import ConfigError
from ragstone.protocols import Embedder, Output, Services

_USES: Final = {
    "dense": ("one vector per text", "dense"),
    "sparse": ("sparse vectors", "sparse"),
    "tokens": ("one vector per token", "late-interaction"),
}
"""Output of an embedder -> its description, and the retriever for it."""


class UsesEmbedder(Component):
    """A component with an embedder as a parameter; derive from a protocol as well."""

    embedder_field: ClassVar[str] = "embedder"
    embedder_output: ClassVar[Output]
    needs_model = True

    def __post_init__(self) -> None:
        """Create the embedder while the experiment file's folder is known."""
        super().__post_init__()
        _ = self._embedder

    @cached_property
    def content_revision(self) -> dict[str, Any]:
        """The cache key of the embedder."""
        return cache_key_parts(self._embedder)

    @cached_property
    def _embedder(self) -> Embedder:
        kind, _, name = name_of(type(self)).partition("/")
        where = f"{kind.removesuffix('s')} {name!r}, {self.embedder_field}"
        written = getattr(self, self.embedder_field)
        return nested_embedder(written, self.embedder_output, where=where)

    def check(self, services: Services) -> None:
        """Raise if the embedder cannot work here."""
        self._embedder.check(services)


def nested_embedder(written: ComponentSpec, output: Output, *, where: str) -> Embedder:
    """Return the embedder that `written` describes.

    Call this while the outer component is created: the folder of the experiment file, in which
    your own embedder may be, is known only then.

    Raises:
        ConfigError: the embedder has another output; the message names the retriever for it.
    """
    embedder: Embedder = create("embedders", written, where=where)
    if embedder.output != output:
        found, retriever = _USES[embedder.output]
        raise ConfigError(
            f"{where}: expected an embedder that returns {_USES[output][0]}, but {written!r} "
            f"returns {found}; use it with the retriever {retriever!r}",
            value=written,
        )
    return embedder
