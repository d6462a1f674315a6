"""Misleading passages alone: the right response is a refusal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragstone.components.context_settings.shown import shown
from ragstone.errors import ConfigError
from ragstone.protocols import ContextSetting
from ragstone.types import Candidates, ContextPassage


@dataclass(frozen=True)
class Noise(ContextSetting):
    """Shows the most misleading passages without the gold ones, which measures refusal.

    The passages are those of `gold+noise`. RGB (Chen et al. 2024) calls this negative rejection.

    Args:
        noise: number of misleading passages.
    """

    noise: int = 4

    uses: ClassVar[frozenset[str]] = frozenset({"noise"})

    def __post_init__(self) -> None:
        if self.noise < 1:
            raise ConfigError(f"noise needs at least 1 passage, found {self.noise}")

    @property
    def setting(self) -> str:
        """The canonical name, for example `noise(4)`."""
        return f"noise({self.noise})"

    def passages(self, candidates: Candidates) -> tuple[ContextPassage, ...]:
        """Return noise passages; fewer if there are not enough."""
        return shown(candidates.noise.passages[: self.noise], "noise")
