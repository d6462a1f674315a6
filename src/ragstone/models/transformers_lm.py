"""A causal language model run by transformers.

`generate` of transformers runs the model. The token of each request is chosen here, because a batch
has one `GenerationConfig` but each request has its own random numbers, temperature, length and stop
strings. The model's `generation_config.json` contributes its end tokens alone: no penalty and no
top-k of that file takes effect.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragstone.calls.types import AttemptError, Reply, Request, TokenLogprob
from ragstone.core import limits
from ragstone.models.adapters import Adapter
from ragstone.models.causal_lm import Quantization, add_adapter, load_causal_lm
from ragstone.models.in_process import Answer, draw_seed, refuse_unsupported, too_long


@dataclass(eq=False)
class _Row:
    """One request of a batch."""

    request: Request
    rendered: str
    ids: list[int]
    max_tokens: int
    random: Any
    """The request's own generator of random numbers."""
    tokens: list[int] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    finish: str = ""
    """Why the row has ended; "" until then."""
    stopped: str | None = None
    """The text before a stop string; None if there is none so far."""


class HfModel:
    """A tokenizer and a model in memory.

    Args:
        path: a GGUF file, or a folder as transformers saves it.
        name: the model's name in messages.
        device: kind of device.
        dtype: number type of weights and arithmetic.
        adapter: a LoRA adapter that is added to the model.
        quantization: number type to which the weights are rounded.
        max_input_tokens: longer prompts are failed calls.
        own_code: whether the code of the model's folder may run (see `own_code`).

    Raises:
        MissingDependency: a package is not installed.
        ModelFileError: transformers cannot load the model, or the adapter does not fit it.
        ConfigError: the model has no chat template.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        device: str,
        dtype: str,
        *,
        adapter: Adapter | None = None,
        quantization: Quantization | None = None,
        max_input_tokens: int | None = None,
        own_code: bool = False,
    ) -> None:
        from transformers import GenerationConfig

        self.name, self.device, self.dtype = name, device, dtype
        self.max_input_tokens, self.own_code = max_input_tokens, own_code
        self.tokenizer, model = self._load(path, adapter, quantization)
        self.model = model.eval()
        text_config = self.model.config.get_text_config()
        places = getattr(text_config, "max_position_embeddings", None)
        self.context_tokens = places or limits.UNKNOWN_CONTEXT_TOKENS
        self._ends = _end_tokens(self.model, self.tokenizer)
        self.model.generation_config = GenerationConfig()

    def _load(
        self, path: Path, adapter: Adapter | None, quantization: Quantization | None
    ) -> tuple[Any, Any]:
        """Return the tokenizer and the model, with the adapter on it."""
        tokenizer, model = load_causal_lm(
            path, self.name, self.device, self.dtype, quantization, own_code=self.own_code
        )
        return tokenizer, add_adapter(model, adapter).get_base_model() if adapter else model

    def close(self) -> None:
        """Free the memory."""
        del self.model
        gc.collect()
        if self.device == "cuda":
            import torch

            torch.cuda.empty_cache()

    def answer(self, requests: Sequence[Request], go_on: Callable[[], bool]) -> list[Answer]:
        """Return one answer per request, in order; stop early once `go_on()` is false."""
        rows = [self._row(request) for request in requests]
        if running := [row for row in rows if isinstance(row, _Row)]:
            self._generate(running, go_on)
        return [self._reply(row) if isinstance(row, _Row) else row for row in rows]

    def _row(self, request: Request) -> _Row | AttemptError:
        import torch
        from jinja2 import TemplateError

        refuse_unsupported(request.sampling, self.name)
        try:
            rendered, ids = self._rendered(request)
        except TemplateError as error:
            return AttemptError(f"the chat template of {self.name} rejects the messages: {error}")
        left = self._room(len(ids))
        if problem := too_long(len(ids), self.name, self.context_tokens, self.max_input_tokens):
            return problem
        wanted = request.sampling.max_tokens
        random = torch.Generator().manual_seed(draw_seed(request))
        return _Row(request, rendered, ids, left if wanted is None else min(wanted, left), random)

    def _rendered(self, request: Request) -> tuple[str, list[int]]:
        """Return the text that the model reads, and its tokens."""
        messages = [{"role": role, "content": text} for role, text in request.messages]
        rendered = self.tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )
        # The template has written the special tokens already.
        return rendered, list(self.tokenizer(rendered, add_special_tokens=False)["input_ids"])

    def _room(self, prompt_tokens: int) -> int:
        """Return the maximum tokens of a reply after a prompt."""
        return self.context_tokens - prompt_tokens

    @property
    def _generation(self) -> Mapping[str, Any]:
        """The parameters that `generate` needs for this kind of model."""
        return {}

    def _generate(self, rows: Sequence[_Row], go_on: Callable[[], bool]) -> None:
        """Generate until every row has ended; prompts are padded on the left."""
        import torch
        from transformers import GenerationConfig, LogitsProcessorList, StoppingCriteriaList

        def only_chosen(_: Any, scores: Any) -> Any:
            own = zip(rows, scores.float().cpu(), strict=True)
            chosen = torch.tensor([[self._next_token(row, values)] for row, values in own])
            return torch.full_like(scores, -torch.inf).scatter_(1, chosen.to(scores.device), 0.0)

        def ended(ids: Any, *_: Any, **__: Any) -> Any:
            return torch.tensor([bool(row.finish) or not go_on() for row in rows]).to(ids.device)

        longest = max(len(row.ids) for row in rows)
        gaps = [longest - len(row.ids) for row in rows]
        padded = torch.tensor([[0] * gap + row.ids for gap, row in zip(gaps, rows, strict=True)])
        most = max(row.max_tokens for row in rows)
        mask = torch.tensor([[0] * gap + [1] * (longest - gap) for gap in gaps])
        self.model.generate(
            padded.to(self.device),
            attention_mask=mask.to(self.device),
            generation_config=GenerationConfig(max_new_tokens=most, **self._generation),
            logits_processor=LogitsProcessorList([only_chosen]),
            stopping_criteria=StoppingCriteriaList([ended]),
        )

    def _next_token(self, row: _Row, scores: Any) -> int:
        """Return a row's next token and record it; `scores` has shape (vocabulary,)."""
        token = _chosen(row, scores)
        if row.finish:
            return token
        row.tokens.append(token)
        if token in self._ends:
            row.finish = "stop"
            return token
        alternatives = row.request.sampling.logprobs
        if alternatives is not None:
            row.logprobs.append(self._logprob(token, scores, alternatives))
        row.stopped = self._before_stop(row)
        if row.stopped is not None:
            row.finish = "stop"
        elif len(row.tokens) >= row.max_tokens:
            row.finish = "length"
        return token

    def _before_stop(self, row: _Row) -> str | None:
        """Return the text before the first stop string; None if there is none so far."""
        stops = [stop for stop in row.request.sampling.stop if stop]
        text = self._text(row.tokens) if stops else ""
        found = [position for stop in stops if (position := text.find(stop)) >= 0]
        return text[: min(found)] if found else None

    def _logprob(self, token: int, scores: Any, alternatives: int) -> TokenLogprob:
        """Return a token's log-probability at temperature 1, as servers report it."""
        values = scores.double().log_softmax(-1)
        best = values.topk(alternatives)
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        top = tuple((self.tokenizer.decode([other]), value) for other, value in pairs)
        return TokenLogprob(self.tokenizer.decode([token]), float(values[token]), top)

    def _text(self, tokens: Sequence[int]) -> str:
        written = [token for token in tokens if token not in self._ends]
        return str(self.tokenizer.decode(written, skip_special_tokens=True))

    def _reply(self, row: _Row) -> Reply:
        import torch
        import transformers

        versions = f"transformers {transformers.__version__}, torch {torch.__version__}"
        return Reply(
            text=self._text(row.tokens) if row.stopped is None else row.stopped,
            finish_reason=row.finish,
            tokens_in=len(row.ids),
            tokens_out=len(row.tokens),
            logprobs=tuple(row.logprobs),
            served_by=f"{self.name} ({self.dtype}, {self.device}, {versions})",
            rendered=row.rendered,
        )


def _chosen(row: _Row, scores: Any) -> int:
    """Return the likeliest token, or one drawn with the row's own random numbers."""
    import torch

    sampling = row.request.sampling
    if not sampling.temperature:
        return int(scores.argmax())
    chances, order = (scores.double() / sampling.temperature).softmax(-1).sort(descending=True)
    if sampling.top_p is not None:
        # The token that crosses the bound belongs to the nucleus.
        chances = chances.masked_fill(chances.cumsum(-1) - chances >= sampling.top_p, 0.0)
    return int(order[torch.multinomial(chances, 1, generator=row.random)])


def _end_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    listed = model.generation_config.eos_token_id
    ends = listed if isinstance(listed, list) else [listed]
    return frozenset(end for end in (*ends, tokenizer.eos_token_id) if end is not None)
