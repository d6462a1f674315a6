"""The pages, one file per page, in the order of the navigation."""

from __future__ import annotations

from typing import Final

from ragstone.view.page import ViewAction, ViewPage
from ragstone.view.pages.experiments import EXPERIMENTS

PAGES: Final[tuple[ViewPage, ...]] = (EXPERIMENTS,)
ACTIONS: Final[tuple[ViewAction, ...]] = ()
