"""The protocol of readers."""

from __future__ import annotations

from ragstone.core.component import Component
from ragstone.data.dataset import Dataset
from ragstone.errors import ConfigError


class Reader(Component):
    """Reads one file layout into a data set.

    A reader has no items, so it returns the data set itself: nothing can be measured without data,
    so a failure is an error.
    """

    verb = "read"

    @classmethod
    def complete(cls, part: type) -> type:
        """Return your own class with `read` as a reader."""
        if issubclass(part, cls):
            return part
        if not callable(getattr(part, "read", None)):
            raise ConfigError(f"{part.__name__!r} has no method read()", value=part.__name__)
        names = ("__module__", "__qualname__", "__doc__")
        return type(part.__name__, (part, cls), {name: getattr(part, name) for name in names})

    def read(self) -> Dataset:
        """Return the data set.

        Raises:
            DatasetError: the data are malformed; the message has the file and the line.
        """
        raise NotImplementedError
