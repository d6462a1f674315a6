"""The requests that components send to models: replies in an existing call log must stay valid.

A request whose key changes is asked and paid for again. To accept a change on purpose, write the
file again: `python tests/golden/test_requests.py`.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Final

import pytest
from tests.fakes.made_test_set import run
from tests.fakes.scripted_writer import ScriptedWriter

from ragstone.building.strategies import STRATEGIES
from ragstone.calls.types import Endpoint, Outcome, Reply, Request, TokenLogprob
from ragstone.components.judges.verdict import Item
from ragstone.core.fingerprint import cache_key_parts, fingerprint, without_sources
from ragstone.core.prompt_files import shipped_names
from ragstone.core.registry import create
from ragstone.data.corpus import Corpus
from ragstone.testing import ScriptedCalls
from ragstone.types import (
    Context,
    ContextPassage,
    Message,
    Passage,
    Query,
    Ranking,
    Search,
    Task,
)

FILE: Final = Path(__file__).parent / "requests.json"
URL: Final = "http://localhost:1/v1"
IDENTITY: Final = Endpoint("scripted", (URL,)).identity
MODEL: Final = {"name": "chat", "model": "scripted", "base_url": URL}
OTHER: Final = {**MODEL, "model": "other", "temperature": 0.7, "stop": ["\n"]}
TEXTS: Final = ("The Eiffel Tower is in Paris.", "Rome is old.", "It is 330 m high.")
QUERY: Final = Query(
    "q1",
    "And where is it?",
    ("Paris", "in Paris"),
    (Message("user", "How high is the Eiffel Tower?"), Message("agent", "330 m.")),
    labels={
        "vital_nuggets": ("It is in Paris.",),
        "okay_nuggets": ("Paris is in France.",),
        "answerability": "ANSWERABLE",
    },
)
ITEM: Final = Item(QUERY, "It stands in Paris [1]. It is high [3].", TEXTS, "In Rome.")
JUDGES: Final[dict[str, dict[str, Any]]] = {
    "equivalence": {},
    "equivalence logprob": {"method": "logprob"},
    "equivalence text": {"structured": False, "explain": True, "language": "German"},
    "equivalence own": {"system": "Be strict.", "user": "{query} {answer}\n{format}"},
    "pairwise": {},
    "RB_llm": {"model": [MODEL, OTHER], "repeats": 2},
    "conversation-rating": {"explain": False},
    "idk": {},
    "RL_F": {},
    "RL_F turns": {"earlier_turns": True, "repeats": 2},
    "support": {},
    "support gold": {"of_gold": True},
    "support logprob": {"method": "logprob"},
    "taxonomy": {},
    "critiques": {},
    "context-relevance": {},
    "sufficient-context": {},
    "nuggets": {},
    "citation-support": {},
    "citation-precision": {},
    "citation-precision all": {"citations": "all"},
    "umbrela": {},
    "conditioned": {
        "of": {"name": "RB_llm", "model": MODEL},
        "idk": {"name": "idk", "model": MODEL},
    },
}
FORMERS: Final[dict[str, dict[str, Any]]] = {
    "llm-rewrite": {},
    "llm-rewrite structured": {"structured": True, "model": OTHER},
    "translation": {"of": "user-turns", "language": "French", "model": OTHER},
}
RERANKERS: Final[dict[str, dict[str, Any]]] = {
    "llm-pointwise": {"top_k": 2, "model": OTHER},
    "llm-listwise": {"top_k": 2, "window": 2, "stride": 1, "model": OTHER},
    "llm-listwise structured": {"top_k": 2, "structured": True, "characters": 9},
}
GENERATORS: Final[dict[str, dict[str, Any]]] = {
    "default": {},
    "own texts": {
        "system": "Be brief.",
        "user": "{history}\n{context}\n{query}",
        "closed_book_system": "",
    },
    "budget": {"budget": 20},
    **{name: {"prompt": name} for name in shipped_names()},
}


def valid(request: Request) -> Reply:
    """Return a reply that fits the request's schema, or says yes."""
    if request.sampling.logprobs is not None:
        token = TokenLogprob("yes", math.log(0.9), (("yes", math.log(0.9)),))
        return Reply("yes", "stop", logprobs=(token,))
    schema = request.sampling.json_schema
    if schema is None:
        return Reply("Verdict: yes", "stop")
    return Reply(json.dumps({k: _value(v) for k, v in schema["properties"].items()}), "stop")


def _value(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][-1]
    if schema["type"] == "array":
        return [1, 2] if schema["items"]["type"] == "integer" else ["One is so.", "Two is so."]
    return schema.get("minimum", "because")


REPLIES: Final[dict[str, Any]] = {
    "valid": valid,
    "unreadable": lambda _: Reply("Perhaps", "stop"),
    "cut": lambda _: Reply("Verdict: ye", "length"),
}


def made(kind: str, case: str, options: dict[str, Any]) -> Any:
    """Return the component of a case, which asks a scripted model."""
    name = case.partition(" ")[0]
    model = {} if name == "conditioned" else {"model": MODEL}
    more = {"least_parse_rate": 0.0} if kind == "judges" and model else {}
    return create(kind, {"name": name, **model, **more, **options}, where="test")


def _keys(calls: ScriptedCalls) -> list[str]:
    return [request.key(IDENTITY)[:16] for request in calls.asked]


def judged(case: str, reply: Any) -> list[str]:
    """Return the keys of the requests of a judge."""
    calls = ScriptedCalls(reply)
    made("judges", case, JUDGES[case]).verdicts([ITEM], calls.services())
    return _keys(calls)


def formed(case: str, reply: Any) -> list[str]:
    """Return the keys of the requests of a query former."""
    calls = ScriptedCalls(reply)
    list(made("query_formers", case, FORMERS[case]).form([QUERY], calls.services()))
    return _keys(calls)


def reranked(case: str, reply: Any) -> list[str]:
    """Return the keys of the requests of a reranker."""
    calls = ScriptedCalls(reply)
    corpus = Corpus.from_passages([Passage(str(n), text) for n, text in enumerate(TEXTS)])
    searches, rankings = [Search("q1", "Where?")], [Ranking("012", [3.0, 2.0, 1.0])]
    reranker = made("rerankers", case, {"depth": 3, **RERANKERS[case]})
    list(reranker.rerank(searches, rankings, calls.services(corpus=corpus)))
    return _keys(calls)


def compressed(_: str, reply: Any) -> list[str]:
    """Return the keys of the requests of a compression."""
    calls = ScriptedCalls(reply)
    shown = tuple(ContextPassage(str(n), text, "gold") for n, text in enumerate(TEXTS))
    task = Task(QUERY, Context("q1", "gold", shown))
    list(made("processors", "compression", {"model": OTHER}).process([task], calls.services()))
    return _keys(calls)


def generated(case: str, _: Any) -> list[str]:
    """Return the keys of the requests of a generator: with passages and without."""
    shown = tuple(ContextPassage(str(n), text, "gold") for n, text in enumerate(TEXTS))
    tasks = [Task(QUERY, Context("q1", "any", passages)) for passages in (shown, ())]
    return [answering(case).request(task).key(IDENTITY)[:16] for task in tasks]


def answering(case: str) -> Any:
    """Return the generator of a case."""
    return create("generators", {**MODEL, **GENERATORS[case]}, where="test")


def written(strategy: str, _: Any) -> list[str]:
    """Return the keys of the requests that make a test set."""
    writer, keys = ScriptedWriter(), list[str]()

    def script(request: Request) -> str | Outcome:
        keys.append(request.key(IDENTITY)[:16])
        return writer(request)

    run(strategy, script=script, judged=True, count=2)
    return keys


CASES: Final = {
    **{f"judge {case}": (judged, case) for case in JUDGES},
    **{f"former {case}": (formed, case) for case in FORMERS},
    **{f"reranker {case}": (reranked, case) for case in RERANKERS},
    "processor compression": (compressed, ""),
    **{f"generator {case}": (generated, case) for case in GENERATORS},
    **{f"strategy {name}": (written, name) for name in STRATEGIES},
}


def requests(name: str) -> dict[str, list[str]]:
    """Return kind of reply -> keys of the requests, in the order of the calls."""
    asked, case = CASES[name]
    kinds = ["valid"] if asked in {written, generated} else list(REPLIES)
    return {kind: asked(case, REPLIES[kind]) for kind in kinds}


def component_keys() -> dict[str, str]:
    """Return component -> its part of the keys of kept steps."""
    cases = {"judges": JUDGES, "query_formers": FORMERS, "rerankers": RERANKERS}
    cases |= {"processors": {"compression": {}}}
    parts = {
        f"{kind} {case}": made(kind, case, options)
        for kind, options_by_case in cases.items()
        for case, options in options_by_case.items()
    }
    parts |= {f"generators {case}": answering(case) for case in GENERATORS}
    return {
        name: fingerprint(without_sources(cache_key_parts(part)))[:16]
        for name, part in parts.items()
    }


@pytest.mark.parametrize("name", CASES)
def test_the_requests_of_a_component_are_pinned(name: str) -> None:
    """Messages, sampling and sample number of every call, after good and bad replies."""
    assert requests(name) == json.loads(FILE.read_text())[name]


def test_the_keys_of_components_that_ask_models_are_pinned() -> None:
    """Name, parameters, model and sampling; digests of code are masked (see test_keys.py)."""
    assert component_keys() == json.loads(FILE.read_text())["components"]


if __name__ == "__main__":
    found = {"components": component_keys(), **{name: requests(name) for name in CASES}}
    FILE.write_text(json.dumps(found, indent=1) + "\n")
