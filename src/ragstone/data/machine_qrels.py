"""The mark of machine-made qrels: a file beside them with the model that made them.

`qrels.tsv.made-by.json` is the mark of `qrels.tsv`. It has the judge, its models, the digest of its
prompt, the date, the number of pairs, and the SHA-256 of the qrels.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Final

from ragstone.core.fingerprint import digest_file
from ragstone.data.readers.rows import json_document
from ragstone.errors import DatasetError

END: Final = ".made-by.json"
_DIGITS: Final = 12
"""Digits of a digest in a sentence."""


@dataclass(frozen=True)
class QrelsMark:
    """Who made a file of qrels, and when."""

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    judge: str
    models: tuple[str, ...]
    prompt: str
    """SHA-256 of the judge's templates."""
    made: str
    """The date in UTC."""
    pairs: int
    """Pairs of a query and a passage with a grade."""
    failed: int
    """Pairs without a grade, which are not in the file."""
    sha256: str
    """The digest of the qrels."""
    made_by: str = "model"

    def document(self) -> dict[str, object]:
        """Return the content of the file."""
        return {"made_by": self.made_by, **asdict(self)}


def mark_path(qrels: Path) -> Path:
    """Return the path of the mark of a file of qrels.

    >>> mark_path(Path("data/qrels.tsv")).name
    'qrels.tsv.made-by.json'
    """
    return qrels.with_name(f"{qrels.name}{END}")


def agreement_sentence(made: str) -> str:
    """Return the meaning of metrics over machine-made qrels; "" if people made them.

    >>> agreement_sentence("qrels.tsv is machine-made, by umbrela with a")[-12:]
    "del's grades"
    """
    return made and f"{made}: ranking metrics measure agreement with this model's grades"


def machine_made(qrels: Path) -> str:
    """Return the note on a file of machine-made qrels, with its model; "" if it has no mark.

    Raises:
        DatasetError: the mark is malformed.
    """
    path = mark_path(qrels)
    if not path.is_file():
        return ""
    from pydantic import TypeAdapter, ValidationError

    try:
        mark = TypeAdapter(QrelsMark).validate_python(json_document(path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise DatasetError(
            f"{path}: key {where!r}: {first['msg']}; get the file again, or remove it if people "
            f"made {qrels.name}",
            path=path,
        ) from error
    changed = "" if digest_file(qrels) == mark.sha256 else "; the file was changed since then"
    return (
        f"{qrels.name} is machine-made, by {mark.judge} with {', '.join(mark.models)} (prompt "
        f"{mark.prompt[:_DIGITS]}, {mark.made}){changed}"
    )
