"""A project of conversations with an own system as its agent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragstone.annotation.agents import AskedAgent
from ragstone.annotation.database import Database
from ragstone.annotation.project import DATABASE, Project
from ragstone.annotation.site import Site
from ragstone.cli.annotate_agent import ChosenAgent
from ragstone.cli.build_options import Spending

PASSAGES = {
    "cabins#4": ("Night boat", "A cabin can be cancelled free of charge until 7 days before."),
    "cabins#5": ("Night boat", "Cabins for four are on decks 5 and 6, with or without a window."),
    "refunds#1": ("Refunds", "Tickets are refunded until one hour before departure."),
    "pets#2": ("Pets", "Four cabins on deck 6 are open to guests with one dog or cat."),
    "bicycles#1": ("Bicycles", "All lines carry bicycles; a bicycle costs 6.00 a crossing."),
}
SYSTEM = '''
import time
from pathlib import Path

FOLDER = Path({folder!r})
TEXTS = {texts!r}

def answer(query, history):
    """Fail while the file `fails` exists, hang while `hangs` exists; else answer."""
    with (FOLDER / "asked.txt").open("a") as file:
        file.write(f"{{query}} | {{[one.text for one in history]}}\\n")
    if (FOLDER / "fails").exists():
        raise RuntimeError("the index is gone <b>now</b>")
    while (FOLDER / "hangs").exists():
        time.sleep(0.02)
    words = {{word.strip("?.,").lower() for word in query.split() if len(word) > 3}}
    best = sorted(TEXTS.values(), key=lambda text: -sum(word in text.lower() for word in words))
    return {{"answer": f"{{best[0]}} Pets are not allowed.", "contexts": best[:2]}}
'''
PROJECT = """
name: night-boat
task: conversation
order: file
agent: my_rag.py:answer
corpus: boats
agent_seconds: {seconds}
goals:
  turns: {{least: 2, most: 3}}
  unanswerable: {{least: 0, most: 1}}
  question_types: [factoid]
  relevant_passages: {{least: 1, most: 4}}
"""
ITEMS = [
    {"item_id": "c1", "query": "Do the night boats have cabins for four?"},
    {
        "item_id": "c2",
        "query": "Ask about pets.",
        "passages": [{"passage_id": "pets#2", "title": "Pets", "text": PASSAGES["pets#2"][1]}],
    },
    {"item_id": "c3", "query": "هل يمكن إلغاء الحجز؟ <script>document.title='owned'</script>"},
]


def conversation_project(folder: Path, *, seconds: float = 20, extra: str = "") -> Path:
    """Write a project of three conversations with an own system and five passages."""
    (folder / "boats").mkdir(parents=True)
    rows = [{"_id": n, "title": t, "text": text} for n, (t, text) in PASSAGES.items()]
    lines = {"corpus": rows, "queries": [{"_id": "q", "text": "Which cabins?"}]}
    for name, written in lines.items():
        path = folder / "boats" / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in written))
    texts = {name: text for name, (_, text) in PASSAGES.items()}
    (folder / "my_rag.py").write_text(SYSTEM.format(texts=texts, folder=str(folder)))
    (folder / "project.yaml").write_text(PROJECT.format(seconds=seconds) + extra)
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ITEMS))
    return folder


@contextmanager
def open_site(folder: Path, agent: str = "") -> Iterator[Site]:
    """Yield the site of a project with its agent."""
    project = Project.open(folder)
    database = Database.open(f"sqlite:///{folder / DATABASE}", project.name)
    try:
        with ChosenAgent(agent, "", Spending(None, None, None)).ready(project) as asked:
            yield Site(project, database, asked)
            if isinstance(asked, AskedAgent):
                asked.wait(10)
    finally:
        database.close()
