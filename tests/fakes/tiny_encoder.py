"""A BERT of one layer with random weights, and questions about towns that it can learn."""

from __future__ import annotations

import json
from pathlib import Path

from ragstone.data.dataset import Dataset
from ragstone.text.words import words

TOWNS = ("avila", "braga", "cadiz", "delft", "evora", "ghent", "hvar", "jena", "kotor", "lugo")
FACTS = ("mayor", "river", "castle", "harbour")


def towns() -> Dataset:
    """Return 40 questions, each with the one passage on its town and fact, and a copy of one."""
    pairs = [(town, fact) for town in TOWNS for fact in FACTS]
    passages = [
        {
            "passage_id": f"{town}-{fact}",
            "text": f"the {fact} of {town} is known as {fact} {town} and it is {n} years old",
            "document_id": f"{town} {fact}",
        }
        for n, (town, fact) in enumerate(pairs)
    ]
    copy = {**passages[0], "passage_id": "copy", "document_id": "copy"}
    return Dataset.from_records(
        queries=[
            {"query_id": f"{town}?{fact}", "text": f"which {fact} has {town}"}
            for town, fact in pairs
        ],
        passages=[*passages, copy],
        qrels=[(f"{town}?{fact}", f"{town}-{fact}", 1) for town, fact in pairs],
        name="towns",
    )


def save_towns(folder: Path) -> Path:
    """Write the data set of `towns` in BEIR's layout, and return its folder."""
    data = towns()
    (folder / "qrels").mkdir(parents=True)
    queries = [{"_id": q.query_id, "text": q.text} for q in data.queries]
    corpus = [{"_id": p.passage_id, "text": p.text, "title": p.document_id} for p in data.corpus]
    for name, rows in (("queries", queries), ("corpus", corpus)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    judged = [f"{q}\t{p}\t{g}\n" for q, found in data.qrels.items() for p, g in found.items()]
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(judged))
    return folder


def save_encoder(folder: Path, kind: str = "BertModel", labels: int = 1) -> Path:
    """Write a model of a class of transformers, which knows the words of `towns`."""
    import torch
    import transformers

    data = towns()
    texts = [*(p.text for p in data.corpus), *(q.text for q in data.queries)]
    known = dict.fromkeys(word for text in texts for word in words(text))
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *known]
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        initializer_range=0.5,
        num_labels=labels,
        is_decoder=kind.endswith("LMHeadModel"),
    )
    getattr(transformers, kind)(config).save_pretrained(folder, safe_serialization=True)
    numbered = {word: number for number, word in enumerate(vocabulary)}
    transformers.BertTokenizerFast(vocab=numbered).save_pretrained(folder)
    return folder
