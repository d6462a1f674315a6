"""What the documentation shows runs: every page, in an empty folder, in its order.

`tools/shown.py` has the rules: which blocks are files, programs, commands and output.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import click
import pytest
from benchmarks.figures import pages
from tools.shown import matches, run_page
from tools.shown_blocks import ROOT, PageError, commands_of, read_blocks
from tools.shown_commands import parse_command

EXECUTED = [page for page in pages() if page == "README.md" or page.startswith("docs/")]
EXECUTED += [str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.ipynb")]
REASONS = (
    *("needs a model", "needs two models", "needs your own", "needs shared data", "needs a GPU"),
    *("needs a database", "needs a tracker", "needs a cluster"),
    *("serves until it is stopped", "takes minutes", "downloads", "trains a model"),
)
"""How a reason not to run begins."""


def test_what_pages_show_runs(tmp_path: Path) -> None:
    """Files, programs, commands and their output, in a process of its own with an empty home."""
    done = subprocess.run(
        [sys.executable, "tools/shown.py", *EXECUTED],
        cwd=ROOT,
        env={**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    failed = [line for line in done.stdout.splitlines() if not re.match(r"\S+: \d+ blocks, ", line)]
    assert done.returncode == 0, "\n".join([*failed, done.stderr])
    assert f"{len(EXECUTED)} pages, 0 failed" in done.stdout


@pytest.mark.needs("torch", "peft", model="smollm2-135m-instruct")
@pytest.mark.parametrize("name", ["train-a-reader", "build-a-test-set"])
def test_plans_for_models_run(name: str, tmp_path: Path) -> None:
    """Before anything is asked or trained; `make shown` runs what these pages show as a whole."""
    blocks = read_blocks(ROOT / "docs" / "tutorials" / f"{name}.md")
    files = [f'```yaml title="{b.title}"\n{b.text}```\n' for b in blocks if b.title == "t.yaml"]
    plans = [f"```console\n{b.text}```\n" for b in blocks if b.models and b.text.count("$ ") == 1
             and "--plan" in b.text]  # fmt: skip
    counts = run_page(_page(tmp_path, "".join([*files, *plans])), tmp_path)
    assert counts["commands run"] == len(plans) > 0


def test_comments_say_how_a_block_runs(tmp_path: Path) -> None:
    """Commands and statements before it, models if they are allowed, servers that are stopped."""
    text = (
        "<!-- first: printf 'a = 3' > numbers_of_mine.py -->\n"
        "<!-- first: >>> from numbers_of_mine import a -->\n```python\nprint(a)\n#> 3\n```\n"
        "<!-- with models: asks one -->\n```console\n$ echo one\none\n```\n"
        "```console\n$ ragstone view store\nhttp://127.0.0.1:8321/\n```\n"
    )
    page = _page(tmp_path, text)
    (tmp_path / "store").mkdir()
    assert run_page(page, tmp_path)["commands run"] == 1
    assert run_page(page, tmp_path, models=True)["commands run"] == 2
    page.write_text("<!-- first: false -->\n```python\n```\n")
    with pytest.raises(PageError, match=r"page\.md:1: exit code 1"):
        run_page(page, tmp_path)


def test_every_reason_not_to_run_is_one_of_a_short_list() -> None:
    """And no file of a page has one: a file is always written."""
    blocks = [block for page in EXECUTED for block in read_blocks(ROOT / page) if block.reason]
    odd = [b for b in blocks if not b.reason.startswith(REASONS)]
    assert [f"{b.page}:{b.line}: {b.reason}" for b in odd] == []
    assert [f"{b.page}:{b.line}" for b in blocks if b.kind == "file"] == []


def test_every_extra_that_a_page_installs_exists() -> None:
    """`pip install 'ragstone[...]'` names extras of the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    for page in EXECUTED:
        for block in read_blocks(ROOT / page):
            named = re.findall(r"ragstone\[([\w,]+)\]", block.text)
            assert {each for one in named for each in one.split(",")} <= extras, block.line


def _page(folder: Path, text: str) -> Path:
    path = folder / "page.md"
    path.write_text(text, "utf-8")
    return path


FAULTS = {
    "an option that does not exist": ("```\nragstone data show sample --jsn\n```\n", 2),
    "a value that is not allowed": (
        "```\nragstone prompts\nragstone data generate sample x --count many\n```\n", 3),
    "a command that fails": ("text\n\n```console\n$ ragstone data show absent\n```\n", 4),
    "output that differs": ("```console\n$ echo one\ntwo\n```\n", 3),
    "an exception": ("```python\na = 1\n\nb = 1 / 0\n```\n", 4),
    "Python that cannot be parsed": ("<!-- not run: needs a GPU -->\n```python\nx = = 1\n```\n", 3),
    "a wrong option in a block that is not run": (
        "<!-- not run: needs a GPU -->\n\n```\nragstone run e.yaml --fast\n```\n", 4),
    "a title of another form": ("```json rows.jsonl\n{}\n```\n", 1),
    "a block that is not closed": ("```python\nx = 1\n", 2),
    "a file outside of the folder": ('```text title="../x"\n```\n', 2),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failure_names_page_and_line(fault: str, tmp_path: Path) -> None:
    """Each kind of failure, on the line of the command or statement."""
    text, line = FAULTS[fault]
    with pytest.raises(PageError, match=rf"page\.md:{line}: "):
        run_page(_page(tmp_path, text), tmp_path)


def test_a_page_runs_in_its_order_and_is_counted(tmp_path: Path) -> None:
    """Files, one program, a server that is stopped at the end, commands in a shell."""
    server = (
        "from http.server import *\nHTTPServer(('localhost', 9000), BaseHTTPRequestHandler)\n"
        "print('ready at 9000')\nimport time\ntime.sleep(600)\n"
    )
    text = (
        f'```python title="my_server.py"\n{server}```\n```python\nx = 2\n```\n'
        "```python\nprint(x + 1)\n#> 3\n```\n"
        "```console\n$ python my_server.py &\nready at 9000\n$ echo a b | tr a c\nc ...\n```\n"
        "<!-- not run: needs a GPU -->\n```\nragstone run e.yaml   # a comment\n```\n"
        "```json\n{}\n```\n"
    )
    counts = run_page(_page(tmp_path, text), tmp_path)
    assert counts == Counter(
        {"blocks": 6, "run": 4, "not run": 1, "shown": 1}
        | {"commands": 3, "commands run": 2, "commands parsed only": 1}
    )


def test_output_that_differs_can_be_written_into_the_page(tmp_path: Path) -> None:
    """Shorter and longer output, of commands and of Python."""
    text = "```console\n$ echo 1; echo 2\n?\n$ echo 3\n?\n?\n```\n```python\nprint(4)\n#> ?\n```\n"
    page = _page(tmp_path, text)
    run_page(page, tmp_path, write=True)
    assert page.read_text() == (
        "```console\n$ echo 1; echo 2\n1\n2\n$ echo 3\n3\n```\n```python\nprint(4)\n#> 4\n```\n"
    )


def test_any_text_stands_for_three_points() -> None:
    """Within a line and over lines; everything else is literal."""
    assert matches(("a ... c",), "a b\nb c\n")
    assert not matches(("a ... c",), "a b\n")
    assert not matches(("a.c",), "abc\n")


def test_commands_are_checked_without_running() -> None:
    """Groups, groups with a default command, options of groups."""
    for text in ("store", "store check --repair", "annotate my-labels --task support --data s"):
        parse_command(text.split())
    with pytest.raises(click.UsageError):
        parse_command(["annotate", "my-labels", "--tasks", "support"])


def test_a_command_goes_on_in_the_next_line(tmp_path: Path) -> None:
    """A backslash joins lines; comments are no words."""
    (block,) = read_blocks(_page(tmp_path, "```\nragstone run \\\n    e.yaml  # now\n```\n"))
    (command,) = commands_of(block)
    assert command.words == ["ragstone", "run", "e.yaml"]
    assert command.line == 2
