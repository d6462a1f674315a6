"""The texts of the references that answers cite: from their rows, or from a corpus."""

from __future__ import annotations

from dataclasses import replace

from ragstone.data.corpus import Corpus
from ragstone.data.readers.answer_rows import SystemRows
from ragstone.data.readers.rows import listed
from ragstone.errors import DatasetError
from ragstone.types import Context, ContextPassage, Prediction


def with_references(rows: SystemRows, corpus: Corpus | None) -> SystemRows:
    """Return rows with the references of each answer as its context, in their order.

    A text of the row comes before that of the corpus. A reference that no sentence cites and whose
    text is unknown has the text ""; an answer with no known text has no context. Answers that
    report no sentences keep their context.
    """
    made = {
        query_id: context
        for query_id, one in rows.predictions.items()
        if (context := _context(one, corpus)) is not None
    }
    return replace(rows, contexts={**rows.contexts, **made})


def _context(prediction: Prediction, corpus: Corpus | None) -> Context | None:
    if prediction.sentences is None or not prediction.passage_ids:
        return None
    known = {one.passage_id: one.text for one in prediction.contexts or () if one.text}
    for passage_id in prediction.passage_ids:
        if passage_id not in known and corpus is not None and passage_id in corpus:
            known[passage_id] = corpus[passage_id].full_text
    if not known:
        return None
    passages = tuple(
        ContextPassage(i, known.get(i, ""), "retrieved") for i in prediction.passage_ids
    )
    return Context(prediction.query_id, "recorded", passages)


def require_cited_texts(rows: SystemRows, *, if_known: bool = False) -> None:
    """Raise `DatasetError` if the text of a cited reference is unknown.

    With `if_known`, only answers with a context count: those of which some text is known.
    """
    absent: dict[str, str] = {}
    for query_id, one in rows.predictions.items():
        context = rows.contexts.get(query_id)
        if if_known and context is None:
            continue
        texts = {p.passage_id: p.text for p in context.passages} if context else {}
        for passage_id in _cited(one):
            if not texts.get(passage_id):
                absent.setdefault(passage_id, f"{passage_id!r} (query {query_id!r})")
    if absent:
        raise DatasetError(
            f"the texts of {len(absent):,} cited references are unknown: "
            f"{listed(list(absent.values()))}; name the folder of a data set whose corpus has them "
            "with --data, or add 'segments' with their texts to the rows"
        )


def _cited(prediction: Prediction) -> list[str]:
    """Return the ids of the references that sentences cite, each once."""
    ids = prediction.passage_ids or ()
    places = (n for _, cited in prediction.sentences or () for n in cited)
    return list(dict.fromkeys(ids[n - 1] for n in places if n <= len(ids)))
