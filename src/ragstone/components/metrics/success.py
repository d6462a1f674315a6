"""success@k: hit@k under the name of trec_eval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragstone.components.metrics.hit import Hit


@dataclass(frozen=True)
class Success(Hit):
    """Hit at k under the name that trec_eval uses.

    Formula: that of `hit@k`.

    Source: Tomlinson, as success_k in trec_eval, m_success.c, 2008.

    Trap: more relevant passages do not raise it.
    """

    name: ClassVar[str] = "success"
