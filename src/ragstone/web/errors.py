"""The error in place of a page's content: a state, its consequence and one way out."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.errors import (
    ConfigError,
    DamagedFile,
    NewerFile,
    RagstoneError,
    StoreError,
    StoreUnavailable,
)


@dataclass(frozen=True, slots=True)
class StateText:
    """A state of a page or of a part of it."""

    said: str
    """The state, as a sentence."""
    then: str = ""
    """Its consequence."""
    command: str = ""
    """A command that continues the work."""
    link: str = ""
    """The address of a page that continues the work, with `link_text`."""
    link_text: str = ""


class PageError(Exception):
    """A request that gets a state instead of a page."""

    def __init__(self, status: int, state: StateText) -> None:
        super().__init__(state.said)
        self.status, self.state = status, state


def page_error(error: RagstoneError) -> PageError:
    """Return the state of a page that could not be made."""
    if isinstance(error, DamagedFile):
        then = "Its rows are left out. The other pages of the store are shown."
        return PageError(500, StateText(f"{error.path} {error.what}.", then, error.way_out))
    if isinstance(error, NewerFile):
        then = "The file was not changed."
        return PageError(500, StateText(str(error), then, "pip install -U ragstone"))
    if isinstance(error, StoreUnavailable):
        then = "What is not confirmed stays in the browser, which sends it again."
        return PageError(503, StateText(str(error), then, error.way_out))
    status = 404 if isinstance(error, ConfigError | StoreError) else 500
    return PageError(status, StateText(str(error), command=error.way_out))
