"""A model on this machine: the bundled one, or any GGUF file, served by llama.cpp."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ragstone.calls.types import Endpoint, ServerPool
from ragstone.components.generators.adapted import AdaptedGenerator
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.errors import ConfigError
from ragstone.models.adapter_gguf import gguf_adapter
from ragstone.models.files import model_digest
from ragstone.models.llama_server import check_runnable, engine_identity, local_servers
from ragstone.protocols import Services


@dataclass(frozen=True)
class Local(AdaptedGenerator):
    """Answers with a model file on this machine, greedily: equal prompts have equal answers.

    The servers start with the first reply that is not in the call log. Prompts and budget: see
    `LlmGenerator`; adapter: see `AdaptedGenerator`.

    Args:
        model: name of a bundled model, or path of a GGUF file with a chat template; without it the
            adapter's base, or else smollm2-135m-instruct.
        context_tokens: maximum length of prompt and answer together, in tokens; a longer prompt
            is a failed call.
        workers: number of server processes, one thread each; None starts one per CPU core.
    """

    model: str = ""
    max_tokens: int = field(default=48, kw_only=True)
    context_tokens: int = 4096
    workers: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)
    requires_extra = "local"
    sizes = ("max_tokens", "context_tokens")

    @cached_property
    def content_revision(self) -> str:
        """SHA-256 of the model file and the engine that runs it, followed by the adapter's."""
        own, added = f"{self._digest} {engine_identity()}", self.found_adapter
        return f"{own} adapter:{added.digest}" if added else own

    @cached_property
    def _digest(self) -> str:
        """SHA-256 of the model file; the adapter is checked against it."""
        self._require_file()
        digest = model_digest(self.model)
        if self.found_adapter:
            self.found_adapter.check_base(self.model, digest)
        return digest

    @cached_property
    def endpoint(self) -> Endpoint:
        """The model, identified by the digest of its file and the engine that runs it."""
        identity = self.adapted(f"gguf:{self._digest} {engine_identity()}")
        return Endpoint(self.model, identity=identity, serve=self._serve)

    def check(self, services: Services) -> None:
        """Raise if the model file or the package that runs it is missing."""
        if not services.calls.replay_only:
            self._require_file()
            path = check_runnable(self.model)
            if self.found_adapter:
                _ = self._digest
                gguf_adapter(self.found_adapter, path)

    def _require_file(self) -> None:
        folder = Path(self.model).expanduser()
        if folder.is_dir() and not any(folder.glob("*.gguf")):
            raise ConfigError(
                f"local runs a GGUF file, and the model {self.model!r} is a folder; give a GGUF "
                "copy of it (model=FILE.gguf), or use the generator hf",
                key="model",
                value=self.model,
            )

    def _serve(self) -> ServerPool:
        return local_servers(
            self.model,
            workers=self.workers,
            context_tokens=self.context_tokens,
            adapter=self.found_adapter,
        )
