"""A model run by vLLM's offline engine in this process, on a GPU."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final

from ragstone.calls.client import Calls
from ragstone.calls.types import AttemptError, Endpoint, Reply, Request, Sampling, TokenLogprob
from ragstone.components.generators.llm_base import Asking
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.environment import require
from ragstone.core.fingerprint import fingerprint
from ragstone.core.prompts import (
    CLOSED_BOOK_SYSTEM,
    CLOSED_BOOK_USER,
    WITH_CONTEXT_SYSTEM,
    WITH_CONTEXT_USER,
)
from ragstone.errors import ConfigError
from ragstone.models.in_process import Answer, TextModel, draw_seed, hold, in_process, refuse
from ragstone.models.locate import find_model, weights_digest

_TAKES: Final = frozenset({"json_schema", "grammar", "extra"})


@dataclass(frozen=True)
class Vllm(Asking):
    """Answers with a model that vLLM runs, many prompts at once.

    vLLM batches as it sees fit, so a greedy answer may change in the last digits of its arithmetic
    with what is answered beside it; VLLM_BATCH_INVARIANT=1 in the environment prevents that on
    GPUs that vLLM lists.

    Args:
        model: the path of a folder or of a GGUF file, or a hub's name.
        hub_revision: a commit, tag or branch of the hub.
        dtype: of weights and arithmetic; `auto` takes what the model's configuration says.
        context_tokens: room for prompt and answer; the model's own where it is None.
        options: further arguments of `vllm.LLM`, for example `{tensor_parallel_size: 2}`.
        at_once: prompts handed to the engine together.
        extra: further arguments of `vllm.SamplingParams`, for example `{top_k: 20}`.
        budget: tokens for history and passages; what does not fit is dropped, and noted.
    """

    model: str
    hub_revision: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    dtype: str = field(default="auto", metadata=NOT_IN_CACHE_KEY)
    context_tokens: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict, metadata=NOT_IN_CACHE_KEY)
    at_once: int = field(default=256, metadata=NOT_IN_CACHE_KEY)
    temperature: float = 0.0
    top_p: float | None = None
    max_tokens: int = 256
    seed: int | None = None
    stop: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    system: str = WITH_CONTEXT_SYSTEM
    user: str = WITH_CONTEXT_USER
    closed_book_system: str = CLOSED_BOOK_SYSTEM
    closed_book_user: str = CLOSED_BOOK_USER
    budget: int | None = None
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check templates and sizes before anything is run."""
        self.prompts.check()
        if self.at_once < 1 or self.max_tokens < 1:
            raise ConfigError(
                f"at_once and max_tokens start at 1, found {self.at_once} and {self.max_tokens}"
            )

    @property
    def revision(self) -> str:
        """The model's identity: digest of the weights, type and options."""
        return self.endpoint.identity

    @cached_property
    def sampling(self) -> Sampling:
        """How replies are drawn."""
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_tokens,
            seed=self.seed,
            stop=self.stop,
            extra=self.extra,
        )

    @cached_property
    def endpoint(self) -> Endpoint:
        """The model, known by the bytes of its files and the options it is run with."""
        digest = weights_digest(self.model, self.hub_revision, extra="vllm")
        return Endpoint(
            self.model,
            identity=f"vllm:{digest}:{self.dtype}:{fingerprint(self.options)[:16]}",
            client=lambda endpoint, pace: in_process(endpoint, pace, self._load, self.at_once),
            concurrency=2 * self.at_once,
        )

    def check(self, calls: Calls) -> None:
        """Raise unless vLLM and the model are there."""
        if not calls.replay_only:
            require("a model run by vLLM", "vllm", "vllm")
            find_model(self.model, self.hub_revision, extra="vllm")

    def _load(self) -> TextModel:
        require("a model run by vLLM", "vllm", "vllm")
        path = find_model(self.model, self.hub_revision, extra="vllm")
        arguments = engine_arguments(str(path), self.dtype, self.context_tokens, self.options)
        return hold(("vllm", repr(arguments)), lambda: VllmModel(self.model, arguments))


class VllmModel:
    """vLLM's engine; `arguments` are those of `vllm.LLM`."""

    def __init__(self, name: str, arguments: Mapping[str, Any]) -> None:
        import vllm

        self.name = name
        self.engine = vllm.LLM(**arguments)
        self.tokenizer = self.engine.get_tokenizer()
        self.context_tokens = int(self.engine.llm_engine.model_config.max_model_len)

    def close(self) -> None:
        """Give back the memory."""
        del self.engine
        gc.collect()

    def answer(self, requests: Sequence[Request], go_on: Callable[[], bool]) -> list[Answer]:
        """Return how each request ended, in order."""
        from vllm import SamplingParams
        from vllm.sampling_params import StructuredOutputsParams

        prompts = [self._prompt(request) for request in requests]
        drawn = []
        for request, prompt in zip(requests, prompts, strict=True):
            if not isinstance(prompt, AttemptError):
                given, form = sampling_arguments(request)
                if form:
                    given["structured_outputs"] = StructuredOutputsParams(**form)
                drawn.append(SamplingParams(**given))
        sent = [{"prompt_token_ids": p[1]} for p in prompts if not isinstance(p, AttemptError)]
        made = iter(self.engine.generate(sent, drawn, use_tqdm=False) if sent else ())
        return [
            p if isinstance(p, AttemptError) else read_output(next(made), p[0], self.name)
            for p in prompts
        ]

    def _prompt(self, request: Request) -> tuple[str, list[int]] | AttemptError:
        """Return the rendered prompt and its tokens; special ones stand in the text already."""
        refuse(request.sampling, self.name, takes=_TAKES)
        messages = [{"role": role, "content": text} for role, text in request.messages]
        rendered = self.tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )
        ids = self.tokenizer(rendered, add_special_tokens=False)["input_ids"]
        if len(ids) >= self.context_tokens:
            return AttemptError(
                f"the prompt has {len(ids)} tokens, longer than the context of {self.name} "
                f"({self.context_tokens}); give fewer or shorter passages"
            )
        return rendered, list(ids)


def engine_arguments(
    path: str, dtype: str, context_tokens: int | None, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of `vllm.LLM`.

    >>> engine_arguments("/models/m", "auto", 4096, {"tensor_parallel_size": 2})["max_model_len"]
    4096
    """
    room = {} if context_tokens is None else {"max_model_len": context_tokens}
    return {"model": path, "dtype": dtype, "seed": 0, **room, **options}


def sampling_arguments(request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arguments of `vllm.SamplingParams`, and of its `StructuredOutputsParams`.

    >>> sampling_arguments(Request((("user", "Hi"),), Sampling(max_tokens=8, stop=(".",))))
    ({'temperature': 0.0, 'max_tokens': 8, 'stop': ['.']}, {})
    """
    sampling = request.sampling
    given: dict[str, Any] = {
        "temperature": sampling.temperature or 0.0,
        "max_tokens": sampling.max_tokens,
    }
    if given["temperature"]:
        given["seed"] = draw_seed(request)
    if sampling.top_p is not None:
        given["top_p"] = sampling.top_p
    if sampling.stop:
        given["stop"] = list(sampling.stop)
    if sampling.logprobs is not None:
        given["logprobs"] = sampling.logprobs
    form: dict[str, Any] = {}
    if sampling.json_schema is not None:
        form["json"] = dict(sampling.json_schema)
    elif sampling.grammar:
        form["grammar"] = sampling.grammar
    return given | dict(sampling.extra), form


def read_output(output: Any, rendered: str, name: str, wanted: int | None = None) -> Reply:
    """Return the reply that a `vllm.RequestOutput` holds, with so many alternatives a token."""
    written = output.outputs[0]
    return Reply(
        text=written.text,
        finish_reason=str(written.finish_reason or ""),
        tokens_in=len(output.prompt_token_ids),
        tokens_out=len(written.token_ids),
        logprobs=tuple(
            _logprob(token, reported, wanted or 0)
            for token, reported in zip(written.token_ids, written.logprobs or (), strict=False)
        ),
        served_by=f"{name} (vllm)",
        rendered=rendered,
    )


def _logprob(token: int, reported: Mapping[int, Any], wanted: int) -> TokenLogprob:
    """Return a token's log-probability; vLLM reports it beside the likeliest, by token."""
    ranked = sorted(reported.items(), key=lambda pair: -pair[1].logprob)
    chosen = reported[token]
    top = tuple((str(v.decoded_token), float(v.logprob)) for _, v in ranked[:wanted])
    return TokenLogprob(str(chosen.decoded_token), float(chosen.logprob), top)
