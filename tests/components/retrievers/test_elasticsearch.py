"""The retriever `elasticsearch`, against the fake engine, which ranks exactly."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.support import rankings

from ragstone import testing
from ragstone.calls.client import Calls
from ragstone.calls.prices import Budget, Prices
from ragstone.calls.scheduler import RetryPolicy
from ragstone.components.retrievers.bm25 import BM25
from ragstone.components.retrievers.dense import Dense
from ragstone.components.retrievers.elasticsearch import Elasticsearch
from ragstone.components.retrievers.fusion import Fusion
from ragstone.core.component import run_component
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.offline import no_network
from ragstone.data.corpus import Corpus
from ragstone.errors import CallError, ConfigError
from ragstone.indexes import own_index
from ragstone.protocols import Services
from ragstone.testing import FakeElasticsearch
from ragstone.types import Passage, Ranking, Search

WORDS = ("tagus", "lisbon", "porto", "river", "bridge", "wine", "castle", "tram")
FIELDS = {
    "text": {"type": "text"},
    "title": {"type": "text"},
    "pid": {"type": "keyword"},
    "vector": {"type": "dense_vector", "dims": 24},
    "knn": {"type": "knn_vector", "dimension": 24},
    "ml": {"properties": {"tokens": {"type": "sparse_vector"}}},
    "ml.tokens": {"type": "sparse_vector"},
}


@dataclass(frozen=True)
class UnitLength:
    """Draws a vector of length 1 for a text from the text itself."""

    unit: int = 24

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one drawn row per text."""
        drawn = [
            np.random.default_rng(list(text.encode())).standard_normal(self.unit) for text in texts
        ]
        rows = np.array(drawn, dtype=np.float32)
        unit: npt.NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


EMBEDDER = f"{__name__}:UnitLength"


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Calls]:
    """Calls with short waits."""
    policy = RetryPolicy(first_wait=0.01, longest_wait=0.02, attempts=3, give_up_after=3)
    with Calls.at(tmp_path / "calls.sqlite", retry_policy=policy) as opened:
        yield opened


def _corpus(count: int = 60) -> Corpus:
    texts = (f"{WORDS[n % 8]} {WORDS[n * n % 7]} {n}" for n in range(count))
    return Corpus.from_passages([Passage(f"p{n}", text) for n, text in enumerate(texts)])


SEARCHES = [Search(f"q{n}", f"{WORDS[n % 8]} {WORDS[(n + 3) % 8]} {n}") for n in range(40)]


def _documents(corpus: Corpus) -> dict[str, dict[str, Any]]:
    """Return the passages as a user may have indexed them."""
    vectors = UnitLength().embed(corpus.full_texts()).tolist()
    return {
        passage.passage_id: {
            "text": passage.text,
            "title": passage.text.split()[0],
            "pid": passage.passage_id,
            "vector": vector,
            "knn": vector,
            "ml.tokens": dict.fromkeys(passage.text.split(), 2.0),
        }
        for passage, vector in zip(corpus, vectors, strict=True)
    }


def _same(found: Sequence[Ranking], expected: Sequence[Ranking], added: float = 0.0) -> None:
    assert [r.passage_ids for r in found] == [r.passage_ids for r in expected]
    assert [list(r.scores) for r in found] == [
        pytest.approx([score + added for score in r.scores], abs=1e-6) for r in expected
    ]


@pytest.mark.parametrize("flavour", ["elasticsearch", "opensearch"])
def test_an_index_of_its_own_ranks_as_the_retrievers_in_this_process(
    calls: Calls, flavour: Any
) -> None:
    """Words are ranked as `bm25` ranks them, and vectors as `dense`, with 1 added to each score."""
    corpus = _corpus()
    with FakeElasticsearch(flavour=flavour) as server:
        words = Elasticsearch(server.url, top_k=20)
        vectors = Elasticsearch(server.url, top_k=20, query="dense", embedder=EMBEDDER)
        _same(rankings(words, SEARCHES, corpus, calls=calls), rankings(BM25(20), SEARCHES, corpus))
        exact = rankings(Dense(20, EMBEDDER), SEARCHES, corpus)
        _same(rankings(vectors, SEARCHES, corpus, calls=calls), exact, added=1.0)
        near = replace(vectors, candidates=60)
        found = rankings(near, SEARCHES, corpus, calls=calls)
        assert [r.passage_ids for r in found] == [r.passage_ids for r in exact]
        assert len(server.indexes) == 3, "a graph is another index"


@pytest.mark.parametrize("flavour", ["elasticsearch", "opensearch"])
@pytest.mark.parametrize(
    ("query", "field"),
    [("bm25", {}), ("dense", {}), ("elser", {}), ("bm25", {"text_field": "title text"})],
)
def test_an_index_of_yours_is_read(
    calls: Calls, flavour: Any, query: Any, field: dict[str, str]
) -> None:
    """It is not written to, and its ids are the document's own or in a field."""
    corpus = _corpus()
    if query == "dense" and flavour == "opensearch":
        field = {"vector_field": "knn"}
    with FakeElasticsearch(flavour=flavour) as server:
        server.add_index("wiki", FIELDS, _documents(corpus))
        options: dict[str, Any] = {"query": query, "embedder": EMBEDDER, "top_k": 9, **field}
        by_id = Elasticsearch(server.url, index="wiki", **options)
        found = rankings(by_id, SEARCHES, corpus, calls=calls)
        named = replace(by_id, id_field="pid")
        assert rankings(named, SEARCHES, corpus, calls=calls) == found
        assert not server.asked["_bulk"] + server.asked["PUT"]
    assert all(len(ranking) == 9 for ranking in found)
    if query == "bm25" and not field:
        _same(found, rankings(BM25(9), SEARCHES, corpus))
    if query == "dense":
        _same(found, rankings(Dense(9, EMBEDDER), SEARCHES, corpus), added=1.0)


@pytest.mark.parametrize(
    ("flavour", "version", "form"),
    [
        ("elasticsearch", "8.17.0", "sparse_vector"),
        ("elasticsearch", "8.9.2", "text_expansion"),
        ("opensearch", "2.19.0", "neural_sparse"),
    ],
)
def test_elser_is_asked_in_the_form_of_the_server(
    calls: Calls, flavour: Any, version: str, form: str
) -> None:
    """The server is told the model and expands the query itself."""
    corpus = _corpus()
    with FakeElasticsearch(flavour=flavour, version=version) as server:
        server.add_index("wiki", FIELDS, _documents(corpus))
        retriever = Elasticsearch(server.url, index="wiki", query="elser", model="my-model")
        (found,) = rankings(retriever, [Search("q", "lisbon")], corpus, calls=calls)
        assert list(server.bodies[-1]["query"]) == [form]
        assert "my-model" in str(server.bodies[-1])
    expected = {p.passage_id: float(2 * ("lisbon" in p.text.split())) for p in corpus}
    assert set(found.scores) == {2.0}
    assert set(found.passage_ids) == {key for key, score in expected.items() if score}


def test_a_hybrid_is_the_fusion_of_its_parts(calls: Calls) -> None:
    """Each part has its own step; a text weight of 1 is bm25 and of 0 dense."""
    corpus = _corpus()
    with FakeElasticsearch() as server:
        hybrid = Elasticsearch(
            server.url, top_k=15, query="hybrid", text_weight=0.3, embedder=EMBEDDER
        )
        assert [part.query for part in hybrid.parts] == ["bm25", "dense"]
        own = Fusion((BM25(15), Dense(15, EMBEDDER)), text_weight=0.3, top_k=15)
        _same(
            rankings(hybrid, SEARCHES, corpus, calls=calls),
            rankings(own, SEARCHES, corpus, calls=calls),
        )
        rrf = replace(hybrid, text_weight=None)
        joined = Fusion((BM25(15), Dense(15, EMBEDDER)), top_k=15)
        _same(
            rankings(rrf, SEARCHES, corpus, calls=calls),
            rankings(joined, SEARCHES, corpus, calls=calls),
        )
        for weight, kind in ((1.0, BM25(15)), (0.0, Dense(15, EMBEDDER))):
            found = rankings(replace(hybrid, text_weight=weight), SEARCHES, corpus, calls=calls)
            expected = rankings(kind, SEARCHES, corpus)
            assert [r.passage_ids for r in found] == [r.passage_ids for r in expected]


def test_searches_are_sent_in_batches_and_kept(calls: Calls) -> None:
    """Forty searches are three requests; those of an index of our own are kept."""
    corpus = _corpus()
    with FakeElasticsearch() as server:
        retriever = Elasticsearch(server.url, batch=16)
        found = rankings(retriever, SEARCHES, corpus, calls=calls)
        assert server.asked["_msearch"] == 3
        assert rankings(retriever, SEARCHES, corpus, calls=calls) == found
        assert server.asked["_msearch"] == 3
    url = server.url
    with Calls(calls.log, replay_only=True) as replay:
        again = rankings(Elasticsearch(url, batch=16), SEARCHES, corpus, calls=replay)
    assert again == found, "a replay needs no server"


def test_an_interrupted_index_is_continued(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole batches that are there are not written again; a missing document is."""
    monkeypatch.setattr(own_index, "BATCH", 20)
    corpus = _corpus()
    with FakeElasticsearch() as server:
        retriever = Elasticsearch(server.url, top_k=20)
        expected = rankings(retriever, SEARCHES, corpus, calls=calls)
        (index,) = server.indexes.values()
        assert (server.asked["_bulk"], len(index.written)) == (3, 60)
        del index.written["25"]
        with Calls.at(Path(calls.log.path).with_name("other.sqlite")) as other:
            assert rankings(retriever, SEARCHES, corpus, calls=other) == expected
        assert server.asked["_bulk"] == 4
        index.written["99"] = {"position": 99, "text": "of another program"}
        with pytest.raises(ConfigError, match=r"61 rows for 60 passages.*drop it"):
            rankings(retriever, SEARCHES, corpus, calls=calls)
        rankings(retriever, SEARCHES, _corpus(7), calls=calls)
        assert len(server.indexes) == 2, "another corpus is another index"


def test_a_budget_needs_no_price_of_searches(tmp_path: Path) -> None:
    """They cost nothing."""
    budget = Budget(1.0, Prices())
    with (
        FakeElasticsearch() as server,
        Calls.at(tmp_path / "calls.sqlite", budget=budget) as calls,
    ):
        retriever = Elasticsearch(server.url)
        retriever.check(Services(corpus=_corpus(), calls=calls))
        assert rankings(retriever, SEARCHES, _corpus(), calls=calls)
        assert calls.usage.cost == 0


@pytest.mark.parametrize("fault", ["503", "429", "cut", "shards"])
def test_a_fault_that_passes_changes_nothing(calls: Calls, fault: str) -> None:
    """The request is sent again, also if only a part of the index was searched."""
    corpus = _corpus()
    with FakeElasticsearch(script=[fault]) as server:
        found = rankings(Elasticsearch(server.url), SEARCHES[:3], corpus, calls=calls)
        assert found == rankings(BM25(), SEARCHES[:3], corpus)
        assert server.asked["_msearch"] == 2


def test_a_fault_that_stays_is_an_outcome(calls: Calls) -> None:
    """The searches of the request have the reason and are made again by the next run."""
    corpus = _corpus()
    with FakeElasticsearch(script=["ok", "shards", "shards", "shards"]) as server:
        retriever = Elasticsearch(server.url, batch=2, concurrency=1)
        services = Services(corpus=corpus, calls=calls)
        found = run_component(retriever, services, SEARCHES[:4])
        assert [outcome.retry for outcome in found] == [False, False, True, True]
        assert "searched in part: 1 of 2 shards" in found[2].reason
        assert len(found[2].value) == 0
        again = run_component(retriever, services, SEARCHES[:4])
        assert [outcome.retry for outcome in again] == [False] * 4


def test_a_search_that_the_server_refuses_is_an_outcome(calls: Calls) -> None:
    """If it refuses all of them, the run stops."""
    corpus = _corpus()
    told = "Result window is too large"
    with FakeElasticsearch(largest=10) as server, pytest.raises(CallError, match=told):
        rankings(Elasticsearch(server.url), SEARCHES[:3], corpus, calls=calls)


def _index(server: FakeElasticsearch) -> None:
    server.add_index("wiki", FIELDS, _documents(_corpus()))
    server.aliases["current"] = "wiki"
    server.add_index("empty", FIELDS, {})
    server.add_index("other", FIELDS, {"d1": {"text": "tagus"}, "d2": {"text": "tagus"}})
    server.add_index("words", {"text": {"type": "text"}}, {"p1": {"text": "tagus"}})


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"index": "wikis"}, r"no index 'wikis'; it has 'current', 'empty', 'other'"),
        ({"index": "empty"}, "the index 'empty' at .* is empty"),
        ({"index": "words", "query": "dense"}, r"no field 'vector'.*Known: none"),
        (
            {"index": "wiki", "text_field": "txt"},
            r"no field 'txt'.*text_field; did you mean 'text'\? Known: text, title",
        ),
        ({"index": "wiki", "text_field": "pid"}, "'pid' of type 'keyword'"),
        ({"index": "wiki", "id_field": "id"}, "no field 'id' for passage ids"),
        (
            {"index": "wiki", "query": "dense", "embedder": f"{EMBEDDER}(unit=8)"},
            "have 24 dimensions, and those of the embedder .* have 8",
        ),
        ({"index": "other"}, r"2 of the 2 passages .* not in the corpus \('d1', 'd2'"),
        ({"index": "wiki", "query": "elser", "expansion_field": "x"}, "ml.tokens"),
    ],
)
def test_an_index_that_does_not_fit_is_refused(
    calls: Calls, wrong: dict[str, Any], told: str
) -> None:
    """The error names the index, the field and what there is instead."""
    corpus = _corpus()
    with FakeElasticsearch() as server:
        _index(server)
        options: dict[str, Any] = {"embedder": EMBEDDER, **wrong}
        retriever = Elasticsearch(server.url, **options)
        with pytest.raises(ConfigError, match=told):
            _checked_and_ranked(retriever, Services(corpus=corpus, calls=calls))


def _checked_and_ranked(retriever: Elasticsearch, services: Services) -> None:
    retriever.check(services)
    run_component(retriever, services, [Search("q", "tagus")])


def test_an_alias_is_an_index(calls: Calls) -> None:
    """Both names find the same passages."""
    corpus = _corpus()
    with FakeElasticsearch() as server:
        _index(server)
        found = [
            rankings(Elasticsearch(server.url, index=name), SEARCHES, corpus, calls=calls)
            for name in ("wiki", "current")
        ]
    assert found[0] == found[1]


@pytest.mark.parametrize("key", ["a-long-api-key", "elastic:a-long-password"])
def test_the_key_stays_in_the_environment(
    calls: Calls, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """It is sent with every request, and is in no key, log or error."""
    corpus = _corpus()
    monkeypatch.setenv("WRONG_KEY", "another-long-key")
    with FakeElasticsearch(api_key=key) as server:
        retriever = Elasticsearch(server.url, api_key_env="THE_KEY")
        services = Services(corpus=corpus, calls=calls)
        with pytest.raises(ConfigError, match="export THE_KEY"):
            retriever.check(services)
        monkeypatch.setenv("THE_KEY", key)
        assert rankings(retriever, SEARCHES, corpus, calls=calls) == rankings(
            BM25(), SEARCHES, corpus
        )
        wrong = replace(retriever, api_key_env="WRONG_KEY")
        with pytest.raises(CallError, match=r"refused with 401: .*WRONG_KEY is wrong") as raised:
            wrong.check(services)
        with pytest.raises(CallError, match="name an environment variable with api_key_env"):
            replace(retriever, api_key_env="").check(services)
    assert "another-long-key" not in str(raised.value)
    with sqlite3.connect(calls.log.path) as log:
        dump = "\n".join(log.iterdump())
    log.close()
    for secret in (key, key.rpartition(":")[2]):
        assert secret not in dump + repr(retriever) + str(cache_key_parts(retriever))


def test_a_server_that_is_down_is_named(calls: Calls) -> None:
    """The error comes before anything is searched."""
    retriever = Elasticsearch("http://127.0.0.1:9", index="wiki")
    with pytest.raises(CallError, match=r"cannot connect to http://127.0.0.1:9"):
        retriever.check(Services(corpus=_corpus(), calls=calls))
    with pytest.raises(CallError, match=r"cannot connect to http://127.0.0.1:9"):
        rankings(Elasticsearch("http://127.0.0.1:9"), SEARCHES, _corpus(), calls=calls)
    with pytest.raises(CallError, match=r"cannot connect to http://127.0.0.1:9"):
        rankings(retriever, SEARCHES, _corpus(), calls=calls)


def test_offline_reaches_no_other_machine(calls: Calls) -> None:
    """The guard of the interpreter sees the connection."""
    retriever = Elasticsearch("http://elastic.example:9200")
    with no_network(), pytest.raises(CallError, match=r"offline: 'elastic.example'"):
        rankings(retriever, SEARCHES, _corpus(), calls=calls)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"url": "elastic:9200"}, "not a server address"),
        ({"url": "http://me:secret@host:9200"}, "user name or password"),
        ({"query": "elser"}, "needs an index"),
        ({"text_weight": 0.5}, "belongs to query: hybrid"),
        ({"query": "hybrid", "text_weight": 1.5}, "between 0 and 1"),
        ({"candidates": 5}, r"between top_k \(100\) and 10,000, found 5"),
        ({"release": "1"}, "name the index"),
        ({"text_field": "body"}, "add index"),
        ({"batch": 0}, "1 or more"),
        ({"index": "wiki", "identity": ["-index", "-url"]}, "identity leaves nothing"),
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, Any], told: str) -> None:
    """The error names the parameter, and contains no secret."""
    with pytest.raises(ConfigError, match=told) as raised:
        cache_key_parts(Elasticsearch(**{"url": "http://host:9200", **wrong}))
    assert "secret" not in str(raised.value)


def _key(**options: Any) -> str:
    given = {"url": "http://a.example:9200", **options}
    return str(cache_key_parts(Elasticsearch(**given)))


DIFFERENT: list[Callable[[], tuple[str, str]]] = [
    lambda: (_key(index="wiki"), _key(index="wiki", url="http://b.example:9200")),
    lambda: (_key(index="wiki"), _key(index="wikis")),
    lambda: (_key(index="wiki"), _key(index="wiki", release="2")),
    lambda: (_key(index="wiki"), _key(index="wiki", run="run 1")),
    lambda: (
        _key(query="dense", embedder=EMBEDDER),
        _key(query="dense", embedder=f"{EMBEDDER}(unit=8)"),
    ),
]


@pytest.mark.parametrize("pair", DIFFERENT)
def test_another_index_has_another_key(pair: Callable[[], tuple[str, str]]) -> None:
    """Address, name, release and run of an index of yours are in the key."""
    first, second = pair()
    assert first != second


def test_the_address_of_an_own_index_is_not_in_the_key() -> None:
    """What it contains is in the key already; nor is a secret's name, or the way to send."""
    assert _key() == _key(url="http://b.example:9200", api_key_env="X", batch=3, timeout=5)
    named = {"index": "wiki", "identity": "production"}
    assert _key(**named) == _key(**named, url="http://b.example:9200")


@pytest.mark.parametrize("query", ["bm25", "dense", "hybrid"])
def test_the_contract_of_retrievers(query: Any) -> None:
    """The check for all retrievers accepts it."""
    with FakeElasticsearch() as server:
        testing.check_retriever(Elasticsearch(server.url, query=query, embedder=EMBEDDER))


def test_nothing_to_search(calls: Calls) -> None:
    """Without queries or passages, no server is needed."""
    retriever = Elasticsearch("http://127.0.0.1:9")
    empty = Corpus.from_passages([])
    assert rankings(retriever, [], _corpus(), calls=calls) == []
    assert rankings(retriever, SEARCHES[:1], empty, calls=calls) == [Ranking()]
