"""The page of one query: its chain, its place in a list, and what if it were asked otherwise."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote, unquote_plus

import aiohttp
import orjson
import pytest
from tests.fakes.asked_store import (
    EVERY_ACTION,
    HARD_ID,
    action,
    answer,
    asked_again,
    asked_experiment,
    query_page,
    sent_form,
)
from tests.fakes.faulty_system import faulty
from tests.fakes.made_results import HOSTILE

from ragstone.errors import ConfigError
from ragstone.experiment.load import load_experiment
from ragstone.results.causes.document import causes_document
from ragstone.results.leaderboards import results_document
from ragstone.testing import FakeModelServer
from ragstone.view.app import make_app
from ragstone.view.pages import PAGES
from ragstone.view.store_view import StoreView
from ragstone.web.errors import PageError
from ragstone.web.server import running

PLACE = {"experiment": "asked", "system": "s", "setting": "retrieved(2)"}


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> StoreView:
    """Return the store of systems that fail on purpose."""
    folder = tmp_path_factory.mktemp("faulty")
    faulty(folder)
    return StoreView(folder / "store")


@pytest.fixture
def server() -> Iterator[FakeModelServer]:
    """Yield a model server."""
    with FakeModelServer(answer) as found:
        yield found


@pytest.fixture
def view(server: FakeModelServer, tmp_path: Path) -> StoreView:
    """Return a store with an experiment that ran."""
    asked_experiment(tmp_path, server.url).run()
    return StoreView(tmp_path / "store")


def test_the_page_has_the_chain_of_why(failing: StoreView) -> None:
    """Cause, evidence, ranks of gold, and the answers of all systems under all settings."""
    page = query_page(failing, "low", system="a", setting="retrieved(3)")
    assert (page["chain"]["cause"], page["chain"]["search"]) == ("ranking", "low happened when?")
    gold = [row for row in page["ranks"] if row["gold"]]
    assert [(row["passage_id"], row["rank"]) for row in gold] == [("low-gold", 7)]
    assert [one["setting"] for one in page["columns"]] == page["settings"]
    assert page["passages"][0]["places"] == {"gold": [1, "gold"]}
    rights = {
        row["system"]: [one and one["right"] for one in row["answers"]] for row in page["systems"]
    }
    assert rights == {"a": [False, True, False, False], "b": [False, True, False, False]}
    assert [row["metric"] for row in page["metrics"]][:2] == ["Match", "refusal"]


def test_without_a_choice_a_wrong_answer_is_shown(failing: StoreView) -> None:
    """The first setting whose wrong answers have causes comes first."""
    page = query_page(failing, "pushed")
    assert (page["chain"]["system"], page["chain"]["setting"]) == ("a", "retrieved(3)")
    assert query_page(failing, "pushed", setting="gold")["chain"]["right"] is True
    failed = query_page(failing, "failed", system="b", setting="retrieved(3)")
    assert failed["columns"][2]["answers"][0]["reason"] == "the server is down"


def test_names_that_do_not_exist(failing: StoreView) -> None:
    """The nearest id, system and setting are named."""
    with pytest.raises(ConfigError, match=r"no answered query 'lov'.*such as low"):
        query_page(failing, "lov")
    for values in ({"system": "aa"}, {"setting": "retrieved(4)"}):
        with pytest.raises(PageError, match="did you mean"):
            query_page(failing, "low", **values)


def test_the_list_that_led_here(failing: StoreView) -> None:
    """The next and the previous query are those of the filter in `from`, in its order."""
    address = "/causes?experiment=e&system=a&setting=retrieved(3)&cause=processing&from=50"
    page = query_page(failing, "dropped", **{"from": address})
    found = page["list"]
    assert (found["position"], found["total"], found["address"]) == (1, 2, address)
    following = unquote_plus(found["links"]["next"])
    assert following.startswith(f"/query/shortened?from={address}")
    assert "prev" not in found["links"]
    outside = query_page(failing, "low", **{"from": address})["list"]
    assert (outside["position"], outside["total"]) == (None, 2)


def test_the_list_of_the_filters(failing: StoreView) -> None:
    """Without `from`, the filters of the address restrict the list, and stay in the links."""
    values = {"system": "a", "setting": "retrieved(3)", "cause": "processing"}
    found = query_page(failing, "shortened", experiment="e", **values)["list"]
    assert (found["position"], found["total"]) == (2, 2)
    assert "cause=processing" in found["address"]
    assert "cause=processing" in found["links"]["prev"]


@pytest.mark.parametrize("address", ["//evil.example/", "https://evil.example/", "/\\evil", "x"])
def test_a_list_elsewhere_is_not_linked(failing: StoreView, address: str) -> None:
    """The link back leads to the list of all queries instead."""
    found = query_page(failing, "low", **{"from": address})["list"]
    assert found["address"] == "/queries?experiment=e"
    assert found["total"] == 16


def test_a_list_with_values_of_its_own(failing: StoreView) -> None:
    """Values that are not filters of queries leave all queries in the list."""
    found = query_page(failing, "low", **{"from": "/compare?a=x&label=nix"})["list"]
    assert (found["address"], found["total"]) == ("/compare?a=x&label=nix", 16)


def test_a_passage_is_dropped_and_another_added(view: StoreView) -> None:
    """The answer changes, and is listed as exploratory with what was changed."""
    page = query_page(view, "t3", **PLACE)
    assert page["columns"][2]["answers"][0]["right"] is False
    found = asked_again(view, page, drop_1="yes", add="p1", place_2="1")
    assert found.address.startswith("/query/t3?")
    (trial,) = query_page(view, "t3", **PLACE)["trials"]
    assert found.address.endswith(f"tried={quote(trial['name'], safe='')}#tried")
    assert (trial["purpose"], trial["system"]) == ("exploratory", "s")
    assert trial["passage_ids"][-1] == "p1"
    assert trial["answers"][0]["answer"] == "in winter"
    assert trial["answers"][0]["right"] is True
    dropped = page["form"]["passages"][0]["passage_id"]
    assert trial["note"] == f"what if: retrieved(2), {dropped} dropped; p1 added"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"text_1": "It happened in winter."}, "in winter"),
        ({"search": "story one"}, "in winter"),
        ({"add": "mine", "add_text": "It happened in winter."}, "in winter"),
        ({"prompt_user": "It happened in winter {context} {query}"}, "in winter"),
        ({"place_1": "9"}, "in autumn"),
        ({}, "in autumn"),
    ],
)
def test_every_part_can_be_changed(view: StoreView, changes: dict[str, str], said: str) -> None:
    """A text, the search text, a new passage, the prompt and the order; or nothing at all."""
    asked_again(view, query_page(view, "t3", **PLACE), **changes)
    (trial,) = query_page(view, "t3", **PLACE)["trials"]
    assert trial["answers"][0]["answer"] == said


def test_the_same_change_is_asked_once(view: StoreView, server: FakeModelServer) -> None:
    """The second time everything is kept; another change is a further entry, the newest first."""
    page = query_page(view, "q1", **PLACE)
    asked_again(view, page, drop_1="yes")
    asked = sum(server.answered.values())
    asked_again(view, page, drop_1="yes")
    assert sum(server.answered.values()) == asked
    asked_again(view, page, drop_2="yes")
    trials = query_page(view, "q1", **PLACE)["trials"]
    assert len(trials) == 2
    assert trials[0]["finished"] >= trials[1]["finished"]


def test_nothing_enters_a_mean(view: StoreView) -> None:
    """Tables, causes, exports and the list of experiments are the same before and after."""

    def numbers() -> bytes:
        results = StoreView(view.root).results("asked")
        shown = [results_document(results), causes_document(results), results.passport()]
        exported = sorted(path.read_bytes() for path in results.export(view.root / "x" / "out"))
        return orjson.dumps([*shown, list(map(str, exported))], default=str)

    before, listed = numbers(), view.experiments()
    shutil.rmtree(view.root / "x", ignore_errors=True)
    for place in ("1", "2"):
        asked_again(view, query_page(view, "t3", **PLACE), **{f"drop_{place}": "yes"})
    assert numbers() == before
    assert view.experiments() == listed
    assert len(query_page(StoreView(view.root), "t3", **PLACE)["trials"]) == 2


def test_a_model_that_is_off_loses_nothing(tmp_path: Path) -> None:
    """The form has what was entered, the page says why; later the same form works."""
    with FakeModelServer(answer) as server:
        asked_experiment(tmp_path, server.url).run()
    view = StoreView(tmp_path / "store")
    page = query_page(view, "q1", **PLACE)
    changes = {"drop_1": "yes", "text_2": "Another <b>text</b>.", "prompt_system": "Be brief."}
    found = asked_again(view, page, **changes, add="p3")
    assert found.page is not None
    form = found.document["form"]
    assert "cannot connect" in found.document["problem"]["said"]
    assert [one["dropped"] for one in form["passages"]] == [True, False]
    assert form["passages"][1]["text"] == "Another <b>text</b>."
    assert (form["prompts"]["system"], form["add"]) == ("Be brief.", "p3")
    assert found.document["trials"] == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"place_1": "first"}, "The position of .* is 'first'"),
        ({"add": "nix"}, "no passage 'nix'"),
        ({"add_text": "A text."}, "a text and no id"),
        ({"search": "other", "drop_1": "yes"}, "not both"),
        ({"prompt_user": "{nix} {context} {query}"}, "nix"),
    ],
)
def test_a_change_that_is_not_possible(
    view: StoreView, server: FakeModelServer, changes: dict[str, str], said: str
) -> None:
    """Nothing is asked, and the reason is above the form."""
    asked = sum(server.answered.values())
    found = asked_again(view, query_page(view, "q1", **PLACE), **changes)
    assert found.page is not None
    assert re.search(said, found.document["problem"]["said"])
    assert sum(server.answered.values()) == asked


def test_a_failed_answer_is_listed_and_asked_again(tmp_path: Path) -> None:
    """It has its reason and counts as wrong; the same change asks for it again."""
    with FakeModelServer(answer) as server:
        asked_experiment(tmp_path, server.url).run()
        view = StoreView(tmp_path / "store")
        page = query_page(view, "q1", **PLACE)
        server.faults = {"400": 1.0}
        asked_again(view, page, text_1="Changed: It happened in winter.")
        (trial,) = query_page(view, "q1", **PLACE)["trials"]
        assert trial["answers"][0]["answer"] is None
        assert "400" in trial["answers"][0]["reason"]
        assert trial["answers"][0]["right"] is False
        server.faults = {}
        asked_again(view, page, text_1="Changed: It happened in winter.")
        (trial,) = query_page(view, "q1", **PLACE)["trials"]
        assert trial["answers"][0]["answer"] == "in winter"


def test_a_sampling_model_answers_as_often_as_in_the_experiment(tmp_path: Path) -> None:
    """Each answer is listed with its verdict."""
    with FakeModelServer(answer) as server:
        generator = {"name": "chat", "model": "m", "base_url": server.url, "temperature": 0.7}
        systems = {"s": {"retriever": "bm25", "generator": generator}}
        asked_experiment(tmp_path, server.url, systems=systems, repeats=3).run()
        view = StoreView(tmp_path / "store")
        page = query_page(view, "t3", **PLACE)
        assert len(page["columns"][2]["answers"]) == 3
        asked_again(view, page, text_1="It happened in winter.")
    (trial,) = query_page(view, "t3", **PLACE)["trials"]
    assert [one["right"] for one in trial["answers"]] == [True, True, True]


def test_after_another_run(tmp_path: Path) -> None:
    """Trials of other components are left out; a form of the earlier run is stale."""
    with FakeModelServer(answer) as server:
        asked_experiment(tmp_path, server.url).run()
        view = StoreView(tmp_path / "store")
        page = query_page(view, "q1", **PLACE)
        asked_again(view, page, drop_1="yes")
        basis = action("/what-if").basis
        assert basis(view, sent_form(page)) == page["basis"]
        generator = {"name": "chat", "model": "other", "base_url": server.url}
        systems = {"s": {"retriever": "bm25", "generator": generator}}
        asked_experiment(tmp_path, server.url, systems=systems).run()
        assert basis(view, sent_form(page)) != page["basis"]
        later = query_page(view, "q1", **PLACE)
        assert later["trials"] == []
        asked_again(view, later, drop_1="yes")
        assert len(query_page(view, "q1", **PLACE)["trials"]) == 1


def test_hostile_texts_and_ids_over_http(view: StoreView) -> None:
    """Texts are texts; an id that looks like a twin has its own page, twin and form."""

    async def ask() -> None:
        app = make_app(view, PAGES, EVERY_ACTION)
        async with running(app) as address, aiohttp.ClientSession() as session:
            page = f"{address}query/{quote(HARD_ID)}/?experiment=asked&setting=gold"
            async with session.get(page) as reply:
                text = await reply.text()
                assert reply.status == 200
            assert HOSTILE[0] not in text
            assert "<img src=x" not in text
            assert "\x1b" not in text
            twin = f"{address}query/{quote(HARD_ID)}.json?experiment=asked&setting=gold"
            async with session.get(twin) as reply:
                found = await reply.json()
            assert found["query"]["query_id"] == HARD_ID
            token = text.split('name="token" value="')[1].split('"')[0]
            form = sent_form(found, token=token, basis=found["basis"])
            async with session.post(f"{address}what-if", data=form) as reply:
                assert reply.status == 200
                asked = await reply.text()
            assert "nothing changed" in asked
            assert HOSTILE[0] not in asked
            stale = {**form, "token": "old", "drop-1": "yes"}
            async with session.post(f"{address}what-if", data=stale) as reply:
                assert reply.status == 409
                kept = await reply.text()
            assert "nothing is lost" in kept
            assert 'name="drop-1" value="yes"' in kept
            assert "\\x0d" not in kept
            assert HOSTILE[0] not in kept

    asyncio.run(ask())


def test_an_experiment_of_retrieval_alone(server: FakeModelServer, tmp_path: Path) -> None:
    """There is no chain, and the page says so."""
    systems = {"s": {"retriever": "bm25"}}
    asked_experiment(tmp_path, server.url, systems=systems, settings=[], metrics=["R@2"]).run()
    page = query_page(StoreView(tmp_path / "store"), "q1")
    assert page["chain"] is None


def test_a_system_that_brings_its_own_context(tmp_path: Path) -> None:
    """Its passages cannot be changed, as they are not known; it can be asked again."""
    examples = files("ragstone.examples")
    for name in ("capitals.csv", "own_system.py", "own-system.yaml"):
        (tmp_path / name).write_bytes((examples / name).read_bytes())
    experiment = load_experiment(tmp_path / "own-system.yaml", [f"store={tmp_path / 'store'}"])
    query_id = next(iter(experiment.run().queries))
    view = StoreView(tmp_path / "store")
    page = query_page(view, query_id)
    assert (page["form"]["passages"], page["form"]["search"]) == (None, None)
    asked_again(view, page, add="mine", add_text="A text.")
    (trial,) = query_page(view, query_id)["trials"]
    assert trial["note"] == "what if: system, nothing changed"
    assert trial["answers"][0]["answer"]
