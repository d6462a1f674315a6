"""success@k: hit@k under the name of trec_eval and KILT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragstone.components.metrics.hit import Hit


@dataclass(frozen=True)
class Success(Hit):
    """Hit at k under the name that trec_eval and KILT use.

    Formula: that of `hit@k`.

    Source: Craswell and Hawking, TREC 2004 web track; success_k of trec_eval.

    Trap: more relevant passages do not raise it.
    """

    name: ClassVar[str] = "success"
