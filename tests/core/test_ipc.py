"""Tables as bytes: equal for equal rows, and back."""

from arro3.core import Table

from ragstone.core.ipc import bytes_of, table_of
from ragstone.core.schemas import joined, rankings_to_table
from ragstone.types import Ranking


def _table(count: int) -> Table:
    rankings = [Ranking((f"p{n}", "q"), (1.0, 0.5)) for n in range(count)]
    return rankings_to_table([f"q{n}" for n in range(count)], rankings)


def test_equal_rows_are_equal_bytes() -> None:
    """Rows of a slice and of pieces have the bytes of rows made alone."""
    whole = _table(40)
    alone = bytes_of(whole.slice(0, 20))
    assert alone == bytes_of(_table(10))
    assert bytes_of(joined([whole.slice(0, 7), whole.slice(7, 13)], whole.schema)) == alone
    assert len(alone) < len(bytes_of(whole))


def test_tables_come_back() -> None:
    """A table without rows too."""
    for count in (0, 3):
        found = table_of(bytes_of(_table(count)))
        assert found.schema == _table(count).schema
        assert found == _table(count)
