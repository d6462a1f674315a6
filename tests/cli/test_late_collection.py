"""The collector of garbage while a command is imported."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import gc
from ragstone.cli.late_collection import collect_late

class Pair:
    pass

usual, before = gc.get_threshold(), gc.get_stats()[0]["collections"]
collect_late()
assert gc.get_threshold()[0] > 100_000 and gc.get_threshold()[1:] == usual[1:]
kept = [[] for _ in range(100_000)]
assert gc.get_stats()[0]["collections"] == before, "collected within the imports"
while gc.get_threshold() != usual:
    kept.append([])
assert len(kept) < 200_000
one = Pair()
one.other = Pair()
one.other.other = one
del one
kept += [[] for _ in range(100_000)]
assert gc.get_stats()[0]["collections"] > before + 1
assert not any(isinstance(found, Pair) for found in gc.get_objects())
assert not gc.callbacks
"""


def test_the_first_collection_alone_is_late() -> None:
    """After 150,000 new objects the collector works as usual, and finds objects in a circle."""
    subprocess.run([sys.executable, "-c", CODE], check=True)
