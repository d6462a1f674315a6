"""Reviewed conversations as files: in mtRAG's form, and as a data set."""

from __future__ import annotations

from pathlib import Path

from ragstone.annotation.database import Database
from ragstone.annotation.project import Project


def write_mtrag(
    project: Project, database: Database, path: Path, *, names: bool = True, every: bool = False
) -> str:
    """Write the accepted conversations in mtRAG's form and return the SHA-256 of the file.

    Args:
        project: a project of conversations.
        database: its events.
        path: the file: `.jsonl` has a conversation per line, others are a JSON list.
        names: whether people are named; if not, they are `person 1` and so on.
        every: conversations that are not accepted, and rejected turns, are written as well.
    """
    raise NotImplementedError


def write_conversation_dataset(
    project: Project, database: Database, folder: Path, *, names: bool = True, every: bool = False
) -> str:
    """Write the accepted turns as a data set and return the SHA-256 of its files.

    See `write_mtrag`; `folder` must not contain a data set. Names of people are never in it.
    """
    raise NotImplementedError
