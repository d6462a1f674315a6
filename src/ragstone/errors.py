"""Every error that Ragstone raises on purpose.

RagstoneError                  the root: printed without a traceback by the CLI, exit code 1
+ ConfigError                  an experiment file, option or name is wrong: exit code 2
| + UnknownComponent           no component of that name
| + UnknownMetric              no metric of that name
+ MissingDependency            an optional package is not installed
+ DatasetError                 a data file is missing, malformed or inconsistent
+ ComponentError               an error inside your own component; the traceback is in a log file
+ CallError                    a model could not be reached, or a call failed for good
+ StoreError                   the store cannot be read or written
+ ModelFileError               a model file is missing, or not the file it should be

A message contains the problem, the value found, the values allowed and the way out. The same facts
are attributes, so that a program can act on them:

    try:
        ragstone.load_experiment("experiment.yaml").run()
    except ragstone.ConfigError as error:
        highlight(error.path, error.line, error.key)
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path


class RagstoneError(Exception):
    """The root of the tree.

    Attributes:
        path: the file that is wrong, or None.
        line: the line in that file, from 1, or None.
        key: the option, parameter or column that is wrong, or None.
        value: the value found, or None.
        way_out: a command or a change that helps; "" if the message has it.
        exit_code: the exit code of the command line.
    """

    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        path: Path | str | None = None,
        line: int | None = None,
        key: str | None = None,
        value: object = None,
        way_out: str = "",
    ) -> None:
        super().__init__(message)
        self.path = None if path is None else Path(path)
        self.line, self.key, self.value, self.way_out = line, key, value, way_out


class ConfigError(RagstoneError):
    """An experiment file, an option or a name is wrong; nothing was run."""

    exit_code = 2


class UnknownComponent(ConfigError):
    """No component of that name is built in, installed, or found in the file named."""


class UnknownMetric(ConfigError):
    """No metric of that name exists."""


class MissingDependency(RagstoneError):
    """A component or function needs a package that is not installed.

    `extra` is the extra of Ragstone with the package; "" if the package is in none.
    """

    def __init__(self, component: str, package: str, extra: str = "") -> None:
        command = f"pip install 'ragstone[{extra}]'" if extra else f"pip install {package}"
        super().__init__(
            f"{component} needs the package {package!r}, which is not installed; "
            f"install it with: {command}",
            value=package,
            way_out=command,
        )
        self.component, self.package, self.extra = component, package, extra


class DatasetError(RagstoneError):
    """A data file is missing, malformed or inconsistent with its neighbours."""

    exit_code = 2


class ComponentError(RagstoneError):
    """Your own component raised an exception, or returned a value of the wrong shape.

    `path` and `line` are those of the component's code, `query_id` is the item at fault if it is
    known, and `traceback_path` is the log file with the traceback.
    """

    def __init__(
        self,
        message: str,
        *,
        component: str = "",
        query_id: str = "",
        traceback_path: Path | None = None,
        path: Path | str | None = None,
        line: int | None = None,
        value: object = None,
    ) -> None:
        super().__init__(message, path=path, line=line, value=value)
        self.component, self.query_id = component, query_id
        self.traceback_path = traceback_path

    def within(self, owner: str) -> ComponentError:
        """Return the error with the system that the component belongs to in front."""
        return ComponentError(
            f"{owner}: {self}" if owner else str(self),
            component=self.component,
            query_id=self.query_id,
            traceback_path=self.traceback_path,
            path=self.path,
            line=self.line,
            value=self.value,
        )


class CallError(RagstoneError):
    """A model endpoint could not be reached, or a call failed for good."""


class StoreError(RagstoneError):
    """A folder of the store cannot be read or written."""


class ModelFileError(RagstoneError):
    """A model file is missing, or its bytes are not those of the pinned file."""


def did_you_mean(name: str, known: Iterable[str], shown: Mapping[str, str] | None = None) -> str:
    """Return the tail of an error message about an unknown name.

    Args:
        name: the unknown name.
        known: the names to compare it with.
        shown: known name -> the form in which the message shows it.

    >>> did_you_mean("bm52", ["bm25", "dense"])
    "; did you mean 'bm25'? Known: bm25, dense"
    """
    names = sorted(known)
    forms = shown or {}
    close = [
        forms.get(found, found) for found in difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    ]
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"{hint} Known: {', '.join(forms.get(found, found) for found in names) or 'none'}"
