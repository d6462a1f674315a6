"""What the program prints contains no secret."""

from __future__ import annotations

import io
import subprocess
import sys

import click

from ragstone.core.redacted_stream import RedactedStream
from ragstone.core.redaction import remember

CRASH = """
import sys
from ragstone.core.redacted_stream import redact_streams
from ragstone.core.redaction import remember

redact_streams()
print("before question-secret")
remember(["question-secret"])
print("out question-secret")
sys.stderr.writelines(["err question-secret\\n"])
raise KeyError("question-secret", "question%2Dsecret")
"""


def test_a_traceback_and_both_streams_are_redacted() -> None:
    """From the moment at which the value is known."""
    done = subprocess.run(
        [sys.executable, "-c", CRASH], capture_output=True, text=True, check=False
    )
    assert done.stdout == "before question-secret\nout ***\n"
    assert "err ***\n" in done.stderr
    assert "KeyError: ('***', '***')" in done.stderr
    assert "question" not in done.stderr.replace("remember([", "")


def test_click_writes_through_the_stream() -> None:
    """Other attributes are those of the stream."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    stream = RedactedStream(out)
    remember(["question-secret"])
    click.echo("a question-secret", file=stream)  # type: ignore[arg-type]
    assert stream.write("question-secret") == len("question-secret")
    stream.flush()
    assert out.buffer.getvalue() == b"a ***\n***"
    assert stream.isatty() is False
