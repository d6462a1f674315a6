"""A model on this machine: the bundled one, or any GGUF file, served by llama.cpp."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from ragstone.calls.client import Calls
from ragstone.calls.types import Endpoint, Sampling, ServerPool
from ragstone.components.generators.llm_base import Asking
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.prompts import (
    CLOSED_BOOK_SYSTEM,
    CLOSED_BOOK_USER,
    WITH_CONTEXT_SYSTEM,
    WITH_CONTEXT_USER,
)
from ragstone.models.files import model_digest


@dataclass(frozen=True)
class Local(Asking):
    """Answers with a model file on this machine, greedily: the same prompt, the same answer.

    Servers are started when the first reply is wanted that is not kept, one worker process of one
    thread per core by default.

    Args:
        model: a bundled model's name, or the path of a GGUF file with a chat template.
        max_tokens: length of an answer at most.
        budget: tokens for history and passages; what does not fit is dropped, and noted.
        context_tokens: room for prompt and answer; a longer prompt is a failure that says so.
        workers: model processes; as many as the machine bears where it is None.
    """

    model: str = "smollm2-135m-instruct"
    max_tokens: int = 48
    stop: tuple[str, ...] = ()
    system: str = WITH_CONTEXT_SYSTEM
    user: str = WITH_CONTEXT_USER
    closed_book_system: str = CLOSED_BOOK_SYSTEM
    closed_book_user: str = CLOSED_BOOK_USER
    budget: int | None = None
    context_tokens: int = 4096
    workers: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the templates before anything is run."""
        self.prompts.check()

    @cached_property
    def revision(self) -> str:
        """SHA-256 of the model file."""
        return model_digest(self.model)

    @cached_property
    def sampling(self) -> Sampling:
        """How replies are drawn: greedily."""
        return Sampling(temperature=0.0, max_tokens=self.max_tokens, stop=self.stop)

    @cached_property
    def endpoint(self) -> Endpoint:
        """The model, known by its file's bytes wherever it is served."""
        return Endpoint(self.model, identity=f"gguf:{self.revision}", serve=self._serve)

    def check(self, calls: Calls) -> None:
        """Raise unless the model file is there and right, and the package that runs it."""
        from ragstone.models.llama_server import check_runnable

        if not calls.replay_only:
            check_runnable(self.model)

    def _serve(self) -> ServerPool:
        from ragstone.models.llama_server import local_servers

        return local_servers(self.model, workers=self.workers, context_tokens=self.context_tokens)
