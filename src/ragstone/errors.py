"""Every error that Ragstone raises on purpose.

RagstoneError                  the root: printed without a traceback by the CLI, exit code 1
+ ConfigError                  an experiment file, option or name is wrong: exit code 2
| + UnknownComponent           no component of that name
| + UnknownMetric              no metric of that name
+ MissingDependency            an optional package is not installed
+ DatasetError                 a data file is missing, malformed or inconsistent
+ CallError                    a model could not be reached, or a call failed for good
+ StoreError                   the store cannot be read or written
+ ModelFileError               a model file is missing, or not the file it should be

A message says what is wrong, the value found, what is allowed, and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class RagstoneError(Exception):
    """The root of the tree. `exit_code` is what the command line returns for it."""

    exit_code = 1


class ConfigError(RagstoneError):
    """An experiment file, an option or a name is wrong; nothing was run."""

    exit_code = 2


class UnknownComponent(ConfigError):
    """No component of that name is built in, installed, or found in the file named."""


class UnknownMetric(ConfigError):
    """No metric of that name exists."""


class MissingDependency(RagstoneError):
    """A component needs a package that is not installed."""

    def __init__(self, component: str, package: str, extra: str) -> None:
        super().__init__(
            f"{component} needs the package {package!r}, which is not installed; "
            f"install it with: pip install 'ragstone[{extra}]'"
        )
        self.component, self.package, self.extra = component, package, extra


class DatasetError(RagstoneError):
    """A data file is missing, malformed or inconsistent with its neighbours."""

    exit_code = 2


class CallError(RagstoneError):
    """A model endpoint could not be reached, or a call failed for good."""


class StoreError(RagstoneError):
    """A folder of the store cannot be read or written."""


class ModelFileError(RagstoneError):
    """A model file is missing, or its bytes are not those of the pinned file."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the tail of an error message about an unknown name.

    >>> did_you_mean("bm52", ["bm25", "dense"])
    "; did you mean 'bm25'? Known: bm25, dense"
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"{hint} Known: {', '.join(names) or 'none'}"
