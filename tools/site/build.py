"""Build the documentation site: `python tools/site/build.py [FOLDER]` (or `make site`).

FOLDER (by default `build`) gets `site-docs`, the pages as they are handed to Zensical, and `site`.
`site` has a folder per version, `versions.json` for the selector, and a page that leads to the
newest version. Pages of other versions in `site` stay. Nothing is downloaded.
"""

from __future__ import annotations

import importlib.util
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from packaging.version import Version

ROOT: Final = Path(__file__).resolve().parents[2]
HERE: Final = Path(__file__).resolve().parent
OUTSIDE: Final = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "GOVERNANCE.md": "governance.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "benchmarks/README.md": "benchmarks.md",
    "docs/decisions": "decisions/index.md",
}
"""Path in the repository -> path on the site, for what is not below `docs` or is a folder there.

The README has no page: the landing page takes its place."""
UNSEARCHED: Final = {"CHANGELOG.md": "---\nsearch: {exclude: true}\n---\n"}
"""Page -> its first lines, for pages with nearly every word: every search would find them."""
QUESTION_WORDS: Final = (
    "a am an and any are as at be by can could did do does for from get had happens has have how i "
    "if in into is it its made may me mean means might must my of on or our shall should so than "
    "that the their them then there they this to use want was we were what when where whether "
    "which while who whose why will with would you your after"
)
"""Words that say nothing of a page. The search wants every word of a query, so these separate."""
_CODE: Final = re.compile(r"(^ *```.*?^ *```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(
    r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?!https?:|mailto:)([^)\s#]*)(#[^)\s]*)?\)"
)
_FENCE: Final = re.compile(r"^( *```)(\w+) ([^\s={]+)$", re.MULTILINE)
_FIRST: Final = "<!doctype html><html lang=en><meta charset=utf-8><title>Ragstone</title>"


def site_path(path: str) -> str | None:
    """Return the path on the site of a file or folder of the repository; None if it has no page.

    >>> site_path("docs/gate.md"), site_path("SECURITY.md"), site_path("src/ragstone/types.py")
    ('gate.md', 'security.md', None)
    """
    below = path.removeprefix("docs/")
    return OUTSIDE.get(path) or (below if below != path and not path.endswith(".yaml") else None)


def rewritten(text: str, source: str) -> str:
    """Return a page's text with links that lead to pages of the site.

    A link to a file that has no page, such as a source file, becomes its text. A file name beside
    the language of a code block becomes the block's title.

    >>> rewritten("[a](../SECURITY.md#b), `[c](d)`, [`e`](../src/e.py)", "docs/gate.md")
    '[a](security.md#b), `[c](d)`, `e`'
    """
    here = posixpath.dirname(site_path(source) or "")

    def replace(match: re.Match[str]) -> str:
        mark, label, file, anchor = match.groups()
        if not file:
            return match[0]
        place = site_path(posixpath.normpath(posixpath.join(posixpath.dirname(source), file)))
        if place is None:
            return label
        return f"{mark}[{_linked(label)}]({posixpath.relpath(place, here or '.')}{anchor or ''})"

    def _linked(label: str) -> str:
        return _LINK.sub(replace, label)

    # A label may contain code, so code is set aside while links are replaced.
    code: list[str] = []

    def aside(match: re.Match[str]) -> str:
        code.append(match[0])
        return f"\x00{len(code) - 1}\x00"

    titled = _FENCE.sub(r'\1\2 title="\3"', text)
    changed = _LINK.sub(replace, _CODE.sub(aside, titled))
    return re.sub(r"\x00(\d+)\x00", lambda match: code[int(match[1])], changed)


def written_pages() -> Iterator[tuple[str, str]]:
    """Yield path on the site and text of each page that people wrote."""
    for path in sorted((ROOT / "docs").rglob("*.ipynb")):
        source = str(path.relative_to(ROOT).with_suffix(".md"))
        yield site_path(source) or "", rewritten(notebook(path), source)
    sources = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))]
    for source in [*sources, *(path for path in OUTSIDE if path.endswith(".md"))]:
        if source != "README.md":
            text = rewritten((ROOT / source).read_text("utf-8"), source)
            yield site_path(source) or "", UNSEARCHED.get(source, "") + text


def notebook(path: Path) -> str:
    """Return a notebook as a page: its texts, its code, and what the code printed."""
    parts = []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        for output in cell.get("outputs", []):
            shown = output.get("text") or output.get("data", {}).get("text/plain", [])
            parts.append(f"```\n{''.join(shown).rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def decisions() -> dict[str, str]:
    """Return file name -> title of the records of decisions, the newest first."""
    files = sorted((ROOT / "docs" / "decisions").glob("*.md"), reverse=True)
    titles = {file.name: file.read_text("utf-8").splitlines()[0] for file in files}
    return {name: re.sub(r"^# *\d+[.:] *", "", title) for name, title in titles.items()}


def decisions_page() -> str:
    """Return the page that lists the records of decisions."""
    rows = [f"- {name[:4]}: [{title}]({name})\n" for name, title in decisions().items()]
    return (
        "# Decisions\n\nA record says what was decided, why, and on which figures of its day.\n\n"
        + ("".join(rows))
    )


def generated_pages() -> dict[str, str]:
    """Return path on the site -> text of the pages that are made from the code."""
    file = HERE / "reference.py"
    if not file.exists():
        return {}
    spec = importlib.util.spec_from_file_location("site_reference", file)
    if spec is None or spec.loader is None:
        raise ImportError(str(file))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    pages: Callable[[], Mapping[str, str]] = module.pages
    return dict(pages())


def version() -> str:
    """Return the version of the package in this checkout."""
    text = (ROOT / "src" / "ragstone" / "version.py").read_text("utf-8")
    return str(re.findall(r'__version__ = "(.+)"', text)[0])


def nav_tree(paths: list[str], below: str) -> list[Any]:
    """Return a navigation of generated pages: a folder is a section, and its index comes first.

    >>> nav_tree(["r/index.md", "r/a.md", "r/of-b/c.md"], "r")
    ['r/index.md', 'r/a.md', {'Of b': ['r/of-b/c.md']}]
    """
    inside = [path for path in paths if path.startswith(f"{below}/")]
    here = [path for path in inside if "/" not in path[len(below) + 1 :]]
    folders = dict.fromkeys(
        path[len(below) + 1 :].split("/")[0] for path in inside if path not in here
    )
    sections = [
        {name.replace("-", " ").capitalize(): nav_tree(inside, f"{below}/{name}")}
        for name in folders
    ]
    return [*sorted(here, key=lambda path: not path.endswith("/index.md")), *sections]


def configuration(generated: list[str]) -> dict[str, Any]:
    """Return mkdocs.yml with generated pages in the navigation, and the version's places."""
    found: dict[str, Any] = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    sections = {
        name: items for one in found["nav"] if isinstance(one, dict) for name, items in one.items()
    }
    sections["Reference"] += nav_tree(generated, "reference")
    records = [f"decisions/{name}" for name in decisions()]
    sections["Project"].append({"Decisions": ["decisions/index.md", *records]})
    found["docs_dir"] = "site-docs"
    found["site_dir"] = f"site/{version()}"
    found["site_url"] = f"{found['site_url']}{version()}/"
    found["plugins"][found["plugins"].index("search")] = {
        "search": {"separator": search_separator()}
    }
    for plugin in found["plugins"]:
        if isinstance(plugin, dict) and "mkdocstrings" in plugin:
            python = plugin["mkdocstrings"]["handlers"]["python"]
            for places in (python["paths"], python["options"]["extensions"]):
                places[:] = [str(ROOT / place) for place in places]
    return found


def search_separator() -> str:
    """Return what separates words of the search: spaces, signs, and the words of any question.

    >>> re.sub(search_separator(), " ", "How do I train a reranker?").split()
    ['train', 'reranker']
    """
    words = "|".join(f"[{w[0].upper()}{w[0]}]{w[1:]}" for w in QUESTION_WORDS.split())
    return rf'[\s\-_,:!?=\[\]()\\"`/]+|\.(?!\d)|\b(?:{words})\b'


def assemble(folder: Path) -> None:
    """Write the pages, pictures and styles of the site below a folder, and its configuration."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs" / "pictures", folder / "pictures")
    shutil.copytree(HERE / "assets", folder / "assets")
    generated = generated_pages()
    pages = dict(written_pages()) | {"decisions/index.md": decisions_page()} | generated
    for path, text in pages.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    text = yaml.safe_dump(configuration(list(generated)), sort_keys=False, allow_unicode=True)
    (folder.parent / "mkdocs.yml").write_text(text, encoding="utf-8")


def list_versions(site: Path) -> None:
    """Write `versions.json` and the page that leads to the newest version of a site."""
    names = [path.parent.name for path in site.glob("*/index.html")]
    newest = sorted(names, key=Version, reverse=True)
    listed = [
        {"version": name, "title": name, "aliases": ["latest"][: name == newest[0]]}
        for name in newest
    ]
    (site / "versions.json").write_text(json.dumps(listed), encoding="utf-8")
    place = f"{newest[0]}/index.html"
    refresh = f'<meta http-equiv=refresh content="0; url={place}">'
    page = f'{_FIRST}{refresh}<a href="{place}">Ragstone</a>\n'
    (site / "index.html").write_text(page, encoding="utf-8")


def build(folder: Path) -> Path:
    """Build the site below a folder, and return the folder of this version's pages.

    Raises:
        SystemExit: Zensical failed, or it warned of a broken link or anchor.
    """
    assemble(folder / "site-docs")
    site = folder / "site" / version()
    shutil.rmtree(site, ignore_errors=True)
    program = Path(sys.executable).with_name("zensical")
    command = [str(program), "build", "--clean", "--strict", "--config-file", "mkdocs.yml"]
    ended = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    said = re.sub(r"\x1b\[[0-9;]*m", "", ended.stdout + ended.stderr)
    if ended.returncode or "arning" in said:
        raise SystemExit(f"{said}\nthe site was not built: exit code {ended.returncode}")
    list_versions(site.parent)
    return site


def main(arguments: list[str]) -> None:
    """Build the site and print where it is."""
    start = time.perf_counter()
    site = build(Path(*arguments[:1]).resolve() if arguments else ROOT / "build")
    pages = len(list(site.rglob("*.html")))
    print(f"{pages} pages in {time.perf_counter() - start:.1f} s: {site.parent / 'index.html'}")


if __name__ == "__main__":
    main(sys.argv[1:])
