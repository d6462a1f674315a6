"""A model run by vLLM's offline engine in this process, on a GPU."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from ragstone.calls.types import AttemptError, Endpoint, Reply, Request, TokenLogprob
from ragstone.components.generators.weights_base import WeightsGenerator
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.fingerprint import fingerprint
from ragstone.core.screen_text import cause_of
from ragstone.errors import ConfigError, ModelFileError, RagstoneError
from ragstone.models.adapters import Adapter
from ragstone.models.in_process import (
    Answer,
    TextModel,
    draw_seed,
    in_process,
    load_once,
    refuse_unsupported,
    too_long,
)
from ragstone.models.locate import VLLM, find_model
from ragstone.models.own_code import needs_code

_RANKS: Final = (8, 16, 32, 64, 128, 256, 320, 512)
"""The values of max_lora_rank that every version of vLLM accepts."""
_CODE: Final = "trust_remote_code"
"""The argument that lets a model's own code run; vLLM names it in the error without it."""
_SUPPORTED: Final = frozenset({"json_schema", "grammar", "extra"})
_ENVIRONMENT: Final[Mapping[str, str]] = {
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",  # vLLM's default is the output of the command
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_HOST_IP": "127.0.0.1",  # else the engine listens on the address of this machine
}
"""Variable that vLLM reads when it is imported -> value, unless the environment has one."""


@dataclass(frozen=True)
class Vllm(WeightsGenerator):
    """Answers with a model that vLLM runs, many prompts at once.

    vLLM chooses its batches itself, so the last digits of the arithmetic, and sometimes a greedy
    answer, change with the other prompts of a batch. VLLM_BATCH_INVARIANT=1 in the environment
    prevents this on the GPUs that vLLM lists. Sampling, prompts and budget: see `LlmGenerator` and
    `SamplingGenerator`; adapter, quantization, max_input_tokens and model_code: see
    `WeightsGenerator`.

    Args:
        model: path of a folder or of a GGUF file, or name on the hub; without it the adapter's
            base.
        hub_revision: commit, tag or branch of the hub.
        dtype: number type of weights and arithmetic; `auto` takes that of the model's
            configuration.
        context_tokens: maximum length of prompt and answer together, in tokens; None takes the
            model's own.
        options: further arguments of `vllm.LLM`, for example `{tensor_parallel_size: 2}`.
        at_once: maximum number of prompts per call of the engine.
        extra: further arguments of `vllm.SamplingParams`, for example `{top_k: 20}`.
    """

    model: str = ""
    hub_revision: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    dtype: str = field(default="auto", metadata=NOT_IN_CACHE_KEY)
    context_tokens: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict, metadata=NOT_IN_CACHE_KEY)
    at_once: int = field(default=256, metadata=NOT_IN_CACHE_KEY)
    extra: Mapping[str, Any] = field(default_factory=dict)
    requires_extra = "vllm"
    sizes = ("max_tokens", "at_once", "max_input_tokens")
    default_model = ""
    kind = VLLM

    def __post_init__(self) -> None:
        """Raise `ConfigError` if vLLM cannot quantise so, or an option would run foreign code."""
        super().__post_init__()
        if _CODE in self.options:
            raise ConfigError(
                "options cannot have trust_remote_code: it would run the model's own code without "
                "its digest in the key; give the commit of that code as model_code, or serve the "
                "model by a program of its own and use endpoint",
                key="options",
            )
        if self.quantization == "int8":
            raise ConfigError(
                "vLLM rounds weights to 4 bit while it loads them, and not to 8; use int4, hf, or "
                "a folder whose weights are int8",
                key="quantization",
                value="int8",
            )

    def weights(self) -> str:
        """Return the digest; raise also if the adapter has features that vLLM would ignore."""
        if self.found_adapter:
            self.found_adapter.require_plain("vLLM")
        return super().weights()

    @cached_property
    def endpoint(self) -> Endpoint:
        """The model, identified by the digest of its files and the engine's options."""
        digest = self.weights()
        options = fingerprint(self.options)[:16]
        return Endpoint(
            self.model,
            identity=self.adapted(f"vllm:{digest}:{self.dtype}:{options}", self.quantization),
            client=lambda endpoint, pace: in_process(endpoint, pace, self._load, self.at_once),
            concurrency=2 * self.at_once,
        )

    def _load(self) -> TextModel:
        VLLM.require()
        path = find_model(self.model, self.hub_revision, self.files_kind)
        adapter = self.found_adapter
        arguments = engine_arguments(
            str(path),
            self.dtype,
            self.context_tokens,
            self.options,
            quantization=self.quantization,
            adapter=adapter,
            own_code=bool(self.model_code),
        )
        return load_once(
            ("vllm", repr(arguments), *self.loading),
            lambda: VllmModel(self.model, arguments, adapter, self.max_input_tokens),
        )


class VllmModel:
    """vLLM's engine; `name` is the model's name in messages."""

    def __init__(
        self,
        name: str,
        arguments: Mapping[str, Any],
        adapter: Adapter | None = None,
        max_input_tokens: int | None = None,
    ) -> None:
        for variable, value in _ENVIRONMENT.items():
            os.environ.setdefault(variable, value)
        import vllm

        self.name, self.max_input_tokens = name, max_input_tokens
        self.lora = _lora_request(adapter) if adapter else {}
        try:
            self.engine = vllm.LLM(**arguments)
        except (ValueError, RuntimeError, OSError) as error:
            raise _not_loaded(name, str(arguments["model"]), error) from error
        self.tokenizer = self.engine.get_tokenizer()
        self.context_tokens = int(self.engine.llm_engine.model_config.max_model_len)

    def close(self) -> None:
        """Free the memory."""
        del self.engine
        gc.collect()

    def answer(self, requests: Sequence[Request], go_on: Callable[[], bool]) -> list[Answer]:
        """Return one answer per request, in order; `go_on` is ignored."""
        prompts = [self._prompt(request) for request in requests]
        pairs = zip(requests, prompts, strict=True)
        sent = [(request, p) for request, p in pairs if not isinstance(p, AttemptError)]
        tokens = [{"prompt_token_ids": ids} for _, (_, ids) in sent]
        parameters = [_sampling_params(request) for request, _ in sent]
        made = self._generate(tokens, parameters) if sent else []
        replies = (
            read_output(output, rendered, self.name, request.sampling.logprobs or 0)
            for output, (request, (rendered, _)) in zip(made, sent, strict=True)
        )
        return [p if isinstance(p, AttemptError) else next(replies) for p in prompts]

    def _generate(self, tokens: Sequence[Any], parameters: Sequence[Any]) -> Sequence[Any]:
        outputs: Sequence[Any] = self.engine.generate(
            tokens, parameters, use_tqdm=False, **self.lora
        )
        return outputs

    def _prompt(self, request: Request) -> tuple[str, list[int]] | AttemptError:
        """Return the rendered prompt and its tokens."""
        refuse_unsupported(request.sampling, self.name, supported=_SUPPORTED)
        messages = [{"role": role, "content": text} for role, text in request.messages]
        rendered = self.tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )
        # The template has written the special tokens already.
        ids = self.tokenizer(rendered, add_special_tokens=False)["input_ids"]
        problem = too_long(len(ids), self.name, self.context_tokens, self.max_input_tokens)
        return problem or (rendered, list(ids))


def _not_loaded(name: str, path: str, error: Exception) -> RagstoneError:
    """Return the error for a model that vLLM cannot load."""
    if _CODE in str(error):
        return needs_code(name, _CODE)
    cause = cause_of(error)
    way = (
        "; vLLM 0.24 reads no GGUF files: use the generator local, or give a folder "
        "as transformers saves it"
        if path.endswith(".gguf")
        else "; the output of vLLM above has the cause if its engine did not start"
    )
    return ModelFileError(f"vLLM cannot load the model {name!r} from {path}: {cause}{way}")


def _lora_request(adapter: Adapter) -> dict[str, Any]:
    """Return the argument of `generate` that applies an adapter."""
    from vllm.lora.request import LoRARequest

    # The name, the number that tells adapters of one engine apart, and the folder.
    return {"lora_request": LoRARequest(adapter.digest[:12], 1, str(adapter.folder))}


def engine_arguments(
    path: str,
    dtype: str,
    context_tokens: int | None,
    options: Mapping[str, Any],
    *,
    quantization: str | None = None,
    adapter: Adapter | None = None,
    own_code: bool = False,
) -> dict[str, Any]:
    """Return the arguments of `vllm.LLM`.

    >>> engine_arguments("/models/m", "auto", 4096, {"tensor_parallel_size": 2})["max_model_len"]
    4096
    """
    more: dict[str, Any] = {}
    if context_tokens is not None:
        more["max_model_len"] = context_tokens
    if quantization:
        more["quantization"] = "bitsandbytes"
    if adapter:
        rank = next((one for one in _RANKS if one >= adapter.r), adapter.r)
        more |= {"enable_lora": True, "max_lora_rank": rank}
    if own_code:
        more[_CODE] = True
    return {"model": path, "dtype": dtype, "seed": 0, **more, **options}


def sampling_arguments(request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arguments of `vllm.SamplingParams`, and of its `StructuredOutputsParams`.

    >>> from ragstone.calls.types import chat
    >>> sampling_arguments(chat("Hi", max_tokens=8, stop=(".",)))
    ({'temperature': 0.0, 'max_tokens': 8, 'stop': ['.']}, {})
    """
    sampling = request.sampling
    given: dict[str, Any] = {
        "temperature": sampling.temperature or 0.0,
        "max_tokens": sampling.max_tokens,
    }
    optional = {
        "seed": draw_seed(request) if sampling.temperature else None,
        "top_p": sampling.top_p,
        "stop": list(sampling.stop) or None,
        "logprobs": sampling.logprobs,
    }
    given |= {name: value for name, value in optional.items() if value is not None}
    if sampling.json_schema is not None:
        return given | dict(sampling.extra), {"json": dict(sampling.json_schema)}
    form = {"grammar": sampling.grammar} if sampling.grammar else {}
    return given | dict(sampling.extra), form


def _sampling_params(request: Request) -> Any:
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    given, form = sampling_arguments(request)
    if form:
        given["structured_outputs"] = StructuredOutputsParams(**form)
    return SamplingParams(**given)


def read_output(output: Any, rendered: str, name: str, alternatives: int = 0) -> Reply:
    """Return the reply in a `vllm.RequestOutput`, with `alternatives` to each token.

    `rendered` is the prompt after the chat template.
    """
    written = output.outputs[0]
    return Reply(
        text=written.text,
        finish_reason=str(written.finish_reason or ""),
        tokens_in=len(output.prompt_token_ids),
        tokens_out=len(written.token_ids),
        logprobs=tuple(
            _logprob(token, reported, alternatives)
            for token, reported in zip(written.token_ids, written.logprobs or (), strict=False)
        ),
        served_by=f"{name} (vllm)",
        rendered=rendered,
    )


def _logprob(token: int, reported: Mapping[int, Any], alternatives: int) -> TokenLogprob:
    """Return a token's log-probability; vLLM reports it with those of the likeliest tokens."""
    ranked = sorted(reported.items(), key=lambda pair: -pair[1].logprob)
    chosen = reported[token]
    top = tuple((str(v.decoded_token), float(v.logprob)) for _, v in ranked[:alternatives])
    return TokenLogprob(str(chosen.decoded_token), float(chosen.logprob), top)
