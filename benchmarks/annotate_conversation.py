"""A ten-turn conversation with a live agent, written by a scripted browser, exported, evaluated.

    python benchmarks/annotate_conversation.py MTRAG_FOLDER [--folder OUT]

The agent is BM25 over mtRAG's passages of one domain with a generator that copies the sentences of
its passages with the most words of the query: no model is called. The browser asks the ten queries
of one of mtRAG's conversations by keys alone, marks passages as mtRAG's qrels do, gives its labels,
and replaces every third answer by mtRAG's. A second person accepts all turns. The conversation is
then exported as a data set, and the same agent answers it in an experiment.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from ragstone.annotation.conversation import conversation
from ragstone.annotation.conversation_export import write_conversation_dataset
from ragstone.annotation.database import Database
from ragstone.annotation.edit_score import edit_score
from ragstone.annotation.events import Event
from ragstone.annotation.project import Project
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.experiment.load import load_experiment
from ragstone.types import Conversation

TURNS: Final = 10
COMMAND: Final = (sys.executable, "-c", "from ragstone.cli import main; main()", "annotate")
ANSWERABILITY: Final = {
    "answerable": "q", "partial": "w", "unanswerable": "r", "conversational": "t",
}  # fmt: skip
MULTI_TURN: Final = {"follow-up": "f", "clarification": "c"}
TYPES: Final = (
    *("factoid", "explanation", "summarization", "how-to", "comparative"),
    *("opinion", "keyword", "composite", "troubleshooting", "non-question"),
)
EXTRACT: Final = '''
"""Copies the sentences with the most words of the query."""

import re


def answer(query, passages):
    words = {word for word in re.findall(r"\\w+", query.lower()) if len(word) > 3}
    found = [one for p in passages for one in re.split(r"(?<=[.!?])\\s+", p.text) if len(one) > 30]
    shared = lambda one: -len(words & set(re.findall(r"\\w+", one.lower())))
    return " ".join(sorted(found, key=shared)[:2]) or "The passages do not mention this."
'''
EXPERIMENT: Final = """
name: agent
data: {data}
systems:
  copying:
    query_former: {former}
    retriever: bm25
    generator: "callable(function={function}:answer)"
settings: [retrieved(5)]
metrics: [R@5, nDCG@5, ROUGE-L]
store: {store}
"""


def ten_turns(data: Dataset) -> Conversation:
    """Return a conversation of ten turns, the first of the data set by its id."""
    found = [one for one in Conversation.of(data.queries) if len(one.turns) == TURNS]
    return min(found, key=lambda one: one.conversation_id)


def make_project(folder: Path, source: str, talk: Conversation) -> Project:
    """Write a project with a seed query and the agent."""
    folder.mkdir(parents=True)
    (folder / "extract.py").write_text(EXTRACT)
    agent = EXPERIMENT.format(
        data=source,
        function=folder / "extract.py",
        store=folder / "agent",
        former="last-turns",
    )
    (folder / "agent.yaml").write_text(agent)
    settings = {
        "name": "ten-turns",
        "task": "conversation",
        "agent": "agent.yaml:copying",
        "goals": {"turns": {"least": TURNS, "most": TURNS}, "relevant_passages": {"least": 1}},
    }
    (folder / "project.yaml").write_text(json.dumps(settings))
    item = {"item_id": "talk", "query": talk.turns[0].text}
    (folder / "items.jsonl").write_text(json.dumps(item) + "\n")
    return Project.open(folder)


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Run `ragstone annotate`, and yield the printed address."""
    command = [*COMMAND, str(folder), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def write(page: Any, talk: Conversation, data: Dataset) -> None:
    """Write a conversation by keys alone, and send it to review."""
    from playwright.sync_api import expect

    status, press = page.locator("#asked"), page.keyboard.press
    for number, query in enumerate(talk.turns, 1):
        press("a")
        press("Control+a")
        page.keyboard.type(query.text)
        press("Enter")
        expect(page.locator(".now .you")).to_have_text(query.text, timeout=30_000)
        if number % 3 == 0:
            press("e")
            press("Control+a")
            page.keyboard.insert_text(query.gold_answers[0])
            press("Escape")
        relevant = data.qrels.get(query.query_id, {})
        for passage in page.locator("[data-passage]").all():
            press("y" if passage.get_attribute("data-passage") in relevant else "x")
        press(ANSWERABILITY[str(query.labels["answerability"])])
        if number > 1:
            press(MULTI_TURN[str(query.labels.get("multi_turn", "follow-up"))])
        press("o")
        given = query.labels["question_type"]
        for kind in [given] if isinstance(given, str) else list(given):  # type: ignore[arg-type]
            press(str((TYPES.index(kind) + 1) % 10))
        press("Escape")
        expect(status).to_have_text(f"Turn {number} is complete." if number < TURNS else LAST)
    expect(page.locator("[data-do=send]")).to_be_enabled(timeout=10_000)
    press("v")
    expect(status).to_have_text("The conversation is sent to review.")


LAST: Final = "The conversation has its last turn."


def accept(database: Database) -> None:
    """Let a second person accept every turn."""
    events = [
        Event(f"accept-{n}", "label", "talk", "decision", str(n), "accept")
        for n in range(1, TURNS + 1)
    ]
    verdict = Event("accept", "label", "talk", "verdict", value="accepted")
    database.append("reviewer", [*events, verdict])


def exported(project: Project) -> tuple[Path, list[float]]:
    """Accept the conversation and write it as a data set; return its edit scores too."""
    database = Database.of(project, "")
    try:
        accept(database)
        state = conversation(database, "talk")
        folder = project.folder / "exported"
        write_conversation_dataset(project, database, folder)
        pairs = [(turn.answer or "", turn.final_answer or "") for turn in state.turns]
        return folder, [edit_score(*pair) for pair in pairs]
    finally:
        database.close()


def evaluated(project: Project, data: Path) -> str:
    """Run the agent on the exported data set and return the table of its results."""
    text = EXPERIMENT.format(
        data=data,
        function=project.folder / "extract.py",
        store=project.folder / "results",
        former="as-given",
    )
    path = project.folder / "evaluation.yaml"
    path.write_text(text)
    return str(load_experiment(path).run())


def main() -> None:
    """Write, export and evaluate the conversation."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path, help="mtRAG's folder")
    parser.add_argument("--domains", default="govt")
    parser.add_argument("--folder", type=Path, help="folder of the project")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    given = parser.parse_args()
    read = {"name": "mtrag", "path": str(given.data.resolve()), "domains": given.domains}
    source, data = json.dumps(read), load_dataset(read)
    talk = ten_turns(data)
    folder = given.folder or Path(tempfile.mkdtemp()) / "ten-turns"
    project = make_project(folder.resolve(), source, talk)
    started = time.perf_counter()
    with serving(project.folder) as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(address)
        write(page, talk, data)
        browser.close()
    took = time.perf_counter() - started
    target, scores = exported(project)
    changed = [score for score in scores if score]
    print(f"{len(talk.turns)} turns in {took:.0f} s, from {len(data.corpus):,} passages")
    print(f"{len(changed)} answers changed, mean edit score {sum(changed) / len(changed):.1f}")
    print(load_dataset(str(target)))
    print(evaluated(project, target))


if __name__ == "__main__":
    main()
