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
| + DamagedFile                a file of the store is not as it was written
+ ModelFileError               a model file is missing, or is not the pinned file

A message contains the problem, the value found, the allowed values and the remedy. The same facts
are attributes, so that a program can act on them:

    try:
        ragstone.load_experiment("experiment.yaml").run()
    except ragstone.ConfigError as error:
        highlight(error.path, error.line, error.key)
"""

from __future__ import annotations

import difflib
import errno
import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

_BEGINNING, _END = 660, 330
"""Characters of a message of more than 1,000 that are shown: its place, and its way out."""
_FEW_HANDLES = (errno.EMFILE, errno.ENFILE)
_Error = TypeVar("_Error", bound="RagstoneError")


class RagstoneError(Exception):
    """The root of the tree.

    Attributes:
        path: the file that is wrong, or None.
        line: the line in that file, from 1, or None.
        key: the option, parameter or column that is wrong, or None.
        value: the value found, or None.
        way_out: the command or change that solves the problem; "" if only the message has it.
        exit_code: the exit code of the command line.
        page: the page of the documentation, as `ragstone docs PAGE` takes it; "" if there is none.
    """

    exit_code = 1
    page: ClassVar[str] = ""
    clean: ClassVar[Callable[[str], str]] = staticmethod(str)
    """Removes secrets from a message; `core.redaction` sets it once it knows one."""

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

    def __str__(self) -> str:
        """Return the message without secrets; the middle of a long one is left out."""
        text = RagstoneError.clean(super().__str__())
        left_out = len(text) > _BEGINNING + _END
        return f"{text[:_BEGINNING]} ... {text[-_END:]}" if left_out else text

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors of workers: the constructor of a subclass takes other arguments than the message.
        return _again, (type(self), self.args, self.__dict__)

    def with_message(self, message: str) -> Self:
        """Return a copy of the error with another message and the same facts."""
        # Not `copy`, which calls the constructor of the class with the message alone.
        return _again(type(self), (message,), self.__dict__)


def _again(kind: type[_Error], args: tuple[Any, ...], facts: Mapping[str, Any]) -> _Error:
    """Return an error with these facts."""
    error = kind.__new__(kind)
    error.__dict__.update(facts)
    error.args = args
    return error


class ConfigError(RagstoneError):
    """An experiment file, an option or a name is wrong; nothing was run."""

    exit_code = 2
    page = "experiment-file"


class UnknownComponent(ConfigError):
    """No component of that name is built in, installed, or found in the file named."""

    page = "commands#ragstone-components"


class UnknownMetric(ConfigError):
    """No metric of that name exists."""

    page = "metrics"


class MissingDependency(RagstoneError):
    """A component or function needs a package that is not installed.

    Attributes:
        component: the component or function.
        package: the name of the package.
        extra: the extra of Ragstone that installs the package, or "".
    """

    page = "commands#extras"

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
    """A data file is missing, malformed or inconsistent with another file."""

    exit_code = 2
    page = "data"


class ComponentError(RagstoneError):
    """Your own component raised an exception, or returned a value of the wrong shape.

    `path` and `line` are those of the component's code.

    Attributes:
        component: the component, as the experiment file names it.
        query_id: the item at fault, or "" if it is not known.
        traceback_path: the log file with the traceback, or None.
    """

    page = "own-components"

    def __init__(
        self,
        message: str,
        *,
        component: str = "",
        query_id: str = "",
        traceback_path: Path | None = None,
        **facts: Any,
    ) -> None:
        super().__init__(message, **facts)
        self.component, self.query_id = component, query_id
        self.traceback_path = traceback_path


class CallError(RagstoneError):
    """A model endpoint could not be reached, or a call failed for good."""

    page = "calls"


class LimitReached(CallError):
    """The run reached a limit that the user set, such as a budget; all earlier replies are kept."""


class StoreError(RagstoneError):
    """A folder of the store cannot be read or written."""

    page = "store"


class StoreUnavailable(StoreError):
    """A database cannot be used now, such as one that restarts; later the same may succeed."""


class NewerFile(StoreError):
    """A file of the store was written by a newer Ragstone, and must not be replaced."""


class DamagedFile(StoreError):
    """A file of the store is missing or not as it was written.

    `what` is the damage, and `document` the content of a document without a checksum, or None.
    """

    path: Path

    def __init__(
        self, path: Path, what: str, *, store: Path, document: dict[str, Any] | None = None
    ) -> None:
        repair = f"ragstone store check --repair {shlex.quote(str(store))}"
        state = "is damaged" if document is None else "cannot be checked"
        super().__init__(
            f"{path} {state}: {what}. Run the experiment with --reuse: it is set aside and "
            f"computed again from kept replies. To find all damage of this store: {repair}",
            path=path,
            way_out=repair,
        )
        self.what, self.document = what, document


class ModelFileError(RagstoneError):
    """A model file is missing, or its bytes are not those of the pinned file."""

    page = "models"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message about an unknown name; the search ignores case.

    >>> did_you_mean("BM52", ["bm25", "dense"])
    "; did you mean 'bm25'? Known: bm25, dense"
    """
    listed = sorted(known, key=str.lower)
    return f"{nearest_name(name, listed) or '.'} Known: {', '.join(listed) or 'none'}"


def nearest_name(name: str, known: Iterable[str]) -> str:
    """Return the nearest known name for an error message; "" if none is near.

    >>> nearest_name("BM52", ["bm25", "dense"]), nearest_name("BM52", ["dense"])
    ("; did you mean 'bm25'?", '')
    """
    names = {one.lower(): one for one in known}
    close = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    return f"; did you mean {names[close[0]]!r}?" if close else ""


def system_reason(error: OSError) -> str:
    """Return why the system refused something, in its words.

    >>> system_reason(FileNotFoundError(2, "No such file or directory", "a.txt"))
    'No such file or directory'
    """
    if error.strerror is None and "requested and" in str(error):
        # numpy does not tell the reason of a write that ended early.
        return "only a part could be written; the disk is full, or files may not be that large"
    reason = error.strerror or str(error) or type(error).__name__
    return f"{reason} (allow more: ulimit -n 1024)" if error.errno in _FEW_HANDLES else reason
