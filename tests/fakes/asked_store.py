"""A store of an experiment that really ran: a chat model over a data set with hostile texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tests.fakes.faulty_system import lines
from tests.fakes.made_results import HOSTILE

from ragstone.annotation.from_list import annotate_list
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.load import load_experiment
from ragstone.experiment.recorded import ask_recorded, selected_dataset
from ragstone.view.page import ActionAnswer, ViewAction
from ragstone.view.pages import ACTIONS, experiment_actions
from ragstone.view.pages.query import QUERY
from ragstone.view.store_view import StoreView
from ragstone.web.page_query import PageQuery

EVERY_ACTION: Final = (*ACTIONS, *experiment_actions(ask_recorded, selected_dataset, annotate_list))
HARD_ID: Final = "a/b c.json"
"""The id of a query that an address has to quote."""


def answer(messages: Any, *_: Any) -> str:
    """Return the answer of the model: right if the passage of the winter is shown."""
    text = messages[-1]["content"]
    if "{{" in text:
        return "".join(HOSTILE)
    return "in winter" if "It happened in winter" in text else "in autumn"


def asked_experiment(folder: Path, url: str, **changes: Any) -> Experiment:
    """Return an experiment on five queries; its store is `folder/store`."""
    made = folder / "set"
    if not made.exists():
        (made / "qrels").mkdir(parents=True)
        _write(made)
    generator = {"name": "chat", "model": "m", "base_url": url}
    document = {
        "name": "asked",
        "data": str(made),
        "store": str(folder / "store"),
        "systems": {"s": {"retriever": "bm25", "generator": generator}},
        "settings": ["none", "gold", "retrieved(2)"],
        "metrics": ["R@2", "Match"],
        "correct": "Match",
        **changes,
    }
    (folder / "e.yaml").write_text(json.dumps(document), encoding="utf-8")
    return load_experiment(folder / "e.yaml")


def _write(folder: Path) -> None:
    """Write the data set: a query, a hostile one, two turns, and a conversation in one query."""
    turns = [{"role": "user", "text": "What of snow?"}, {"role": "agent", "text": "It melted."}]
    queries: list[dict[str, Any]] = [
        {"_id": "q1", "text": "when did story one happen", "answers": ["in winter"], "kind": "a:b"},
        {"_id": HARD_ID, "text": HOSTILE[0] + HOSTILE[2], "answers": [HOSTILE[1]], "kind": "c"},
        {
            "_id": "t1",
            "text": "story two?",
            "answers": ["in winter"],
            "conversation": "k",
            "turn": 1,
        },
        {
            "_id": "t3",
            "text": "and story three?",
            "answers": ["in winter"],
            "conversation": "k",
            "turn": 3,
            "history": [{"role": "user", "text": "story two?"}, *turns[1:], *turns],
        },
        {"_id": "task", "text": "and when?", "answers": ["in winter"], "history": turns},
    ]
    passages: list[dict[str, Any]] = [
        {"_id": f"p{n}", "text": f"The story {word} is long. It happened in {season}."}
        for n, (word, season) in enumerate(
            [("one", "winter"), ("two", "winter"), ("three", "spring"), (HOSTILE[4], "summer")], 1
        )
    ]
    passages.append({"_id": "p3-note", "text": "A note on story three: it was spring."})
    passages.append({"_id": "p-hostile", "text": "\n" + "\r\n".join(HOSTILE) + "\x1b[31m"})
    lines(folder / "queries.jsonl", queries)
    lines(folder / "corpus.jsonl", passages)
    gold = {"q1": "p1", HARD_ID: "p-hostile", "t1": "p2", "t3": "p3", "task": "p4"}
    rows = "".join(f"{query}\t{passage}\t1\n" for query, passage in gold.items())
    (folder / "qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}", "utf-8")


def action(path: str) -> ViewAction:
    """Return the button of a path."""
    return next(one for one in EVERY_ACTION if one.path == path)


def query_page(view: StoreView, query_id: str, **values: str) -> dict[str, Any]:
    """Return the plain data of the page of a query."""
    return QUERY.make(view, PageQuery(f"/query/{query_id}", {"query_id": query_id}, values))


def sent_form(page: dict[str, Any], **changes: str) -> dict[str, str]:
    """Return what a browser sends of the form on the page of a query, with some fields changed."""
    form, chain = page["form"], page["chain"]
    values = {"experiment": page["experiment"], "query_id": page["query"]["query_id"]}
    values |= {"system": chain["system"], "setting": chain["setting"]}
    for one in form["passages"] or ():
        number = one["number"]
        text = one["text"].replace("\r\n", "\n").replace("\n", "\r\n")
        values |= {f"id-{number}": one["passage_id"], f"origin-{number}": one["origin"]}
        values |= {f"text-{number}": text, f"place-{number}": one["place"]}
    if form["search"] is not None:
        values["search"] = form["search"]
    values |= {f"prompt-{name}": text for name, text in form["prompts"].items()}
    written = {name.replace("_", "-"): value for name, value in changes.items()}
    return {**values, "add": "", "add-text": "", **written}


def asked_again(view: StoreView, page: dict[str, Any], **changes: str) -> ActionAnswer:
    """Press the button of the form on the page of a query."""
    return action("/what-if").run(view, sent_form(page, **changes))
