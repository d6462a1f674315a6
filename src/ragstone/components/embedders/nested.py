"""The embedder that a component takes as a parameter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from ragstone.core.registry import create
from ragstone.core.spec import Written
from ragstone.errors import ConfigError
from ragstone.protocols import Embedder, Output


class _Use(NamedTuple):
    noun: str
    retriever: str


_USES: Final[Mapping[Output, _Use]] = {
    "dense": _Use("one vector per text", "dense"),
    "sparse": _Use("sparse vectors", "sparse"),
    "tokens": _Use("one vector per token", "late-interaction"),
}


def nested_embedder(written: Written, output: Output, *, where: str) -> Embedder:
    """Return the embedder that `written` describes.

    Call it while the outer component is created: only then is the folder of the experiment file,
    in which your own embedder may be, known.

    Raises:
        ConfigError: the embedder has another output; the message names the retriever for it.
    """
    embedder: Embedder = create("embedders", written, where=where)
    if embedder.output != output:
        found = _USES[embedder.output]
        raise ConfigError(
            f"{where}: expected an embedder that returns {_USES[output].noun}, and {written!r} "
            f"returns {found.noun}; use it with the retriever {found.retriever!r}",
            value=written,
        )
    return embedder
