"""The pages, one file per page, in the order of the navigation."""

from __future__ import annotations

from typing import Final

from ragstone.view.page import ViewAction, ViewPage
from ragstone.view.pages.calls import CALLS
from ragstone.view.pages.causes import CAUSES_PAGE
from ragstone.view.pages.compare import COMPARE
from ragstone.view.pages.experiments import EXPERIMENTS
from ragstone.view.pages.history import HISTORY
from ragstone.view.pages.judges import JUDGES
from ragstone.view.pages.labels import LABELS
from ragstone.view.pages.leaderboard import LEADERBOARD
from ragstone.view.pages.traces import TRACES, TRACES_CSV, TRACES_DATASET, TRACES_ROWS

PAGES: Final[tuple[ViewPage, ...]] = (
    EXPERIMENTS,
    LEADERBOARD,
    COMPARE,
    CAUSES_PAGE,
    LABELS,
    JUDGES,
    CALLS,
    HISTORY,
    TRACES,
)
ACTIONS: Final[tuple[ViewAction, ...]] = (TRACES_CSV, TRACES_ROWS, TRACES_DATASET)
