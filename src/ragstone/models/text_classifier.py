"""A classifier of texts: an encoder and a linear layer on its pooled states.

Its folder has `classifier.json` (the facts below), `head.safetensors`, and the encoder as
transformers saves it. If only the linear layer was trained, the encoder is that of the base, whose
digest must be the same. The input is [CLS] text [SEP] text [SEP] ...; the last text is the second
segment of a BERT.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from ragstone.core import limits
from ragstone.core.environment import require
from ragstone.core.screen_text import cause_of
from ragstone.core.step_notes import add_note
from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.locate import ENCODER, FROM_FILES, files_digest, find_model, weights_digest
from ragstone.models.quiet import quiet

if TYPE_CHECKING:
    import numpy.typing as npt

    Scores: TypeAlias = npt.NDArray[np.float64]

Pooling: TypeAlias = Literal["mean", "cls"]
FILE: Final = "classifier.json"
HEAD: Final = "head.safetensors"
_FILES: Final = (FILE, HEAD, "model*.safetensors", "config.json", "tokenizer*", "vocab*", "*.model")


@dataclass(frozen=True, kw_only=True)
class ClassifierFacts:
    """What a trained classifier decides, and how it reads its input."""

    name: str
    """The name of the label, which is that of the metric."""
    labels: tuple[str, ...]
    positive: str
    """The label whose value is 1."""
    inputs: tuple[str, ...]
    """The texts of the input, such as query, answer and passages."""
    base: str
    base_digest: str
    max_tokens: int
    pooling: Pooling = "mean"
    has_encoder: bool = True
    """Whether the folder has an encoder of its own."""
    judge: str = ""
    """The judge whose prompt a causal base answers; "" for an encoder."""
    temperature: float = 1.0
    """The scores are divided by it, so that their softmax is a calibrated probability."""
    threshold: float = 0.5
    """Of two labels, the positive one is chosen from this probability on."""

    @property
    def is_binary(self) -> bool:
        """Whether there are two labels."""
        return len(self.labels) == 2  # noqa: PLR2004 - yes and no


def is_classifier(model: str) -> bool:
    """Return whether a name is the folder of a trained classifier."""
    return (Path(model).expanduser() / FILE).is_file()


def read_facts(folder: Path) -> ClassifierFacts:
    """Return the facts of a classifier's folder; raise `ModelFileError` if it has none."""
    path = folder.expanduser() / FILE
    if not path.is_file():
        raise ModelFileError(
            f"{folder} is not the folder of a trained classifier: it has no {FILE}; train one: "
            "ragstone train judge FILE"
        )
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return ClassifierFacts(
            **{**found, "labels": tuple(found["labels"]), "inputs": tuple(found["inputs"])}
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ModelFileError(f"{path} is not readable as facts of a classifier: {error}") from error


def write_facts(folder: Path, facts: ClassifierFacts) -> None:
    """Write the facts into the folder of a classifier."""
    text = json.dumps(asdict(facts), indent=2, ensure_ascii=False)
    (folder / FILE).write_text(text, encoding="utf-8")


def classifier_digest(folder: Path) -> str:
    """Return the digest of all files that decide the labels; the base's digest is in the facts."""
    return files_digest(folder.expanduser(), *_FILES)


class Encoded(NamedTuple):
    """The tokens of one input."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    is_cut: bool
    """Whether a text was cut."""


def encode(tokenizer: Any, texts: Sequence[str], most: int) -> Encoded:
    """Return the tokens of some texts; of a long input, the longest texts are cut at their ends."""
    parts = [tokenizer.encode(text, add_special_tokens=False, verbose=False) for text in texts]
    lengths = _fitting(list(map(len, parts)), most - 1 - len(parts))
    ids, segments = [tokenizer.cls_token_id], [0]
    for place, (part, length) in enumerate(zip(parts, lengths, strict=True)):
        ids += [*part[:length], tokenizer.sep_token_id]
        is_last = 0 < place == len(parts) - 1
        segments += [int(is_last)] * (length + 1)
    return Encoded(tuple(ids), tuple(segments), sum(lengths) < sum(map(len, parts)))


def _fitting(lengths: list[int], room: int) -> list[int]:
    """Return the lengths after the longest ones are shortened until all fit.

    >>> _fitting([300, 5, 10], 100), _fitting([3, 5], 100)
    ([85, 5, 10], [3, 5])
    """
    found = dict.fromkeys(range(len(lengths)), 0)
    for done, place in enumerate(sorted(found, key=lengths.__getitem__)):
        found[place] = min(lengths[place], max(0, room) // (len(lengths) - done))
        room -= found[place]
    return list(found.values())


def load_encoder(model: str | Path, device: str) -> tuple[Any, Any]:
    """Return the tokenizer and the encoder of a folder or a bundled or published model.

    Raises:
        MissingDependency: torch or transformers is not installed.
        ModelFileError: transformers cannot load the model, or its tokenizer has no marks of BERT.
    """
    require("a classifier of texts", "hf", "torch", "transformers")
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = find_model(str(model), kind=ENCODER)
    try:
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(folder, **FROM_FILES)
            net = AutoModel.from_pretrained(folder, **FROM_FILES, dtype=torch.float32)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        raise ModelFileError(
            f"transformers cannot load the encoder {str(model)!r} from {folder}: {cause_of(error)}"
        ) from error
    if None in (tokenizer.cls_token_id, tokenizer.sep_token_id):
        raise ModelFileError(
            f"the tokenizer of {str(model)!r} has no [CLS] and [SEP]; name an encoder of the BERT "
            "family, such as all-minilm-l6-v2"
        )
    return tokenizer, net.to(device)


def new_net(encoder: Any, labels: int, device: str) -> Any:
    """Return an encoder with a new linear layer, whose first scores are all 0.

    The zeros make the untrained classifier one that knows nothing: every label is equally likely.
    """
    import torch

    head = torch.nn.Linear(encoder.config.hidden_size, labels)
    torch.nn.init.zeros_(head.weight)
    torch.nn.init.zeros_(head.bias)
    return torch.nn.ModuleDict({"encoder": encoder, "head": head.to(device)})


def pooled(encoder: Any, inputs: Sequence[Encoded], padding: int, pooling: Pooling) -> Any:
    """Return the state of each input that the linear layer reads, shape (inputs, dimension)."""
    import torch

    longest = max(len(one.ids) for one in inputs)

    def padded(rows: Iterator[tuple[int, ...]], value: int = 0) -> Any:
        filled = [[*row, *[value] * (longest - len(row))] for row in rows]
        return torch.tensor(filled, device=encoder.device)

    mask = padded((1,) * len(one.ids) for one in inputs)
    named = {"input_ids": padded((one.ids for one in inputs), padding), "attention_mask": mask}
    if getattr(encoder.config, "type_vocab_size", 0) > 1:
        named["token_type_ids"] = padded(one.segments for one in inputs)
    states = encoder(**named).last_hidden_state
    if pooling == "cls":
        return states[:, 0]
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1)


def all_pooled(encoder: Any, inputs: Sequence[Encoded], padding: int, pooling: Pooling) -> Any:
    """Return the states of many inputs by an encoder that does not learn, batch by batch."""
    import torch

    encoder.eval()
    found = torch.zeros((len(inputs), encoder.config.hidden_size))
    with torch.no_grad():
        for places in _batches(inputs):
            batch = [inputs[place] for place in places]
            found[places] = pooled(encoder, batch, padding, pooling).float().cpu()
    return found


@dataclass(frozen=True)
class TextClassifier:
    """A trained classifier in memory."""

    facts: ClassifierFacts
    tokenizer: Any
    net: Any

    def scores(self, inputs: Sequence[Sequence[str]]) -> Scores:
        """Return the scores of the labels, shape (inputs, labels); a note counts cut inputs."""
        import torch

        encoded = [encode(self.tokenizer, texts, self.facts.max_tokens) for texts in inputs]
        add_note(f"inputs cut to {self.facts.max_tokens} tokens", sum(e.is_cut for e in encoded))
        padding = self.tokenizer.pad_token_id or 0
        states = all_pooled(self.net["encoder"], encoded, padding, self.facts.pooling)
        with torch.inference_mode():
            found: Scores = (
                self.net["head"](states.to(self.net["head"].weight.device)).cpu().double().numpy()
            )
        return found

    def probabilities(self, inputs: Sequence[Sequence[str]]) -> Scores:
        """Return the calibrated probabilities of the labels, shape (inputs, labels)."""
        return probabilities(self.scores(inputs), self.facts.temperature)


def probabilities(scores: Scores, temperature: float) -> Scores:
    """Return the softmax of scores that are divided by a temperature, row by row.

    >>> probabilities(np.array([[0.0, 0.0]]), 2.0).tolist()
    [[0.5, 0.5]]
    """
    scaled = scores / temperature
    powers: Scores = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    shares: Scores = powers / powers.sum(axis=1, keepdims=True)
    return shares


def chosen(shares: Scores, facts: ClassifierFacts) -> list[str]:
    """Return the label of each row: of two labels by the threshold, of more the likeliest one."""
    if not facts.is_binary:
        return [facts.labels[place] for place in shares.argmax(axis=1)]
    yes = facts.labels.index(facts.positive)
    return [facts.labels[yes if row[yes] >= facts.threshold else 1 - yes] for row in shares]


def _batches(inputs: Sequence[Encoded]) -> Iterator[list[int]]:
    """Yield places by length, with at most `ENCODER_BATCH_TOKENS` tokens at a time."""
    batch: list[int] = []
    for place in sorted(range(len(inputs)), key=lambda one: len(inputs[one].ids)):
        if batch and len(inputs[place].ids) * (len(batch) + 1) > limits.ENCODER_BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def save_classifier(folder: Path, facts: ClassifierFacts, tokenizer: Any, net: Any) -> None:
    """Write a classifier; its encoder too, unless it is that of the base."""
    from safetensors.torch import save_file

    head = net["head"].state_dict()
    save_file({name: one.contiguous().cpu() for name, one in head.items()}, folder / HEAD)
    if facts.has_encoder:
        net["encoder"].save_pretrained(folder, safe_serialization=True)
        tokenizer.save_pretrained(folder)
    write_facts(folder, facts)


def load_classifier_folder(folder: Path, device: str) -> TextClassifier:
    """Return the classifier of a folder, ready to run; from memory if its files are the same.

    Args:
        folder: the output of `ragstone train judge` with an encoder as base.
        device: the kind of device that it runs on.

    Raises:
        MissingDependency: torch or transformers is not installed.
        ModelFileError: a file is missing or malformed.
        ConfigError: the base is not the one of the training, or is a causal language model.
    """
    facts = read_facts(folder)
    if facts.judge:
        raise ConfigError(
            f"{folder} is an adapter of the causal model {facts.base!r} for the judge "
            f"{facts.judge!r}; write that judge with it: {{name: {facts.judge}, method: logprob, "
            f"explain: false, model: {{name: hf, model: {facts.base}, adapter: {folder}}}}}",
            value=str(folder),
        )
    if not facts.has_encoder and weights_digest(facts.base, kind=ENCODER) != facts.base_digest:
        raise ConfigError(
            f"{folder} was trained on another {facts.base!r}, of digest {facts.base_digest[:12]}; "
            "train it again, or bring back the base",
            value=facts.base,
        )
    return _loaded(folder, classifier_digest(folder), facts, device)


@lru_cache(maxsize=2)
def _loaded(folder: Path, _digest: str, facts: ClassifierFacts, device: str) -> TextClassifier:
    """Return the classifier of a folder, again from its files if their digest is another one."""
    tokenizer, encoder = load_encoder(folder if facts.has_encoder else facts.base, device)
    net = new_net(encoder, len(facts.labels), device)
    from safetensors.torch import load_file

    try:
        net["head"].load_state_dict(load_file(folder / HEAD))
    except (OSError, RuntimeError) as error:
        raise ModelFileError(f"{folder / HEAD} does not fit the encoder: {error}") from error
    return TextClassifier(facts, tokenizer, net.eval())
