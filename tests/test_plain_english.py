"""`make lint` reports phrases of odd English, with file, line and a replacement."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.plain_english import main, odd_phrases

# Written with underscores and an escape: this file is searched as well.
ODD = [
    "after so_many calls",
    "a file that is_no table",
    "could not be_had",
    "left out for_want_of room",
    "a model of one's_own",
    "computed \x61new",
    "prompts that hang_on a step",
    'help="Of_the p-values"',
]
PLAIN = ["there is no answer", "there\nis no answer", "the island behaved", 'help="Offline"']


@pytest.mark.parametrize("text", ODD)
def test_odd_phrases_are_found_on_their_line(text: str) -> None:
    """Each phrase of the list, also with a line break, a comment sign or quotes between words."""
    for gap in (" ", "\n    # ", ' "\n    "'):
        found = list(odd_phrases("plain\n" + text.replace("_", gap)))
        assert [line for line, _, _ in found] == [2]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_phrases_pass(text: str) -> None:
    """The plain forms pass, and a phrase is made of whole words."""
    assert not list(odd_phrases(text))


def test_a_finding_names_file_line_and_replacement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 1 if there is a finding; files of other types are not read."""
    (tmp_path / "page.md").write_text("It\n" + ODD[1].replace("_", " "))
    (tmp_path / "data.jsonl").write_text(ODD[0].replace("_", " "))
    assert main([str(tmp_path)]) == 1
    output = capsys.readouterr().out
    assert output.startswith(f"{tmp_path}/page.md:2: ")
    assert output.endswith('"is not a", "has no" or "there is no"\n')
    assert output.count("\n") == 1
    (tmp_path / "page.md").unlink()
    assert main([str(tmp_path)]) == 0
