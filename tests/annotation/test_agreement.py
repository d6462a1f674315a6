"""Agreement while people work: that of `data ratings` on the export, and of other packages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import krippendorff
import numpy as np
import pytest
from click.testing import CliRunner
from statsmodels.stats.inter_rater import cohens_kappa, to_table
from tests.fakes.labelled_project import made_site, plain_items

from ragstone.annotation.agreement import (
    PeopleAgreement,
    agreements,
    item_agreement,
    side_choices,
)
from ragstone.annotation.blind import Blind
from ragstone.annotation.label_columns import label_columns
from ragstone.annotation.rating_export import rating_lines
from ragstone.annotation.site import Site
from ragstone.cli.data import command

PEOPLE = ("ann", "ben", "eve")
SUPPORT = ("yes", "partly", "no", "cannot tell")


def reported(site: Site, path: Path) -> dict[str, Any]:
    """Return the properties that `data ratings` reports on the export."""
    path.write_bytes(b"".join(rating_lines(site)))
    done = CliRunner().invoke(command, ["ratings", str(path), "--json"])
    assert done.exit_code == 0, done.output
    properties: dict[str, Any] = json.loads(done.stdout)["properties"]
    return properties


def check_equal(found: PeopleAgreement, wanted: dict[str, Any]) -> None:
    """Check that the page has the figures of the report, to the last bit."""
    of = found.agreement
    assert (of.n, list(of.raters), of.level) == (wanted["n"], wanted["raters"], wanted["level"])
    assert of.alpha.value == wanted["alpha"]
    assert list(of.alpha.interval or ()) == (wanted["alpha_interval"] or [])
    pairs = [
        {"a": one.a, "b": one.b, "kappa": one.kappa.value, "n": one.kappa.n} for one in of.pairwise
    ]
    assert pairs == wanted["pairwise"]
    assert of.equal_pairs.mean == wanted["equal_pairs"]
    assert of.absolute.mean == wanted["absolute"]


def check_packages(
    found: PeopleAgreement, table: Any, level: Literal["nominal", "interval"]
) -> None:
    """Check alpha and kappas against krippendorff and statsmodels; `table` is (person, item)."""
    alpha = krippendorff.alpha(table, level_of_measurement=level)
    assert found.agreement.alpha.value == pytest.approx(alpha, abs=1e-9)
    for pair in found.agreement.pairwise:
        two = table[[PEOPLE.index(pair.a), PEOPLE.index(pair.b)]].T
        codes = np.unique(two[~np.isnan(two).any(axis=1)], return_inverse=True)[1].reshape(-1, 2)
        counts = to_table(codes, bins=int(codes.max()) + 1)[0]
        kappa = cohens_kappa(counts, wt="quadratic" if level == "interval" else None).kappa
        assert pair.kappa.value == pytest.approx(kappa, abs=1e-9)


def test_words_agree_as_in_the_report_and_in_the_packages(tmp_path: Path) -> None:
    """Support labels with gaps; items come in another order than their ids."""
    items = plain_items(40)
    for place, item in enumerate(items):
        item["query_id"] = f"query {place // 2}"
        item["passages"][0]["passage_id"] = f"p{place}"
    generator = np.random.default_rng(3)
    table = np.full((3, 40), np.nan)
    with made_site(tmp_path / "p", items[::-1], people_per_item=3) as (site, give):
        for place in generator.permutation(40):
            for number, person in enumerate(PEOPLE):
                if generator.random() < 0.8:
                    code = place % 4 if generator.random() < 0.6 else generator.integers(4)
                    give(person, f"q{place}", SUPPORT[code])
                    table[number, place] = code
        found = {one.question: one for one in agreements(label_columns(site))}
        wanted = reported(site, tmp_path / "labels.jsonl")
    assert found.keys() == wanted.keys() == {"support"}
    check_equal(found["support"], wanted["support"])
    check_packages(found["support"], table, "nominal")
    for code, value in enumerate(SUPPORT):
        of_value = krippendorff.alpha(
            np.where(np.isnan(table), np.nan, table == code), level_of_measurement="nominal"
        )
        assert found["support"].values[value].value == pytest.approx(of_value, abs=1e-9)
    assert sum(found["support"].counts.values()) == int((~np.isnan(table)).sum())
    assert found["support"].two == int(((~np.isnan(table)).sum(axis=0) > 1).sum())


def test_scales_of_answers_agree_as_in_the_report(tmp_path: Path) -> None:
    """Ratings of two systems' answers on four scales: interval level, quadratic kappas."""
    systems = [{"system": name, "answer": f"Answer of {name}."} for name in ("a", "b")]
    items = [{**one, "answers": systems} for one in plain_items(12)]
    generator = np.random.default_rng(4)
    table = np.full((3, 24), np.nan)
    with made_site(tmp_path / "p", items, task="ratings") as (site, give):
        for number, person in enumerate(PEOPLE):
            for place in range(24):
                value = min(4, max(1, 1 + place % 4 + int(generator.integers(-1, 2))))
                give(person, f"q{place // 2}", value, "faithfulness", "ab"[place % 2])
                give(person, f"q{place // 2}", 4, "naturalness", "ab"[place % 2])
                table[number, place] = value
        found = {one.question: one for one in agreements(label_columns(site))}
        wanted = reported(site, tmp_path / "labels.jsonl")
    assert found.keys() == wanted.keys()
    for name, one in found.items():
        check_equal(one, wanted[name])
    check_packages(found["faithfulness"], table, "interval")
    assert found["naturalness"].agreement.alpha.value is None


def test_several_labels_per_query_agree_as_in_the_report_and_by_label(tmp_path: Path) -> None:
    """Each option is a decision of its own beside the whole."""
    given = {"ann": [["summarization"], ["opinion", "factoid"], ["factoid"]]}
    given["ben"] = [["summarization"], ["opinion"], ["opinion", "factoid"]]
    settings: dict[str, Any] = {"task": "labels", "scheme": "mtrag-question-types"}
    with made_site(tmp_path / "p", 3, **settings) as (site, give):
        name = site.project.scheme.questions[0].name
        for person, lists in given.items():
            for place, values in enumerate(lists):
                give(person, f"q{place}", values, name)
        (found,) = agreements(label_columns(site))
        wanted = reported(site, tmp_path / "labels.jsonl")
    check_equal(found, wanted[name])
    assert found.values["summarization"].value == 1
    assert found.values["opinion"].value == pytest.approx(
        krippendorff.alpha([[0, 1, 0], [0, 1, 1]], level_of_measurement="nominal"), abs=1e-9
    )
    assert (found.counts["factoid"], found.counts["summarization"]) == (3, 2)


def test_what_does_not_count_is_left_out(tmp_path: Path) -> None:
    """Withdrawn and qualification items, repeats, skips and texts are in no figure."""
    items = [*plain_items(4), {"item_id": "known", "query": "Why?", "known": {"support": "yes"}}]
    with made_site(tmp_path / "p", items) as (site, give):
        for person in ("ann", "ben"):
            for item_id in ("q0", "q1", "q2", "q0#again", "known"):
                give(person, item_id, "yes" if item_id != "q1" else "no")
            give(person, "q3", "too hard", kind="skip", field="")
        give("owner", "q2", None, kind="withdraw", field="")
        columns = label_columns(site)
        (found,) = agreements(columns)
        check_equal(found, reported(site, tmp_path / "labels.jsonl")["support"])
    assert (found.agreement.n, found.agreement.ratings) == (2, 4)
    assert columns.withdrawn == {"q2"}


def test_agreement_about_an_item_needs_an_own_label_and_shows_nobodys(tmp_path: Path) -> None:
    """Shares of equal pairs only."""
    with made_site(tmp_path / "p", 2) as (site, give):
        give("ann", "q0", "yes")
        assert item_agreement(site, "q0", "ben") == ()
        (alone,) = item_agreement(site, "q0", "ann")
        assert (alone.people, alone.equal_pairs) == (1, None)
        give("ben", "q0", "yes")
        give("eve", "q0", "no")
        (found,) = item_agreement(site, "q0", "ben")
        assert found.people == 3
        assert found.equal_pairs == pytest.approx(1 / 3)
        assert item_agreement(site, "unknown", "ben") == ()


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
