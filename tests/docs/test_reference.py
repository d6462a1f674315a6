"""The generated reference: everything occurs once, is documented, and has a stability."""

from __future__ import annotations

import doctest
import json
import re
from collections import Counter
from functools import cache

import pytest
from tools import api_documented
from tools.api_documented import documented, shortcomings
from tools.site.api_pages import example
from tools.site.commands_pages import ROOT, commands
from tools.site.components_pages import GUIDES, built_in
from tools.site.file_page import keys
from tools.site.metrics_pages import FAMILIES
from tools.site.page_text import anchor
from tools.site.reference import pages
from tools.site.stability import document, level_of_command, public_names

import ragstone
from ragstone import testing
from ragstone.components.metrics.base import Metric
from ragstone.core.builtins import BUILT_IN
from ragstone.core.registry import find
from ragstone.experiment.config import ExperimentFile

LEVELS = {"stable", "provisional", "experimental"}


@cache
def site() -> dict[str, str]:
    """Return the pages."""
    return pages()


def headings(path: str) -> Counter[str]:
    """Return the names in the headings of a page, with how often they occur."""
    return Counter(re.findall(r"^## `([^`]+)`", site()[path], re.MULTILINE))


def test_every_command_has_one_page_with_usage_and_links() -> None:
    """A page has the summary, the usage, all options, and links to docs that exist."""
    listed = [path for path, _ in commands()]
    names = [p for p in site() if p.startswith("reference/commands/") and "index" not in p]

    assert sorted(f"reference/commands/{'-'.join(path)}.md" for path in listed) == sorted(names)
    for path, context in commands():
        text = site()[f"reference/commands/{'-'.join(path)}.md"]
        assert f"\n$ ragstone {' '.join(path)}" in text
        for option in context.command.get_params(context):
            unlisted = option.param_type_name == "argument" or getattr(option, "hidden", False)
            assert unlisted or f"\n| `{option.opts[0]}`" in text
        assert site()["reference/commands/index.md"].count(f"]({'-'.join(path)}.md)") == 1


def test_every_link_of_a_page_leads_to_a_page() -> None:
    """Targets are generated pages or files of docs/."""
    for path, text in site().items():
        prose = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)", prose):
            parts = path.split("/")[:-1]
            for piece in target.split("/"):
                parts = parts[:-1] if piece == ".." else [*parts, piece]
            found = "/".join(parts)
            assert found in site() or (ROOT / "docs" / found).is_file(), (path, target)


def test_every_key_of_the_schema_is_explained_once() -> None:
    """The page has each key with a meaning, and so has the JSON Schema that editors read."""
    text = site()["reference/experiment-file.md"]
    rows = re.findall(r"^\| `([^`]+)` \| .* \| (.*) \|$", text, re.MULTILINE)

    assert Counter(key for key, _ in rows) == Counter(keys())
    assert [key for key, meaning in rows if not meaning] == []
    assert set(ExperimentFile.model_fields) <= set(keys())
    assert "description" in json.dumps(ExperimentFile.model_json_schema()["properties"]["store"])


@pytest.mark.parametrize("kind", [kind for kind in BUILT_IN if kind != "metrics"])
def test_every_component_is_described_once(kind: str) -> None:
    """The page of a kind has every built-in component, with all its parameters."""
    path = f"reference/components/{kind}.md"

    assert kind in GUIDES
    assert headings(path) == Counter(list(BUILT_IN[kind]))
    for entry in built_in(kind):
        section = site()[path].partition(f"## `{entry['name']}` ")[2].partition("\n## ")[0]
        assert all(f"| `{one['name']}` |" in section for one in entry["parameters"])


def test_every_metric_is_described_once_with_its_facts() -> None:
    """A metric has a formula, a source, a trap, a range and an example, with anchors of its own."""
    found: Counter[str] = Counter()
    for family in FAMILIES:
        text = site()[f"reference/metrics/{family}.md"]
        found += headings(f"reference/metrics/{family}.md")
        for section in text.split("\n## ")[1:]:
            assert "| range | " in section
            assert "| example | " in section
            for fact in ("Formula", "Source", "Trap"):
                assert f"**{fact}.**" in section, (section[:30], fact)

    assert found == Counter(list(BUILT_IN["metrics"]))
    assert len({anchor(name) for name in found}) == len(found)
    assert all(issubclass(find("metrics", name, where="here"), Metric) for name in found)


def test_every_public_name_is_on_one_page() -> None:
    """The names are those of the package and of `ragstone.testing`, each with one directive."""
    named = Counter((one.module, one.name) for one in public_names())
    public = [("ragstone", name) for name in ragstone.__all__]
    text = "\n".join(page for path, page in site().items() if path.startswith("reference/api/"))

    assert named == Counter([*public, *(("ragstone.testing", name) for name in testing.__all__)])
    for module, name in named:
        assert len(re.findall(rf"^::: {module}\.{name}$", text, re.MULTILINE)) == 1


def test_every_name_command_and_format_has_a_stability() -> None:
    """No mark is left over, and each is one of the three levels."""
    listed = {" ".join(path): level_of_command(path) for path, _ in commands()}
    marks = document()["commands"]
    formats = [one["level"] for one in document()["formats"].values()]

    assert set(document()["levels"]) == LEVELS
    assert {*listed.values(), *marks.values(), *formats} <= LEVELS
    assert {one.level for one in public_names()} <= LEVELS
    assert set(marks) <= set(listed)
    assert site()["reference/stability.md"].count("| [`ragstone ") == len(listed)


def test_the_public_api_is_documented() -> None:
    """Each name and each promised member has text, an example, units, errors and sources."""
    assert len(list(documented())) > len(ragstone.__all__) + len(testing.__all__)
    assert sorted(set(shortcomings())) == []


def test_a_member_without_a_mark_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """So are two marks of one member, and a mark of a member that does not exist."""
    (score,) = (one for one in public_names() if one.name == "Score")
    changed = score._replace(members=score.members[1:], experimental=("value", "gone"))
    monkeypatch.setattr(api_documented, "public_names", lambda: [changed])

    assert set(api_documented.unmarked()) == {
        (f"Score.{score.members[0]}", "no stability"),
        ("Score.value", "two marks of stability"),
        ("Score.gone", "a mark of stability, and no such member"),
    }


@pytest.mark.parametrize("group", list(document()["api"]))
def test_the_examples_of_the_api_run(group: str) -> None:
    """The example of a page prints what the page shows."""
    text = "\n".join(re.findall(r"```pycon\n(.*?)```", example(group), re.DOTALL))
    test = doctest.DocTestParser().get_doctest(text, {}, group, f"{group}.md", 0)
    output: list[str] = []

    failed, tried = doctest.DocTestRunner().run(test, out=output.append)

    assert tried > 0
    assert failed == 0, "".join(output)


def test_pages_are_the_same_each_time() -> None:
    """Nothing on a page depends on the time, the machine or the order of a set."""
    again = pages()

    assert again == site()
    assert list(again) == list(site())
