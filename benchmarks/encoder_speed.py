"""The bundled encoder: embedding against a plain batched script, RB_agg against `bert-score`.

    python benchmarks/encoder_speed.py [--texts 2000] [--answers 477] [--rounds 3] [--json FILE]

Embedding: passages and questions of nq_singlehop by `minilm`, against the script that many people
would write: the same weights in a graph with batch axis and mask, ONNX Runtime, batches of 32 of
texts sorted by length (as sentence-transformers does), padded to the longest, both in the same
precision, cut to the same 512 tokens. In the order of the file, a passage is padded from 128 tokens
to 425 on average; sorted, to 174. The least cosine of the two is printed; in 8 bits a batched
script quantises all texts of a batch by one scale, so that a vector depends on its neighbours.

RB_agg: mtRAG's answers that people rated, each against its reference answer and its passages,
against `bert-score` by the same weights, in batches of 64: one call for the references, one for the
passages, as its documentation has it. The largest difference of the three parts is printed.

One thread each, CPU seconds, best round; the two sides take turns.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Literal

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

import numpy as np
from measured import (  # type: ignore[import-not-found]  # a file beside this one
    DATA,
    Measured,
    in_turns,
    write_measured,
)

from ragstone.components.embedders.minilm import MiniLM
from ragstone.components.metrics import bert_encoder
from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.parse import parse_metric
from ragstone.models.bert_onnx import GraphWriter, Precision
from ragstone.models.files import model_file
from ragstone.models.onnx_encoder import make_session
from ragstone.protocols import Services
from ragstone.types import Context, ContextPassage

MODEL: Final = "all-minilm-l6-v2"
BATCH: Final = 32
Role = Literal["query", "passage"]


class BatchedWriter(GraphWriter):
    """The same encoder with a batch axis: inputs `ids` and `mask` of shape (texts, tokens)."""

    def model(self) -> bytes:
        """Return the graph; output `mean`, of shape (texts, dimension), not normalised."""
        from onnx import TensorProto, helper

        self.node("Cast", "mask", output="counted", to=TensorProto.FLOAT)
        away = self.node("Sub", self.constant("one", np.ones((), np.float32)), "counted")
        away = self.node("Mul", away, self.constant("never", np.full((), -1e9, np.float32)))
        self.node("Unsqueeze", away, self.whole("head_axes", [1, 2]), output="hidden")
        state = self.encoder()
        weight = self.node("Unsqueeze", "counted", self.whole("last", [2]))
        summed = self.node("ReduceSum", self.node("Mul", state, weight), self.whole("first", [1]))
        total = self.node("ReduceSum", weight, "first", keepdims=0)
        self.node("Div", self.node("Squeeze", summed, "first"), total, output="mean")
        made = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes,
            "batched",
            [made(name, TensorProto.INT64, ["b", "n"]) for name in ("ids", "mask")],
            [made("mean", TensorProto.FLOAT, ["b", 384])],
            list(self.constants.values()),
        )
        opset = [helper.make_opsetid("", 20)]
        written: bytes = helper.make_model(
            graph, opset_imports=opset, ir_version=9
        ).SerializeToString()
        return written

    def embedded(self) -> str:
        """Add word, position and segment vectors."""
        words = self.constant("words", self.weights["embeddings.word_embeddings.weight"])
        segment = self.weights["embeddings.token_type_embeddings.weight"][0]
        places = self.weights["embeddings.position_embeddings.weight"] + segment
        length = self.node("Shape", "ids", start=1)
        placed = self.node("Slice", self.constant("places", places), self.whole("s", [0]), length)
        summed = self.node("Add", self.node("Gather", words, "ids"), placed)
        return self.normalised("embeddings.LayerNorm", summed)

    def attention(self, name: str, state: str) -> str:
        """Add multi-head self-attention with a mask."""
        parts = [self.dense(f"{name}.self.{part}") for part in ("query", "key", "value")]
        size = len(parts[0][1]) // self.heads
        scale = np.float32(size**-0.5)
        parts[0] = (parts[0][0] * scale, parts[0][1] * scale)
        joined = self.linear(
            state,
            np.concatenate([matrix for matrix, _ in parts], axis=1),
            np.concatenate([bias for _, bias in parts]),
        )
        apart = self.node("Reshape", joined, self.whole("apart", [0, 0, 3, self.heads, size]))
        apart = self.node("Transpose", apart, perm=[2, 0, 3, 1, 4])
        query, key, value = (
            self.node("Gather", apart, self.whole(f"part_{part}", part)) for part in range(3)
        )
        scores = self.node("MatMul", query, self.node("Transpose", key, perm=[0, 1, 3, 2]))
        weights = self.node("Softmax", self.node("Add", scores, "hidden"), axis=-1)
        mixed = self.node("Transpose", self.node("MatMul", weights, value), perm=[0, 2, 1, 3])
        together = self.node("Reshape", mixed, self.whole("together", [0, 0, size * self.heads]))
        return self.linear(together, *self.dense(f"{name}.output.dense"))


def plain_script(precision: Precision) -> Callable[[Sequence[str]], np.ndarray]:
    """Return the peer of embedding: texts in batches, padded, through ONNX Runtime."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    weights = load_file(model_file(MODEL))
    session = make_session(BatchedWriter(weights, 12, 1e-12, precision).model())
    tokenizer = Tokenizer.from_file(str(model_file(MODEL, "tokenizer")))
    tokenizer.enable_padding()
    tokenizer.enable_truncation(512)

    def embed(texts: Sequence[str]) -> np.ndarray:
        order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
        found = []
        for start in range(0, len(texts), BATCH):
            batch = tokenizer.encode_batch([texts[i] for i in order[start : start + BATCH]])
            ids = np.array([one.ids for one in batch])
            mask = np.array([one.attention_mask for one in batch])
            (mean,) = session.run(["mean"], {"ids": ids, "mask": mask})
            found.append(mean / np.linalg.norm(mean, axis=1, keepdims=True))
        vectors: np.ndarray = np.concatenate(found)[np.argsort(order)]
        return vectors

    return embed


def read(name: str, most: int) -> list[str]:
    """Return the first texts of a file of nq_singlehop."""
    with gzip.open(DATA / "nq_singlehop" / name, "rt", encoding="utf-8") as file:
        return [json.loads(line)["text"] for line, _ in zip(file, range(most), strict=False)]


def embedding(what: str, texts: list[str], precision: Precision, rounds: int) -> Measured:
    """Measure one kind of text in one precision."""
    embedder = MiniLM(precision=precision, threads=1)
    role: Role = "query" if what == "questions" else "passage"
    kept: dict[str, Any] = {}
    peer = plain_script(precision)

    def ours() -> None:
        kept["ours"] = np.stack([one.value for one in embedder.embed(texts, role, Services())])

    def theirs() -> None:
        kept["peer"] = peer(texts)

    embedder.embed(texts[:1], role, Services())
    best = in_turns({"ours": ours, "peer": theirs}, rounds)
    least = float((kept["ours"] * kept["peer"]).sum(axis=1).min())
    return Measured(
        job=f"embedding {what}, {precision}",
        n=len(texts),
        unit="CPU s",
        ours=best["ours"],
        peer=best["peer"],
        against=f"batched script, onnxruntime {version('onnxruntime')}",
        conditions=f"one thread, best of {rounds} in turn, batches of {BATCH} sorted by length, "
        f"least cosine {least:.5f}",
    )


@dataclass(frozen=True)
class Rated:
    """An answer of mtRAG's that people rated."""

    answer: str
    gold: str
    passages: tuple[str, ...]


def rated(most: int) -> list[Rated]:
    """Return the first answers."""
    path = "human_evaluations/reference_subset_with_human_evaluations.json.gz"
    with gzip.open(DATA / "mtrag" / path, "rt", encoding="utf-8") as file:
        subset = json.load(file)
    tasks = {task["task_id"]: task for task in subset["tasks"]}
    texts = {document["document_id"]: document["text"] for document in subset["documents"]}
    return [
        Rated(
            row["model_response"],
            tasks[row["task_id"]]["targets"][0]["text"],
            tuple(texts[c["document_id"]] for c in tasks[row["task_id"]]["contexts"]),
        )
        for row in subset["evaluations"][:most]
    ]


def bert_scorer(folder: Path) -> Any:
    """Return the peer of RB_agg: a scorer of the package by the same weights."""
    import torch

    torch.set_num_threads(1)
    for file in model_file(MODEL).parent.iterdir():
        shutil.copy(file, folder)
    settings = {"tokenizer_class": "BertTokenizer", "model_max_length": 512}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    package = importlib.import_module("bert_score")
    return package.BERTScorer(model_type=str(folder), num_layers=6, batch_size=64, nthreads=1)


def answers(rows: Sequence[Rated], rounds: int) -> Measured:
    """Measure RB_agg's two BERTScores."""
    metric = parse_metric(f"RB_agg(model={MODEL})")
    blank = [""] * len(rows)
    shown = [
        Context(
            str(i),
            "given",
            tuple(ContextPassage(str(k), text, "retrieved") for k, text in enumerate(row.passages)),
        )
        for i, row in enumerate(rows)
    ]
    said, golds = [row.answer for row in rows], [row.gold for row in rows]
    flat = [(row.answer, text) for row in rows for text in row.passages]
    encoder = bert_encoder.load_bundled(MODEL)
    kept: dict[str, Any] = {}

    def ours() -> None:
        encoder.remembered.clear()
        batch = AnswerBatch(said, [(gold,) for gold in golds], blank, shown, blank)
        metric.values(batch)  # type: ignore[arg-type]

    with tempfile.TemporaryDirectory() as folder:
        scorer = bert_scorer(Path(folder))

        def theirs() -> None:
            kept["recall"] = scorer.score(said, golds)[1]
            kept["known"] = scorer.score(*map(list, zip(*flat, strict=True)))[0]

        best = in_turns({"ours": ours, "peer": theirs}, rounds)
    recall = [one.recall for one in encoder.scores(list(zip(said, golds, strict=True)))]
    known = [one.precision for one in encoder.scores(flat)]
    pairs = ((recall, kept["recall"]), (known, kept["known"]))
    apart = max(np.abs(np.array(own) - other.numpy()).max() for own, other in pairs)
    return Measured(
        job="RB_agg, bundled encoder",
        n=len(rows),
        unit="CPU s",
        ours=best["ours"],
        peer=best["peer"],
        against=f"bert-score {version('bert-score')}, torch {version('torch')}",
        conditions=f"one thread, best of {rounds} in turn, {len(flat)} passages, {len(set(flat))} "
        f"different pairs, scores differ by {apart:.1e} at most",
    )


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--answers", type=int, default=477)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    figures = []
    precisions: tuple[Precision, ...] = ("int8", "float32")
    for precision in precisions:
        for what, file in (("passages", "corpus.jsonl.gz"), ("questions", "queries.jsonl.gz")):
            texts = read(file, options.texts)
            # Questions are short: more rounds cost little.
            rounds = options.rounds * (4 if what == "questions" else 1)
            figures.append(embedding(what, texts, precision, rounds))
            print(figures[-1], flush=True)
    if importlib.util.find_spec("bert_score"):
        figures.append(answers(rated(options.answers), options.rounds))
        print(figures[-1])
    if options.json:
        write_measured(options.json, figures)


if __name__ == "__main__":
    main()
