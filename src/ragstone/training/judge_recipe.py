"""The training file of `ragstone train judge`: a label by people, and the texts it is read from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from ragstone.models.text_classifier import Pooling
from ragstone.training.recipe import Count, Method, Optim, Recipe, Share


@dataclass(frozen=True, kw_only=True)
class JudgeOptim(Optim):
    """The optimisation, with the epochs that a few hundred labels need."""

    epochs: Annotated[float, Field(gt=0)] = 8.0
    batch: Count | None = 16
    patience: Count | None = 3
    weight_decay: Annotated[float, Field(ge=0)] = 0.01


@dataclass(frozen=True, kw_only=True)
class JudgeRecipe(Recipe):
    """The keys of `ragstone train judge`."""

    base: str = "all-minilm-l6-v2"
    """An encoder of the BERT family, or with the key `judge` a causal language model."""
    method: Method = "full"
    property: str = ""
    """The rated property, or the label of the queries; "" for the only one."""
    input: str = ""
    """The texts that an encoder reads, such as `query + passages`; "": query, answer and passages
    of rated answers, the query of labelled queries."""
    positive: str = ""
    """The label whose value is 1; "": yes, or else the rarer one of two."""
    accept: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Answers that people rated with numbers are yes from this share of the scale on, else no."""
    judge: str = ""
    """The judge whose prompt a causal base learns to answer, such as `support`."""
    head_only: bool = False
    """Whether only the linear layer learns, and the encoder stays as it is."""
    pooling: Pooling = "mean"
    """The state that the linear layer reads: the mean of all tokens, or the first token's."""
    least: Count = 10
    """A label with fewer items is left out, with a note."""
    optim: JudgeOptim = field(default_factory=JudgeOptim)
    validation: Share = 0.2
    """Share of the items on which training stops, and on which the judge is calibrated."""
    test: Share = 0.3
    """Share of the items on which the judge is compared with people."""
    max_tokens: Count = 384
    """Longer inputs of an encoder are cut; longer prompts of a causal base are left out."""
