"""BERTScore of pairs of texts, from the hidden states of an encoder.

Zhang et al., "BERTScore", ICLR 2020; values equal those of the released package `bert-score` 0.3.13
without idf. transformers runs the encoders, except the bundled one. Tokens may be paired with the
special tokens `cls` and `sep`, but these are not counted, at any position of the text.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ragstone.components.metrics.greedy_matching import between_marks, greedy_match
from ragstone.components.metrics.precision_recall import Overlap
from ragstone.core import limits
from ragstone.core.environment import require
from ragstone.core.screen_text import cause_of
from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.locate import ENCODER, FROM_FILES, find_model
from ragstone.models.quiet import quiet

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Flags, Vectors
    from ragstone.models.onnx_encoder import Encoder

    TextPair = tuple[str, str]

_LOG: Final = logging.getLogger(__name__)

DEFAULT: Final = "microsoft/deberta-xlarge-mnli"
BUNDLED: Final = frozenset({"all-minilm-l6-v2"})
"""Encoders that run without torch."""
PLACES: Final = 512
"""Maximum tokens of a text, marks included; the rest of the text is cut."""


class Published(NamedTuple):
    """The layer of a model whose output is used, and the mean scores of unrelated texts there."""

    layer: int
    precision: float
    recall: float
    f1: float


PUBLISHED: Final[Mapping[str, Published]] = {
    DEFAULT: Published(40, 0.5169066, 0.5170288, 0.5150192)
}
"""From the baseline files of `bert-score` 0.3.13, English."""

_PREFIXED: Final = frozenset({"roberta", "gpt2"})
"""Models whose tokenizer must treat the first word like a word after a space."""


class States(NamedTuple):
    """One text: a row of length 1 per token, and flags of the rows that are not marks."""

    vectors: Vectors
    own: Flags


def bert_scores(
    pairs: Sequence[TextPair], model: str = DEFAULT, layer: int = 0, max_tokens: int = PLACES
) -> list[Overlap]:
    """Return BERTScore's precision, recall and F1 of pairs of answer and text, not rescaled.

    Args:
        pairs: answer, and gold answer or passage.
        model: a folder, the name of a bundled encoder, or a name on the hub.
        layer: the layer whose output is used, from 1; 0 is the published one, or the last layer of
            other models.
        max_tokens: longer texts are cut, with a warning that contains their number.

    Raises:
        MissingDependency: torch or transformers is not installed.
        ModelFileError: the model is missing, or transformers cannot load it.
        ConfigError: the model has no such layer.
    """
    return load(model, layer, max_tokens).scores(pairs)


def _chunks(pairs: Sequence[TextPair]) -> Iterator[list[TextPair]]:
    """Yield the pairs in order, with at most `ENCODED_TEXTS` different texts at a time."""
    chunk: list[TextPair] = []
    texts: set[str] = set()
    for pair in pairs:
        if chunk and len(texts | set(pair)) > limits.ENCODED_TEXTS:
            yield chunk
            chunk, texts = [], set()
        chunk.append(pair)
        texts |= set(pair)
    if chunk:
        yield chunk


@dataclass
class HeldStates:
    """The states of texts that later pairs need, so that each text is computed once."""

    later: dict[str, list[int]]
    """Stripped text -> the numbers of its pairs, the next one at the end."""
    held: dict[str, States] = field(default_factory=dict)

    @classmethod
    def of(cls, pairs: Sequence[TextPair]) -> HeldStates:
        """Return an empty one for pairs in this order, numbered from 0."""
        later: dict[str, list[int]] = {}
        for number in range(len(pairs) - 1, -1, -1):
            for text in pairs[number]:
                later.setdefault(text.strip(), []).append(number)
        return cls(later)

    def drop(self, done: int) -> None:
        """Drop the states that no pair after the first `done` needs.

        If more than `HELD_STATES` numbers are left, those that are needed last are dropped too.
        """
        for text in self.held:
            while self.later[text] and self.later[text][-1] < done:
                self.later[text].pop()
        needed = {text: uses[-1] for text in self.held if (uses := self.later[text])}
        kept, numbers = {}, 0
        for text in sorted(needed, key=needed.__getitem__):
            numbers += self.held[text].vectors.size
            if numbers > limits.HELD_STATES:
                break
            kept[text] = self.held[text]
        self.held = kept


def check_runnable(model: str, layer: int) -> None:
    """Raise `MissingDependency` or `ModelFileError` if the encoder cannot run on this machine."""
    if runs_bundled(model, layer):
        from ragstone.models.onnx_encoder import check_runnable as check_bundled

        check_bundled(model, "BERTScore")
    else:
        require("BERTScore", "hf", "torch", "transformers")


def runs_bundled(model: str, layer: int) -> bool:
    """Return whether ONNX Runtime runs an encoder: a bundled one, at its last layer."""
    return model in BUNDLED and layer == 0


@lru_cache(maxsize=1)
def load(model: str, layer: int, max_tokens: int) -> PairEncoder:
    """Return an encoder ready to run: a bundled one by ONNX Runtime, others by torch."""
    if runs_bundled(model, layer):
        return load_bundled(model, max_tokens)
    return _load_by_transformers(model, layer, max_tokens)


def load_bundled(model: str, max_tokens: int = PLACES) -> BundledEncoder:
    """Return a bundled encoder, or one from a folder with a BERT encoder's files."""
    return _load_bundled(model, max_tokens)


@lru_cache(maxsize=2)
def _load_bundled(model: str, max_tokens: int) -> BundledEncoder:
    from ragstone.components.embedders.minilm import load_minilm

    return BundledEncoder(encoder=load_minilm(model, "float32", max_tokens), limit=max_tokens)


def _load_by_transformers(model: str, layer: int, max_tokens: int) -> BertEncoder:
    """Return an encoder ready to run, on a GPU if torch finds one."""
    require("BERTScore", "hf", "torch", "transformers")
    import torch
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    folder = find_model(model, kind=ENCODER)
    try:
        with quiet():
            config = AutoConfig.from_pretrained(folder, **FROM_FILES)
            prefix = {"add_prefix_space": True} if config.model_type in _PREFIXED else {}
            tokenizer = AutoTokenizer.from_pretrained(folder, **FROM_FILES, **prefix)
            net = AutoModel.from_pretrained(folder, **FROM_FILES, dtype=torch.float32)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        raise ModelFileError(
            f"transformers cannot load the encoder {model!r} from {folder}: {cause_of(error)}"
        ) from error
    net = net.get_encoder() if config.is_encoder_decoder else net
    wanted = layer or (PUBLISHED[model].layer if model in PUBLISHED else config.num_hidden_layers)
    if not 1 <= wanted <= config.num_hidden_layers:
        raise ConfigError(
            f"the encoder {model!r} has layers 1 to {config.num_hidden_layers}, not {wanted}"
        )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    cut_above = _drop_layers(net, wanted, config.num_hidden_layers)
    return BertEncoder(
        tokenizer=tokenizer,
        net=net.to(device).eval(),
        device=device,
        limit=min(max_tokens, tokenizer.model_max_length, _positions(net)),
        layer=None if cut_above else wanted,
    )


@dataclass(eq=False, kw_only=True)
class PairEncoder:
    """An encoder that scores pairs of texts, each pair once."""

    limit: int
    """Maximum tokens of a text, marks included."""
    cut: set[bytes] = field(default_factory=set)
    """Digests of the texts that were longer."""
    remembered: dict[bytes, Overlap] = field(default_factory=dict)

    def scores(self, pairs: Sequence[TextPair]) -> list[Overlap]:
        """Return precision, recall and F1 of each pair, computed once per pair of texts."""
        before = len(self.cut)
        keys = [_key(pair) for pair in pairs]
        known = {key: self.remembered[key] for key in keys if key in self.remembered}
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in known}
        found = dict(zip(new, self._matched(list(new.values())), strict=True))
        if len(self.remembered) + len(found) > limits.CACHED_SCORES:
            self.remembered.clear()
        self.remembered.update(found)
        if more := len(self.cut) - before:
            _LOG.warning("BERTScore: %d texts cut after %d tokens", more, self.limit)
        known |= found
        return [known[key] for key in keys]

    def _matched(self, pairs: Sequence[TextPair]) -> Iterator[Overlap]:
        """Yield the scores of different pairs; each text is computed once if memory allows."""
        states, done = HeldStates.of(pairs), 0
        for chunk in _chunks(pairs):
            texts = dict.fromkeys(text.strip() for pair in chunk for text in pair)
            missing = [text for text in texts if text not in states.held]
            states.held |= self.states(missing) if missing else {}
            for answer, reference in chunk:
                ours, theirs = states.held[answer.strip()], states.held[reference.strip()]
                yield greedy_match(ours.vectors, theirs.vectors, (ours.own, theirs.own))
            done += len(chunk)
            states.drop(done)

    def states(self, texts: Sequence[str]) -> dict[str, States]:
        """Return stripped text -> its states."""
        raise NotImplementedError


@dataclass(eq=False, kw_only=True)
class BundledEncoder(PairEncoder):
    """A bundled encoder, which needs no torch and computes each text alone."""

    encoder: Encoder

    def states(self, texts: Sequence[str]) -> dict[str, States]:
        """Return stripped text -> its states."""
        stripped = list(dict.fromkeys(text.strip() for text in texts))
        computed = self.encoder.run_all(stripped, "tokens", None)
        found = {}
        for text, rows in zip(stripped, computed, strict=True):
            length = np.linalg.norm(rows, axis=1, keepdims=True)
            unit = rows / np.maximum(length, np.finfo(np.float32).tiny)
            found[text] = States(unit, between_marks(len(rows)))
        return found


@dataclass(eq=False, kw_only=True)
class BertEncoder(PairEncoder):
    """A tokenizer and a model that transformers loaded."""

    tokenizer: Any
    net: Any
    device: str
    layer: int | None
    """The layer whose output is used; None for the last one that was kept."""

    def states(self, texts: Sequence[str]) -> dict[str, States]:
        """Return stripped text -> its states."""
        tokens = {text: self._tokens(text) for text in {text.strip() for text in texts}}
        found = {}
        for batch in _batches(sorted(tokens, key=lambda text: (len(tokens[text]), text)), tokens):
            rows = self._run([tokens[text] for text in batch])
            marks = [self.tokenizer.cls_token_id, self.tokenizer.sep_token_id]
            for text, vectors in zip(batch, rows, strict=True):
                own = np.array([token not in marks for token in tokens[text]], dtype=bool)
                found[text] = States(vectors, own)
        return found

    def _tokens(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, verbose=False)["input_ids"]
        if len(ids) <= self.limit:
            return ids
        self.cut.add(_digest(text))
        kept: list[int] = self.tokenizer(text, truncation=True, max_length=self.limit)["input_ids"]
        return kept

    def _run(self, rows: Sequence[Sequence[int]]) -> list[Vectors]:
        import torch

        longest = max(map(len, rows))
        if not longest:  # a tokenizer without marks, and nothing but blank texts
            return [np.zeros((0, 1), dtype=np.float32) for _ in rows]
        pad = self.tokenizer.pad_token_id or 0
        ids = torch.tensor([[*row, *[pad] * (longest - len(row))] for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
        with torch.inference_mode():
            made = self.net(
                input_ids=ids.to(self.device),
                attention_mask=mask.to(self.device),
                output_hidden_states=self.layer is not None,
            )
            last = made.last_hidden_state if self.layer is None else made.hidden_states[self.layer]
            vectors = torch.nn.functional.normalize(last.float(), dim=-1).cpu().numpy()
        return [vectors[i, : len(row)].copy() for i, row in enumerate(rows)]


def _batches(ordered: Sequence[str], tokens: Mapping[str, Sequence[int]]) -> Iterator[list[str]]:
    """Yield the texts in order, with at most `ENCODER_BATCH_TOKENS` tokens at a time."""
    batch: list[str] = []
    for text in ordered:
        if batch and len(tokens[text]) * (len(batch) + 1) > limits.ENCODER_BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


def _key(pair: TextPair) -> bytes:
    return b"".join(_digest(text.strip()) for text in pair)


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _drop_layers(net: Any, layer: int, layers: int) -> bool:
    """Remove the layers above a layer, which would cost time; return whether that was possible."""
    import torch

    stacks = [m for m in net.modules() if isinstance(m, torch.nn.ModuleList) and len(m) == layers]
    if len(stacks) == 1:
        del stacks[0][layer:]
    return len(stacks) == 1


def _positions(net: Any) -> int:
    """Return the number of positions that a model has learnt, or 1e9 if they are relative."""
    table = getattr(getattr(net, "embeddings", None), "position_embeddings", None)
    if table is None:
        return int(1e9)
    # RoBERTa counts its positions from the one after the padding.
    return int(table.num_embeddings) - (0 if table.padding_idx is None else table.padding_idx + 1)
