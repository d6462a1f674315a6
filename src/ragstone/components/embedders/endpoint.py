"""An embedding model behind an OpenAI-style endpoint: vLLM, TEI, llama.cpp, Ollama, hosted."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import orjson

from ragstone.calls.http import ChatClient
from ragstone.calls.types import (
    AttemptError,
    Endpoint,
    Failure,
    Reply,
    Request,
    Sampling,
    ServerAddresses,
)
from ragstone.calls.wire_formats import join_url
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.step_notes import add_note
from ragstone.errors import CallError, ConfigError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.calls.client import Calls
    from ragstone.calls.rate_control import ConcurrencyLimiter


@dataclass(frozen=True)
class EndpointEmbedder:
    """Asks a server for the vectors of texts, so many texts a request.

    Every reply is kept in the call log, so that nothing is paid for twice; the vectors of a corpus
    are stored besides, as those of any embedder.

    Args:
        model: the model's name as the server knows it.
        base_url: address up to `/v1`; several, separated by blanks, are a pool of equal servers.
        api_key_env: the environment variable that holds the key.
        identity: what the model is called in keys; model and host (without port) by default.
        dimensions: asked of the server, where it can shorten its vectors.
        query_prefix: put before each query, as E5-Mistral wants an instruction there.
        passage_prefix: put before each passage.
        query_extra: further fields of a request for queries, such as {input_type: query}.
        passage_extra: further fields of a request for passages.
        max_characters: a longer text is cut here, and counted; without it the server decides, and
            a text it refuses stops the run.
        normalise: whether vectors are brought to length 1.
        batch: texts in one request.
        concurrency: requests at once at most.
    """

    model: str
    base_url: str = field(default="http://localhost:8000/v1", metadata=NOT_IN_CACHE_KEY)
    api_key_env: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    identity: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    dimensions: int | None = None
    query_prefix: str = ""
    passage_prefix: str = ""
    query_extra: Mapping[str, Any] = field(default_factory=dict)
    passage_extra: Mapping[str, Any] = field(default_factory=dict)
    max_characters: int | None = None
    normalise: bool = True
    batch: int = field(default=16, metadata=NOT_IN_CACHE_KEY)
    concurrency: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)
    version: ClassVar[int] = 1
    at_once: ClassVar[int] = 256
    """Texts that are best handed over together: several requests' worth."""

    def __post_init__(self) -> None:
        """Check the ranges and the address."""
        for name in ("batch", "dimensions", "max_characters"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be 1 or more, found {value}")
        _ = self.endpoint

    @property
    def revision(self) -> str:
        """The model's identity: an address may change without a vector becoming another."""
        return self.endpoint.identity

    @cached_property
    def endpoint(self) -> Endpoint:
        """The model and where it is."""
        return Endpoint(
            self.model,
            tuple(self.base_url.split()),
            api_key_env=self.api_key_env,
            protocol="openai-embeddings",
            identity=self.identity,
            wire=EmbeddingsWire(),
            client=_client,
            concurrency=self.concurrency,
        )

    def check(self, calls: Calls) -> None:
        """Raise unless the key is set and somebody listens at the address."""
        calls.check(self.endpoint)

    def with_calls(self, calls: Calls) -> EndpointEmbedder:
        """Return the embedder with the way to its server."""
        made = replace(self)
        vars(made)["_calls"] = calls
        return made

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return an array of shape (len(texts), dimension)."""
        return self._embed("queries", self.query_prefix, texts, self.query_extra)

    def embed_passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return an array of shape (len(texts), dimension)."""
        return self._embed("passages", self.passage_prefix, texts, self.passage_extra)

    def _embed(
        self, what: str, prefix: str, texts: Sequence[str], extra: Mapping[str, Any]
    ) -> npt.NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.dimensions or 0), dtype=np.float32)
        calls: Calls | None = vars(self).get("_calls")
        if calls is None:
            raise ConfigError(
                "the embedder 'endpoint' has no way to its server; outside of an experiment, "
                "give it one: embedder.with_calls(Calls.at(path))"
            )
        sent = [self._sent(prefix + text, what) for text in texts]
        batches = [sent[start : start + self.batch] for start in range(0, len(sent), self.batch)]
        requests = [self._request(batch, extra) for batch in batches]
        parts = []
        outcomes = calls.ask(self.endpoint, requests, title=f"vectors of {self.model}")
        for number, outcome in enumerate(outcomes):
            if isinstance(outcome, Failure):
                raise CallError(
                    f"{self.endpoint.name} gave no vectors for {what} {number * self.batch + 1} "
                    f"and on ({batches[number][0][:60]!r}): {outcome.reason}. What it gave before "
                    f"is kept; run again to go on"
                )
            parts.append(_unpacked(outcome.text))
        return self._joined(parts)

    def _joined(self, parts: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        sizes = sorted({part.shape[1] for part in parts})
        if len(sizes) > 1:
            raise CallError(
                f"{self.endpoint.name} gave vectors of {sizes[0]} and of {sizes[-1]} dimensions; "
                f"is one name served by two models? Give each an identity of its own"
            )
        vectors = np.concatenate(parts)
        if not self.normalise:
            return vectors
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.where(length > 0, length, 1), dtype=np.float32)

    def _sent(self, text: str, what: str) -> str:
        """Return a text as it is sent: servers refuse one of no characters."""
        if self.max_characters is not None and len(text) > self.max_characters:
            add_note(f"{what} cut to {self.max_characters} characters")
            text = text[: self.max_characters]
        return text or " "

    def _request(self, batch: Sequence[str], extra: Mapping[str, Any]) -> Request:
        asked = {**extra, **({"dimensions": self.dimensions} if self.dimensions else {})}
        sampling = Sampling(temperature=None, max_tokens=None, extra=asked)
        return Request(tuple(("input", text) for text in batch), sampling)


@dataclass(frozen=True)
class EmbeddingsWire:
    """Embeddings as OpenAI's protocol has them; a reply's text holds the packed vectors."""

    def url(self, base_url: str) -> str:
        """Return where a request is posted."""
        return join_url(base_url, "embeddings")

    def headers(self, api_key: str) -> Mapping[str, str]:
        """Return the headers that carry the key."""
        return {"Authorization": f"Bearer {api_key}"} if api_key else {}

    def body(self, model: str, request: Request) -> bytes:
        """Return the request's body."""
        texts = [text for _, text in request.messages]
        body = {"model": model, "input": texts, "encoding_format": "float"}
        return orjson.dumps(body | dict(request.sampling.extra))

    def decode(self, raw: bytes) -> Any:
        """Read a reply's body."""
        return orjson.loads(raw)

    def reply(self, payload: Any) -> Reply:
        """Read a list of embeddings; raise `ValueError` saying what is wrong."""
        data = payload.get("data") if isinstance(payload, dict) else None
        if not isinstance(data, list) or not data:
            raise ValueError("the reply has no 'data'")
        ordered = sorted(data, key=lambda entry: int(entry["index"]))
        lengths = sorted({len(entry["embedding"]) for entry in ordered})
        if len(lengths) > 1 or not lengths[0]:
            raise ValueError(f"the vectors have {lengths[0]} and {lengths[-1]} dimensions")
        vectors = np.array([entry["embedding"] for entry in ordered], dtype="<f4")
        if not np.isfinite(vectors).all():
            raise ValueError("a vector holds what is no finite number")
        usage = payload.get("usage") or {}
        return Reply(
            f"{lengths[0]} {base64.b64encode(vectors.tobytes()).decode()}",
            tokens_in=usage.get("prompt_tokens"),
            tokens_out=0,
            served_by=str(payload.get("model") or ""),
        )


def _unpacked(text: str) -> npt.NDArray[np.float32]:
    dimension, _, packed = text.partition(" ")
    return np.frombuffer(base64.b64decode(packed), dtype="<f4").reshape(-1, int(dimension))


class _EmbeddingsClient(ChatClient):
    """Refuses a reply with another number of vectors than texts: it must not be kept."""

    async def attempt(self, request: Request) -> Reply:
        """Return the reply to one request, or raise a `AttemptError`."""
        reply = await super().attempt(request)
        found, wanted = len(_unpacked(reply.text)), len(request.messages)
        if found != wanted:
            raise AttemptError(f"the server returned {found} vectors for {wanted} texts")
        return reply


def _client(endpoint: Endpoint, pace: ConcurrencyLimiter) -> _EmbeddingsClient:
    return _EmbeddingsClient(
        endpoint, ServerAddresses(endpoint.base_urls, endpoint.api_key()), pace
    )
