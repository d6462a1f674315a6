"""An embedding model behind an OpenAI-style endpoint: vLLM, TEI, llama.cpp, Ollama, hosted."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import orjson

from ragstone.calls.http import ChatClient
from ragstone.calls.identity import model_identity
from ragstone.calls.reply_json import reported_tokens
from ragstone.calls.types import (
    AttemptError,
    Endpoint,
    Failure,
    Reply,
    Request,
    Sampling,
    ServerAddresses,
)
from ragstone.calls.wire_formats import OpenAIFormat, join_url
from ragstone.core.component import NOT_IN_CACHE_KEY, Outcome
from ragstone.core.environment import references_in
from ragstone.core.step_notes import ROLES, add_note
from ragstone.errors import CallError
from ragstone.protocols import Embedder, Role, Services

Matrix: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True)
class EndpointEmbedder(Embedder):
    """Requests vectors from a server, several texts per request.

    The call log keeps every reply: no request is paid for twice. The vectors of a corpus are stored
    as well, as with any embedder.

    Args:
        model: the model's name on the server.
        base_url: address up to `/v1`; several, separated by spaces, are a pool of equal servers.
        api_key_env: the environment variable that contains the key.
        identity: the parts that distinguish this model from others: by default model and whole
            addresses; a text is a name in their place (docs/identity.md).
        dimensions: requested length of the vectors, if the server can shorten them.
        query_prefix: text before each query, such as the instruction of E5-Mistral.
        passage_prefix: text before each passage.
        query_extra: further fields of a request for queries, such as {input_type: query}.
        passage_extra: further fields of a request for passages.
        max_characters: maximum length of a text; longer ones are cut and counted. By default the
            server decides, and a text that it refuses has no vector.
        normalise: whether vectors are L2-normalised.
        batch: texts per request.
        concurrency: maximum number of parallel requests.
    """

    model: str
    base_url: str = field(default="http://localhost:8000/v1", metadata=NOT_IN_CACHE_KEY)
    api_key_env: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    identity: str | list[str] = field(default="", metadata=NOT_IN_CACHE_KEY)
    dimensions: int | None = None
    query_prefix: str = ""
    passage_prefix: str = ""
    query_extra: Mapping[str, Any] = field(default_factory=dict)
    passage_extra: Mapping[str, Any] = field(default_factory=dict)
    max_characters: int | None = None
    normalise: bool = True
    batch: int = field(default=16, metadata=NOT_IN_CACHE_KEY)
    concurrency: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)
    needs_model = True
    texts_per_call = 256
    sizes = ("batch", "dimensions", "max_characters")

    def __post_init__(self) -> None:
        """Check the ranges and the address."""
        super().__post_init__()
        _ = self.endpoint

    @property
    def content_revision(self) -> str:
        """The identity of the model."""
        return self.endpoint.identity

    @cached_property
    def endpoint(self) -> Endpoint:
        """The model and its addresses."""
        urls, protocol = tuple(self.base_url.split()), "openai-embeddings"
        references = references_in(
            [self.model, self.base_url, self.query_extra, self.passage_extra]
        )
        identity = model_identity(
            protocol, self.model, urls, references, self.identity, where="endpoint"
        )
        return Endpoint(
            self.model,
            urls,
            api_key_env=self.api_key_env,
            protocol=protocol,
            identity=identity,
            wire=EmbeddingsFormat(),
            client=lambda endpoint, pace: _EmbeddingsClient(
                endpoint, ServerAddresses(endpoint.addresses(), endpoint.api_key()), pace
            ),
            references=references,
            concurrency=self.concurrency,
        )

    def check(self, services: Services) -> None:
        """Raise if the key is not set, or if no address accepts a connection."""
        services.calls.check(self.endpoint)

    def embed(self, texts: Sequence[str], role: Role, services: Services) -> Iterator[Outcome[Any]]:
        """Yield one vector per text; a text has none if its request failed.

        Raises:
            CallError: the replies have vectors of different lengths.
        """
        sent = [self._sent(text, role) for text in texts]
        batches = [sent[start : start + self.batch] for start in range(0, len(sent), self.batch)]
        requests = [self._request(batch, role) for batch in batches]
        replies = list(
            services.calls.ask(self.endpoint, requests, title=f"vectors of {self.model}")
        )
        vectors = iter(self._joined([_unpacked(r.text) for r in replies if isinstance(r, Reply)]))
        for batch, reply in zip(batches, replies, strict=True):
            for _ in batch:
                if isinstance(reply, Failure):
                    yield Outcome(None, f"{self.endpoint.name}: {reply.reason}", retry=True)
                else:
                    yield Outcome(next(vectors))

    def _joined(self, parts: Sequence[Matrix]) -> Matrix:
        sizes = sorted({part.shape[1] for part in parts})
        if len(sizes) > 1:
            raise CallError(
                f"{self.endpoint.name} returned vectors of {sizes[0]} and of {sizes[-1]} "
                "dimensions; if one name is served by two models, give each its own identity"
            )
        vectors = np.concatenate([np.zeros((0, *sizes), dtype=np.float32), *parts])
        if not self.normalise:
            return vectors
        length = np.linalg.norm(vectors, axis=-1, keepdims=True)
        return np.asarray(vectors / np.where(length > 0, length, 1), dtype=np.float32)

    def _sent(self, text: str, role: Role) -> str:
        """Return a text with its prefix, cut to `max_characters`."""
        text = (self.query_prefix if role == "query" else self.passage_prefix) + text
        if self.max_characters is not None and len(text) > self.max_characters:
            add_note(f"{ROLES[role]} cut to {self.max_characters} characters")
            text = text[: self.max_characters]
        return text or " "  # Servers refuse an empty text.

    def _request(self, batch: Sequence[str], role: Role) -> Request:
        extra = dict(self.query_extra if role == "query" else self.passage_extra)
        extra |= {"dimensions": self.dimensions} if self.dimensions else {}
        sampling = Sampling(temperature=None, max_tokens=None, extra=extra)
        return Request(tuple(("input", text) for text in batch), sampling)


class EmbeddingsFormat(OpenAIFormat):
    """Embeddings in OpenAI's protocol; the text of a reply is the packed vectors."""

    def url(self, base_url: str) -> str:
        """Return the URL for POST requests."""
        return join_url(base_url, "embeddings")

    def body(self, model: str, request: Request) -> bytes:
        """Return the body of a request."""
        texts = [text for _, text in request.messages]
        body = {"model": model, "input": texts, "encoding_format": "float"}
        return orjson.dumps(body | dict(request.sampling.extra))

    def reply(self, payload: Any) -> Reply:
        """Return the embeddings of a parsed reply; raise `ValueError` if it is malformed."""
        data = payload.get("data") if isinstance(payload, dict) else None
        if not isinstance(data, list) or not data:
            raise ValueError("the reply has no 'data'")
        ordered = sorted(data, key=lambda entry: int(entry["index"]))
        lengths = sorted({len(entry["embedding"]) for entry in ordered})
        if len(lengths) > 1 or not lengths[0]:
            raise ValueError(f"the vectors have {lengths[0]} and {lengths[-1]} dimensions")
        vectors = np.array([entry["embedding"] for entry in ordered], dtype="<f4")
        if not np.isfinite(vectors).all():
            raise ValueError("a vector has numbers that are not finite")
        return Reply(
            f"{lengths[0]} {base64.b64encode(vectors.tobytes()).decode()}",
            tokens_in=reported_tokens(payload.get("usage"), "prompt_tokens"),
            tokens_out=0,
            served_by=str(payload.get("model") or ""),
        )


def _unpacked(text: str) -> Matrix:
    dimension, _, packed = text.partition(" ")
    return np.frombuffer(base64.b64decode(packed), dtype="<f4").reshape(-1, int(dimension))


class _EmbeddingsClient(ChatClient):
    """Refuses a reply with another number of vectors than texts, so that it is not kept."""

    async def attempt(self, request: Request) -> Reply:
        """Return the reply to one request, or raise an `AttemptError`."""
        reply = await super().attempt(request)
        found, expected = len(_unpacked(reply.text)), len(request.messages)
        if found != expected:
            raise AttemptError(f"the server returned {found} vectors for {expected} texts")
        return reply
