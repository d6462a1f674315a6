"""`ragstone docs`: pages and sections in the terminal, and the pages that errors name."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from ragstone import errors
from ragstone.cli import docs, root

ROOT = Path(__file__).resolve().parents[2]


def shown(*arguments: str) -> str:
    """Return what `ragstone docs` prints."""
    done = CliRunner().invoke(root, ["docs", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_list_has_every_page_with_its_title() -> None:
    """One line per Markdown file of docs/."""
    listed = json.loads(shown("--json"))
    files = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    assert {entry["page"] for entry in listed} == {str(file.with_suffix("")) for file in files}
    lines = shown().splitlines()
    assert all(any(line.startswith(f"{entry['page']} ") for line in lines) for entry in listed)


@pytest.mark.parametrize("page", docs.pages())
def test_every_page_is_plain_text(page: str) -> None:
    """Links are their text and the page that they lead to; code blocks stay as they are."""
    text = shown(page)
    source = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    for block in re.findall(r"^```\w*[^\n]*\n(.*?)^```", source, re.DOTALL | re.MULTILINE):
        assert block in f"{text}\n"
        text = text.replace(block.rstrip("\n"), "")
    assert not re.search(r"\]\([\w/.-]+\.md", text)
    assert "```" not in text


def test_a_section_ends_before_the_next_of_its_level() -> None:
    """The JSON has the Markdown of the section alone, and comments in code are no headings."""
    found = json.loads(shown("data.md#limits", "--json"))
    assert found["section"] == "limits"
    assert found["text"].startswith("### Limits\n")
    assert len(re.findall(r"^#{1,3} ", found["text"], re.MULTILINE)) == 1


@pytest.mark.parametrize(
    ("topic", "words"),
    [("metrisc", "metrics"), ("interval", "concepts"), ("data#limts", "limits"), ("xyzzy", "all")],
)
def test_a_wrong_name_is_an_error_with_the_nearest_pages(topic: str, words: str) -> None:
    """Pages of a similar name or with the word in a heading are proposed; the exit code is 2."""
    with pytest.raises(errors.ConfigError, match=words):
        CliRunner().invoke(root, ["docs", topic], catch_exceptions=False)


def test_a_path_outside_the_documentation_is_no_page() -> None:
    """The pages are a list; a name never becomes a path."""
    for name in ("../README", "/etc/passwd", "decisions/../data"):
        with pytest.raises(errors.ConfigError, match="no page"):
            docs._found(name)


@pytest.mark.parametrize(
    "kind",
    [e for e in vars(errors).values() if isinstance(e, type) and hasattr(e, "page")],
)
def test_the_page_of_an_error_exists(kind: type[errors.RagstoneError]) -> None:
    """`page` of an error class is a page, and a section of it."""
    if kind.page:
        assert shown(kind.page)
    assert kind.page or kind is errors.RagstoneError


def test_a_terminal_is_told_the_page_and_a_pipe_is_not(tmp_path: Path) -> None:
    """The line after an error is for people."""
    pty = pytest.importorskip("pty", reason="Windows has no pseudo terminals of this kind")
    program = [sys.executable, "-c", "from ragstone.cli import main; main()", "show", "none.yaml"]
    piped = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
    leader, follower = pty.openpty()
    subprocess.run(program, cwd=tmp_path, stdout=follower, stderr=follower, check=False)
    told = os.read(leader, 10_000).decode()
    os.close(leader)
    os.close(follower)
    assert "ragstone docs" not in piped.stderr
    assert "More: ragstone docs experiment-file" in told


def test_the_wheel_contains_the_pages(tmp_path: Path) -> None:
    """The pages are those of docs/, without pictures and decisions."""
    from hatchling.builders.wheel import WheelBuilder

    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    names = zipfile.ZipFile(wheel).namelist()
    found = {name for name in names if name.startswith("ragstone/docs/")}
    assert found == {
        f"ragstone/docs/{page}.md" for page in docs.pages() if not page.startswith("decisions/")
    }
