"""References to environment variables and files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragstone.core import limits
from ragstone.core.environment import references_in, resolved
from ragstone.core.redaction import known
from ragstone.errors import ConfigError


def test_references_are_replaced_and_their_values_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text around them stays; white space around the secret in a file does not count."""
    path = tmp_path / "key.txt"
    path.write_text("of-a-file\n")
    monkeypatch.setenv("MY_KEY", "of-a-variable")
    written = {"a": ["x {env:MY_KEY}"], "b": f"{{file:{path}}}", "c": "{other:x} {env:1}"}
    assert resolved(written, "a header") == {
        "a": ["x of-a-variable"],
        "b": "of-a-file",
        "c": "{other:x} {env:1}",
    }
    assert references_in(written) == ("env:MY_KEY", f"file:{path}")
    assert known() == ("of-a-variable", "of-a-file")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file"),
        (b" \n", "is empty"),
        (b"\xff\xfe", "not UTF-8"),
        (b"x" * (limits.MAX_SECRET_BYTES + 1), "has more than 65,536 bytes"),
    ],
)
def test_a_file_without_a_secret_is_an_error(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    """The message names the use and the file."""
    path = tmp_path / "key.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=message) as caught:
        resolved(f"{{file:{path}}}", "the address of it")
    assert str(caught.value).startswith(f"the address of it is read from the file {path}")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """It has no content before somebody writes."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match="pipe"):
        resolved(f"{{file:{tmp_path / 'pipe'}}}", "a key")


def test_a_missing_variable_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the way out."""
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(ConfigError, match="export MY_KEY="):
        resolved("{env:MY_KEY}", "a key")
