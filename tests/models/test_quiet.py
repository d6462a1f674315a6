"""Loading and saving with transformers without its progress bars and warnings."""

from __future__ import annotations

import sys
import warnings

import pytest

from ragstone.models.quiet import quiet


@pytest.mark.needs("transformers")
def test_nothing_is_shown_and_the_verbosity_comes_back(capsys: pytest.CaptureFixture[str]) -> None:
    """Also if the work fails."""
    from transformers.utils import logging

    before = logging.get_verbosity()
    with pytest.raises(OSError, match="full"), quiet():  # noqa: PT012 - the work fails inside
        warnings.warn("old name", FutureWarning, stacklevel=1)
        sys.stderr.write("loading: 100 %")
        raise OSError("full")
    assert logging.get_verbosity() == before
    assert capsys.readouterr().err == ""
