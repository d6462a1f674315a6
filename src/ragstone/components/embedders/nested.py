"""The embedder of a component, as it is written, checked, and given the way to its server."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ragstone.core.registry import beside, create
from ragstone.errors import ConfigError
from ragstone.protocols import CallingEmbedder, Embedder, SparseEncoder, TokenEmbedder

if TYPE_CHECKING:
    from ragstone.calls.client import Calls

Written: TypeAlias = str | dict[str, Any]
"""A name, with its parameters in brackets or as a mapping, or `module:Class`."""

C = TypeVar("C")


def dense_embedder(written: Written, *, where: str) -> Embedder:
    """Return the embedder that `written` describes.

    Raises `ConfigError` where it makes no vector per text. For a component's `__post_init__`: files
    beside the experiment file are found there.
    """
    made: Embedder = _made(written, Embedder, "one vector per text (embed_passages)", where)
    return made


def sparse_encoder(written: Written, *, where: str) -> SparseEncoder:
    """Return the encoder that `written` describes; raise as `dense_embedder` does."""
    made: SparseEncoder = _made(written, SparseEncoder, "sparse vectors (encode_passages)", where)
    return made


def token_embedder(written: Written, *, where: str) -> TokenEmbedder:
    """Return the embedder that `written` describes; raise as `dense_embedder` does."""
    made: TokenEmbedder = _made(
        written, TokenEmbedder, "one vector per token (passage_tokens)", where
    )
    return made


def _made(written: Written, kind: Any, what: str, where: str) -> Any:
    made = create("embedders", written, where=where, folder=beside())
    if isinstance(made, kind):
        return made
    fits = [way for known, way in _WAYS.items() if isinstance(made, known)]
    way_out = f"; for {written!r} take the retriever {fits[0]!r}" if fits else ""
    raise ConfigError(f"{where}: it must make {what}, and {written!r} does not{way_out}")


_WAYS: dict[Any, str] = {
    Embedder: "dense",
    SparseEncoder: "sparse",
    TokenEmbedder: "late-interaction",
}


def check_part(part: object, calls: Calls) -> None:
    """Let a component's embedder say what it lacks, where it has a way to."""
    check = getattr(part, "check", None)
    if check is not None:
        check(calls)


def with_calling_part(component: C, name: str, calls: Calls) -> C:
    """Return a component whose cached embedder `name` asks its server by `calls`.

    The component itself where its embedder asks none: what is loaded stays loaded.
    """
    part = getattr(component, name)
    if not isinstance(part, CallingEmbedder):
        return component
    # Not `replace`: to make the embedder anew, the experiment file's folder would have to be known.
    made = copy.copy(component)
    vars(made)[name] = part.with_calls(calls)
    return made
