"""The protocol of readers."""

from __future__ import annotations

from ragstone.core.component import Component
from ragstone.data.dataset import Dataset


class Reader(Component):
    """Reads one file layout into a data set.

    It returns the data set itself, not outcomes per item: without data nothing can be measured, so
    a failure is an error.
    """

    verb = "read"

    def read(self) -> Dataset:
        """Return the data set.

        Raises:
            DatasetError: the data are malformed; the message has the file and the line.
        """
        raise NotImplementedError
