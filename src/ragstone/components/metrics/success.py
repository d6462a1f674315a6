"""success@k: hit@k under the name that trec_eval and KILT use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragstone.components.metrics.hit import Hit


@dataclass(frozen=True)
class Success(Hit):
    """1 if a passage of grade `rel` or above is among the first k, else 0."""

    name: ClassVar[str] = "success"
    description: ClassVar[str] = Hit.description
