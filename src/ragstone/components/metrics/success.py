"""success@k: hit@k under the name of trec_eval and KILT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragstone.components.metrics.hit import Hit


@dataclass(frozen=True)
class Success(Hit):
    """Hit at k under the name that trec_eval and KILT use."""

    name: ClassVar[str] = "success"
