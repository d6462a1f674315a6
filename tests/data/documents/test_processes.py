"""Processes that parse: deadlines, memory, crashes and missing packages end no run."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.fakes.made_documents import docx, epub, looping_pdf, pdf, pptx, xlsx

from ragstone.core import limits
from ragstone.data.documents.formats import FileParser
from ragstone.data.documents.pieces import UnreadableFile
from ragstone.data.documents.processes import ParsingProcess
from ragstone.errors import MissingDependency

TEXT = FileParser(".txt")


@pytest.fixture
def process() -> Iterator[ParsingProcess]:
    """Return a process, ended after the test."""
    made = ParsingProcess()
    yield made
    made.close()


def replace_parser(
    monkeypatch: pytest.MonkeyPatch, folder: Path, code: str, module: str = "plain"
) -> None:
    """Let the processes of a test run other code before they parse."""
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=":")
    (folder / "sitecustomize.py").write_text(
        f"import ragstone.data.documents.{module} as parser\n{code}\n"
    )


def test_one_process_parses_many_files(process: ParsingProcess) -> None:
    """Files of several formats, and the failure of one in between."""
    assert process.parse(TEXT, b"one").pieces[0].text == "one"
    with pytest.raises(UnreadableFile, match="not a readable PDF"):
        process.parse(FileParser(".pdf"), b"no PDF")
    assert process.parse(FileParser(".docx"), docx("two")).pieces[0].text == "two"


def test_a_file_that_hangs_its_parser_has_a_deadline(
    process: ParsingProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The process is ended, and the next file has another one."""
    code = "import time\nparser.decode = lambda c: time.sleep(600) if c == b'slow' else ('a', '')"
    replace_parser(monkeypatch, tmp_path, code)
    process.parse(TEXT, b"fast")
    monkeypatch.setattr(limits, "PARSE_SECONDS", 0.5)
    with pytest.raises(UnreadableFile, match=r"did not end within 0.5 seconds"):
        process.parse(TEXT, b"slow")
    monkeypatch.undo()
    assert process.parse(TEXT, b"b").pieces[0].text == "b"


def test_a_pdf_that_contains_itself(
    process: ParsingProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real file that keeps a real parser busy is ended at the deadline."""
    process.parse(FileParser(".pdf"), pdf([[(11, "a")]]))
    monkeypatch.setattr(limits, "PARSE_SECONDS", 1.0)
    with pytest.raises(UnreadableFile, match="did not end within 1 seconds"):
        process.parse(FileParser(".pdf"), looping_pdf())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the address space")
def test_a_file_that_fills_the_memory(
    process: ParsingProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The reason is the limit, and the file is tried in a new process first."""
    log = tmp_path / "asked"
    code = f"def fill(c):\n open({str(log)!r}, 'a').write('x')\n return bytes(2**33), ''\n"
    replace_parser(monkeypatch, tmp_path, code + "parser.decode = fill")
    monkeypatch.setattr(limits, "PARSE_BYTES", 2**30)
    process.parse(FileParser(".docx"), docx("a"))
    with pytest.raises(UnreadableFile, match=r"needs more than 1.1 GB of memory"):
        process.parse(TEXT, b"a")
    assert log.read_text() == "xx"


def test_a_parser_that_crashes(
    process: ParsingProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The reason names the signal."""
    replace_parser(monkeypatch, tmp_path, "import os\nparser.decode = lambda c: os.abort()")
    with pytest.raises(UnreadableFile, match=r"crashed \(SIGABRT\)"):
        process.parse(TEXT, b"a")


def test_a_stop_does_not_wait_for_the_parser(
    process: ParsingProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A file that is being parsed fails now, and no other is begun: as after Ctrl-C."""
    begun = tmp_path / "begun"
    code = f"import time\ndef sleep(c):\n open({str(begun)!r}, 'w')\n time.sleep(600)\n"
    replace_parser(monkeypatch, tmp_path, code + "parser.decode = sleep")
    process.parse(FileParser(".docx"), docx("a"))
    with ThreadPoolExecutor(1) as executor:
        found = executor.submit(process.parse, TEXT, b"a")
        while not begun.exists():
            time.sleep(0.01)
        process.stop()
        with pytest.raises(UnreadableFile, match="its parser was stopped"):
            found.result()


def test_what_a_parser_prints_is_no_reply(
    process: ParsingProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Standard output of the process has the replies alone."""
    code = "parser.decode = lambda c: (print('noise', flush=True), ('text', ''))[1]"
    replace_parser(monkeypatch, tmp_path, code)
    assert process.parse(TEXT, b"a").pieces[0].text == "text"


def test_a_package_that_is_missing_in_the_middle(
    process: ParsingProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The package that guesses encodings is needed by few files."""
    code = "import sys\nsys.modules['charset_normalizer'] = None"
    replace_parser(monkeypatch, tmp_path, code)
    with pytest.raises(MissingDependency, match=r"pip install 'ragstone\[documents\]'"):
        process.parse(TEXT, "Straße".encode("latin-1"))


def test_text_is_limited_and_clean(process: ParsingProcess) -> None:
    """A file with more text than the limit has a reason, and blank pieces are left out."""
    long = b"a" * (limits.MAX_TEXT_CHARACTERS + 1)
    with pytest.raises(UnreadableFile, match=r"20,000,001 characters, the maximum is 20,000,000"):
        process.parse(TEXT, long)
    assert process.parse(TEXT, b"  \n ").pieces == []


def test_damaged_files_end_nothing(process: ParsingProcess) -> None:
    """Cut and changed files of every kind are read, or have a reason on one line."""
    draw, reasons = random.Random(1), list[str]()  # noqa: S311 - no secret
    whole = {
        ".pdf": pdf([[(11, "a text"), (20, "b")]], [("b", 0)]),
        ".docx": docx((1, "a"), "b", [["c", "d"], ["e", "f"]]),
        ".pptx": pptx(("a", "b")),
        ".xlsx": xlsx({"A": [["a"], [1]]}),
        ".epub": epub({"a.xhtml": "<h1>a</h1>"}),
        ".html": b"<h1>a</h1><table><tr><td>b",
        ".md": b"# a\n\n| b |\n|---|\n| c |\n",
        ".eml": b"Subject: a\nContent-Type: multipart/mixed; boundary=B\n\n--B\n\nb\n--B--\n",
    }
    for suffix, content in whole.items():
        for _ in range(8):
            changed = bytearray(content[: draw.randint(1, len(content))])
            for _ in range(draw.randint(0, 5)):
                changed[draw.randrange(len(changed))] = draw.randrange(256)
            try:
                assert process.parse(FileParser(suffix), bytes(changed)).pieces is not None
            except UnreadableFile as error:
                reasons.append(str(error))
    assert reasons
    assert all(reason.strip() and "\n" not in reason for reason in reasons)


def test_an_encrypted_file_says_so(process: ParsingProcess) -> None:
    """A password is asked for by no parser."""
    with pytest.raises(UnreadableFile, match="it is encrypted: save a copy without a password"):
        process.parse(FileParser(".pdf"), pdf([[(11, "a")]], encrypted=True))
