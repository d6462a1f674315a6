"""The page of a failed request: every exception becomes a state with a status."""

from __future__ import annotations

import logging
from typing import Final

from aiohttp import web
from sqlalchemy.exc import SQLAlchemyError

from ragstone.errors import ConfigError, RagstoneError, StoreError, StoreUnavailable
from ragstone.web import limits
from ragstone.web.errors import PageError, StateText, page_error

_LOG: Final = logging.getLogger(__name__)


def failure(request: web.Request, error: Exception) -> PageError:
    """Return the state of a request that failed, and log an unexpected exception."""
    match error:
        case PageError():
            return error
        case SQLAlchemyError():
            _LOG.warning("the database failed: %s", type(error).__name__)
            return _database(type(error).__name__)
        case StoreError() if not isinstance(error, StoreUnavailable):
            return _database(str(error))
        case RagstoneError():
            found = page_error(error)
            wrong = request.method == "POST" and isinstance(error, ConfigError)
            return PageError(400, found.state) if wrong else found
        case web.HTTPException():
            return _refused(request, error)
    _LOG.exception("the page %s failed", request.path, exc_info=error)
    said = f"The request failed: {type(error).__name__}."
    then = "The terminal of the server has the details. Nothing that was kept is lost."
    return PageError(500, StateText(said, then))


def _database(said: str) -> PageError:
    state = StateText(f"The database failed: {said}.", "Nothing is lost: send it again.")
    return PageError(503, state)


def _refused(request: web.Request, error: web.HTTPException) -> PageError:
    """Return the state of a request that the server does not know or accept."""
    match error:
        case web.HTTPRequestEntityTooLarge():
            said = f"The request has more than {limits.VIEW_POST_BYTES:,} bytes."
            return PageError(413, StateText(said, "Send less at once."))
        case web.HTTPMethodNotAllowed():
            said = f"{request.path} does not accept {request.method}."
        case web.HTTPNotFound():
            said = f"There is no page {request.path}."
        case _:
            said = f"{error.reason}."
    return PageError(error.status, StateText(said, link="/", link_text="Start"))
