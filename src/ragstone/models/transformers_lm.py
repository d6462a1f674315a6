"""A causal language model run by transformers, token by token.

Decoding is written out here rather than left to `generate`: each request keeps its own random
numbers, stop strings and length in a batch, and nothing that a model's `generation_config.json`
recommends (penalties, top-k) comes in unseen; of that file only the end tokens are taken.
"""

from __future__ import annotations

import gc
import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ragstone.calls.types import AttemptError, Reply, Request, TokenLogprob
from ragstone.core import limits
from ragstone.core.environment import require
from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.in_process import Answer, draw_seed, refuse

_PACKAGES: Final = ("torch", "transformers", "gguf", "accelerate")


@dataclass(eq=False)
class _Row:
    """One request on its way through the model."""

    request: Request
    rendered: str
    ids: list[int]
    room: int
    """Tokens that may be written."""
    draw: Any = None
    tokens: list[int] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    finish: str = ""
    cut: str | None = None
    """The text before a stop string, once there is one."""


def check_installed(packages: Sequence[str] = _PACKAGES) -> None:
    """Raise `MissingDependency` unless the packages are installed; imports nothing."""
    require("a model run by transformers", "hf", *packages)


class HfModel:
    """A tokenizer and a model in memory.

    Args:
        path: a GGUF file, or a folder as transformers saves it.
        name: for messages.
        device: as torch names it.
        dtype: of the weights and of the arithmetic.
    """

    def __init__(self, path: Path, name: str, device: str, dtype: str) -> None:
        check_installed()
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.name, self.device, self.dtype = name, device, dtype
        folder = path.parent if path.is_file() else path
        given = {"gguf_file": path.name} if path.is_file() else {}
        try:
            with _quiet():
                self.tokenizer = AutoTokenizer.from_pretrained(
                    folder, local_files_only=True, **given
                )
                kind = {"dtype": getattr(torch, dtype), "local_files_only": True, **given}
                model = AutoModelForCausalLM.from_pretrained(folder, **kind)
                self.model = model.to(device).eval()
        except (OSError, ValueError, KeyError, RuntimeError, AssertionError) as error:
            raise ModelFileError(
                f"transformers cannot load the model {name!r} from {path} on {device!r}: "
                f"{' '.join(str(error).split())[: limits.MAX_CAUSE_CHARACTERS]}"
            ) from error
        if not self.tokenizer.chat_template:
            raise ConfigError(
                f"the model {name!r} has no chat template, so chat messages cannot be written for "
                "it; take an instruction-tuned model, or put a chat_template.jinja into its folder"
            )
        text_config = self.model.config.get_text_config()
        places = getattr(text_config, "max_position_embeddings", None)
        self.context_tokens = places or limits.UNKNOWN_CONTEXT_TOKENS
        self._ends = _end_tokens(self.model, self.tokenizer)
        self._accepted = _parameters(self.model.forward)

    def close(self) -> None:
        """Give back the memory."""
        del self.model
        gc.collect()
        if self.device == "cuda":
            import torch

            torch.cuda.empty_cache()

    def render(self, request: Request) -> str:
        """Return the prompt as the chat template writes it."""
        messages = [{"role": role, "content": text} for role, text in request.messages]
        return str(
            self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        )

    def tokens(self, rendered: str) -> list[int]:
        """Return the tokens of a rendered prompt: special ones stand in it already."""
        return list(self.tokenizer(rendered, add_special_tokens=False)["input_ids"])

    def answer(self, requests: Sequence[Request], go_on: Callable[[], bool]) -> list[Answer]:
        """Return how each request ended, in order."""
        rows = [self._row(request) for request in requests]
        live = [row for row in rows if isinstance(row, _Row)]
        if live:
            self._generate(live, go_on)
        return [self._reply(row) if isinstance(row, _Row) else row for row in rows]

    def _row(self, request: Request) -> _Row | AttemptError:
        import torch
        from jinja2 import TemplateError

        refuse(request.sampling, self.name)
        try:
            rendered = self.render(request)
        except TemplateError as error:
            return AttemptError(f"the chat template of {self.name} refuses the messages: {error}")
        ids = self.tokens(rendered)
        left = self.context_tokens - len(ids)
        if left < 1:
            return AttemptError(
                f"the prompt has {len(ids)} tokens, longer than the context of {self.name} "
                f"({self.context_tokens}); give fewer or shorter passages"
            )
        draw = torch.Generator().manual_seed(draw_seed(request))
        wanted = request.sampling.max_tokens
        return _Row(request, rendered, ids, left if wanted is None else min(wanted, left), draw)

    def _generate(self, rows: Sequence[_Row], go_on: Callable[[], bool]) -> None:
        """Write tokens until every row has ended; prompts are padded on the left."""
        import torch

        longest = max(len(row.ids) for row in rows)
        pad = next(iter(self._ends), 0)
        step = torch.tensor([[pad] * (longest - len(row.ids)) + row.ids for row in rows])
        mask = torch.tensor(
            [[0] * (longest - len(row.ids)) + [1] * len(row.ids) for row in rows]
        ).to(self.device)
        places = (mask.cumsum(-1) - 1).clamp(min=0)
        cache = None
        with torch.inference_mode():
            while go_on() and not all(row.finish for row in rows):
                given = {
                    "attention_mask": mask,
                    "position_ids": places,
                    "past_key_values": cache,
                    "use_cache": True,
                    "logits_to_keep": 1,
                }
                given = {name: value for name, value in given.items() if name in self._accepted}
                made = self.model(input_ids=step.to(self.device), **given)
                cache = made.past_key_values
                scores = made.logits[:, -1].float().cpu()
                step = torch.tensor([[self._take(row, scores[i])] for i, row in enumerate(rows)])
                mask = torch.cat([mask, mask.new_ones((len(rows), 1))], dim=1)
                places = places[:, -1:] + 1

    def _take(self, row: _Row, scores: Any) -> int:
        """Return a row's next token, of scores of shape (vocabulary,); note what ends the row."""
        token = _drawn(row, scores)
        if row.finish:
            return token
        row.tokens.append(token)
        if token in self._ends:
            row.finish = "stop"
            return token
        wanted = row.request.sampling.logprobs
        if wanted is not None:
            row.logprobs.append(self._logprob(token, scores, wanted))
        row.cut = self._before_stop(row)
        if row.cut is not None:
            row.finish = "stop"
        elif len(row.tokens) >= row.room:
            row.finish = "length"
        return token

    def _before_stop(self, row: _Row) -> str | None:
        """Return the text before the first stop string; None where there is none yet."""
        stops = [stop for stop in row.request.sampling.stop if stop]
        text = self._text(row.tokens) if stops else ""
        found = [place for stop in stops if (place := text.find(stop)) >= 0]
        return text[: min(found)] if found else None

    def _logprob(self, token: int, scores: Any, wanted: int) -> TokenLogprob:
        """Return a token's log-probability at temperature 1, as servers report it."""
        values = scores.double().log_softmax(-1)
        best = values.topk(wanted) if wanted else None
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True) if best else ()
        top = tuple((self.tokenizer.decode([other]), value) for other, value in pairs)
        return TokenLogprob(self.tokenizer.decode([token]), float(values[token]), top)

    def _text(self, tokens: Sequence[int]) -> str:
        written = [token for token in tokens if token not in self._ends]
        return str(self.tokenizer.decode(written, skip_special_tokens=True))

    def _reply(self, row: _Row) -> Reply:
        return Reply(
            text=self._text(row.tokens) if row.cut is None else row.cut,
            finish_reason=row.finish,
            tokens_in=len(row.ids),
            tokens_out=len(row.tokens),
            logprobs=tuple(row.logprobs),
            served_by=f"{self.name} ({self.dtype}, {self.device}, {_versions()})",
            rendered=row.rendered,
        )


def _drawn(row: _Row, scores: Any) -> int:
    """Return the likeliest token, or one drawn with the row's own random numbers."""
    import torch

    sampling = row.request.sampling
    if not sampling.temperature:
        return int(scores.argmax())
    chances, order = (scores.double() / sampling.temperature).softmax(-1).sort(descending=True)
    if sampling.top_p is not None:
        # The token that passes the bound still belongs to the nucleus.
        chances = chances.masked_fill(chances.cumsum(-1) - chances >= sampling.top_p, 0.0)
    return int(order[torch.multinomial(chances, 1, generator=row.draw)])


def _end_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    listed = model.generation_config.eos_token_id
    ends = listed if isinstance(listed, list) else [listed]
    return frozenset(end for end in (*ends, tokenizer.eos_token_id) if end is not None)


def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    import inspect

    return frozenset(inspect.signature(function).parameters)


def _versions() -> str:
    import torch
    import transformers

    return f"transformers {transformers.__version__}, torch {torch.__version__}"


@contextmanager
def _quiet() -> Iterator[None]:
    """Load without the bars and remarks of transformers: progress is shown by the calls."""
    from transformers.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        # The bar of unpacking a GGUF file knows no switch.
        with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(before)
