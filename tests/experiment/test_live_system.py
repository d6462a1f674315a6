"""Systems that answer new queries: from an experiment file, or your own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.counting_service import serving

from ragstone.calls.client import Calls
from ragstone.errors import ConfigError
from ragstone.experiment.live_system import LiveSystem
from ragstone.protocols import Services
from ragstone.testing import FakeModelServer
from ragstone.types import Message, Query

EXPERIMENT = """
data: sample
systems:
  base: {{retriever: bm25, generator: "{model}"}}
  fused:
    query_former: last-turns
    retriever: {{name: fusion, retrievers: [bm25, bm25], method: rrf}}
    generator: "{model}"
settings: [{settings}]
metrics: [R@5]
"""


def written(
    folder: Path, url: str = "http://127.0.0.1:9/v1", settings: str = "gold, retrieved(2)"
) -> str:
    """Return the path of an experiment file with two systems."""
    path = folder / "e.yaml"
    model = f"chat(base_url={url}, model=fake)"
    path.write_text(EXPERIMENT.format(model=model, settings=settings))
    return str(path)


@pytest.mark.parametrize("name", ["base", "fused"])
def test_a_system_of_an_experiment_answers_new_queries(tmp_path: Path, name: str) -> None:
    """It searches, shows two passages and answers, under the setting without judgements."""
    history = (Message("user", "Hello"), Message("agent", "Good day"))
    queries = [Query("n1", "Which city is the capital?"), Query("n2", "And why?", history=history)]
    with (
        FakeModelServer(answer=lambda _: "An answer.") as server,
        Calls.at(tmp_path / "calls.sqlite") as calls,
    ):
        system = LiveSystem.load(f"{written(tmp_path, server.url)}:{name}", "")
        replies = system.reply(queries, Services(calls=calls))
        assert system.reply([], Services(calls=calls)) == []
    assert [reply.prediction.answer for reply in replies] == ["An answer."] * 2
    assert [len(reply.context.passage_ids) for reply in replies] == [2, 2]
    assert replies[0].search == "Which city is the capital?"
    assert ("Hello" in replies[1].search) == (name == "fused")


def test_a_wrong_name_or_setting_is_an_error(tmp_path: Path) -> None:
    """The error lists the systems, or the settings that are possible."""
    with pytest.raises(ConfigError, match=r"has base, fused: write FILE\.yaml:NAME"):
        LiveSystem.load(written(tmp_path), "")
    with pytest.raises(ConfigError, match="did you mean 'base'"):
        LiveSystem.load(f"{written(tmp_path)}:bas", "")
    with pytest.raises(ConfigError, match="under no setting without judgements"):
        LiveSystem.load(f"{written(tmp_path, settings='gold')}:base", "")
    with pytest.raises(ConfigError, match="is not a system"):
        LiveSystem.load("nothing", "sample")


def test_a_service_is_not_asked_again_in_one_folder(tmp_path: Path) -> None:
    """Its replies are kept like those of a model, though it declares no release."""
    query = Query("n1", "Which city is the capital?", history=(Message("user", "Hello"),))
    with serving() as service:
        for _ in range(2):
            with Calls.at(tmp_path / "calls.sqlite") as calls:
                system = LiveSystem.load(service.url, "sample")
                system.check(Services(calls=calls))
                (reply,) = system.reply([query], Services(calls=calls))
            assert reply.prediction.answer == "version 1"
        assert service.counts.total() == 1
        assert service.bodies[0]["history"] == [{"role": "user", "text": "Hello"}]
    assert (system.setting.setting, system.shows) == ("system", 0)


def test_a_text_is_searched_for_as_it_is(tmp_path: Path) -> None:
    """With the system's retriever, or with BM25 if it has none; the query former is left out."""
    own = tmp_path / "my_rag.py"
    own.write_text("def answer(query):\n    return 'Six.'\n")
    with Calls.at(tmp_path / "calls.sqlite") as calls:
        services = Services(calls=calls)
        fused = LiveSystem.load(f"{written(tmp_path)}:fused", "")
        alone = LiveSystem.load(f"{own}:answer", "sample")
        found = [one.search("Which city is the capital?", services) for one in (fused, alone)]
        assert len(alone.search("zzzz", services)) == 0
    assert found[0].passage_ids[0] == found[1].passage_ids[0]
    assert all(one.passage_ids for one in found)
