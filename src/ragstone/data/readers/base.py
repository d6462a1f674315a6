"""The protocol of readers."""

from __future__ import annotations

from ragstone.core.component import Component
from ragstone.data.dataset import Dataset


class Reader(Component):
    """Reads one file layout into a data set.

    A reader has no items, so it returns the data set itself: nothing can be measured without data,
    so a failure is an error.
    """

    verb = "read"

    def read(self) -> Dataset:
        """Return the data set.

        Raises:
            DatasetError: the data are malformed; the message has the file and the line.
        """
        raise NotImplementedError
