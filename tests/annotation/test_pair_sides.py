"""Which side people choose of two answers, whatever answer was on it."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.labelled_project import made_site, plain_items

from ragstone.annotation.blind import Blind
from ragstone.annotation.label_columns import label_columns
from ragstone.annotation.pair_sides import side_choices


def test_a_person_who_always_takes_the_left_answer_is_shown(tmp_path: Path) -> None:
    """The sides are drawn per person, so the left answer is sometimes the first of the item."""
    pair = [{"system": name, "answer": f"Answer of {name}."} for name in ("one", "two")]
    items = [{**item, "answers": pair} for item in plain_items(40)]
    with made_site(tmp_path / "p", items, task="pairwise") as (site, give):
        name, given = site.project.scheme.questions[0].name, []
        for place in range(30):
            blind = Blind(site.project, "ann", f"q{place}")
            given.append("a" if blind.parts[blind.sides[0]] == "one" else "b")
            give("ann", f"q{place}", given[-1], name)
        for place in range(30, 40):
            give("ann", f"q{place}", "tie", name)
        (found,) = side_choices(site.project, label_columns(site))
    assert set(given) == {"a", "b"}
    assert (found.left.mean, found.left.n) == (1, 30)
    assert found.left.interval is not None
    assert found.left.interval[0] > 0.5
    assert (found.ties.mean, found.ties.n) == (0.25, 40)


def test_other_questions_have_no_sides(tmp_path: Path) -> None:
    """Only questions about pairs do."""
    with made_site(tmp_path / "p", 1) as (site, give):
        give("ann", "q0", "yes")
        assert side_choices(site.project, label_columns(site)) == ()
