"""Writes a BERT encoder as an ONNX graph, from its weights alone.

The graph reads one text: without batch axis, padding and mask, the output for a text cannot depend
on other texts. The architecture is that of Devlin and others, "BERT", NAACL 2019.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Matrix: TypeAlias = npt.NDArray[np.float32]

Precision: TypeAlias = Literal["int8", "float32"]

OPSET: Final = 20
"""The first operator set with Gelu."""
_IR_VERSION: Final = 9
"""The file format of this operator set, which every newer runtime reads."""
_LEVELS: Final = 63
"""Quantised weights are between -63 and 63. CPUs without VNNI add pairs of products in 16 bits,
which the full range of int8 overflows: the same model would have other vectors there."""


def write_bert(
    weights: Mapping[str, Matrix], *, heads: int, epsilon: float, precision: Precision
) -> bytes:
    """Return the encoder as a serialised ONNX model; raise `KeyError` if a weight is missing.

    Input `ids`: int64 of shape (tokens,). Outputs: `tokens`, float32 of shape (tokens, dimension),
    and `mean`, their L2-normalised average, of shape (dimension,).

    `weights` are named as in BERT's safetensors, and `epsilon` is that of layer normalisation. The
    precision `int8` quantises the weights of the linear layers per output channel, and their
    inputs at run time, per text.
    """
    writer = GraphWriter(weights, heads, epsilon, precision)
    writer.node("Identity", writer.encoder(), output="tokens")
    mean = writer.node("ReduceMean", "tokens", writer.whole("first_axis", [0]), keepdims=0)
    writer.node("LpNormalization", mean, output="mean", axis=0, p=2)
    dimension = len(weights["embeddings.LayerNorm.weight"])
    return writer.written({"tokens": ["n", dimension], "mean": [dimension]})


@dataclass
class GraphWriter:
    """Collects the nodes and constants of a graph; a value of the graph is known by its name."""

    weights: Mapping[str, Matrix]
    heads: int
    epsilon: float
    precision: Precision
    nodes: list[Any] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)

    def written(self, outputs: Mapping[str, list[str | int]]) -> bytes:
        """Return the graph as a serialised model: input `ids`, outputs float32 of these shapes."""
        from onnx import TensorProto, helper

        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes,
            "bert",
            [value("ids", TensorProto.INT64, ["n"])],
            [value(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
            list(self.constants.values()),
        )
        opset = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=_IR_VERSION)
        serialised: bytes = model.SerializeToString()
        return serialised

    def encoder(self) -> str:
        """Add the encoder; its value is the token vectors, of shape (tokens, dimension)."""
        state = self.embedded()
        layer = 0
        while layer == 0 or f"encoder.layer.{layer}.output.dense.weight" in self.weights:
            state = self.layer(f"encoder.layer.{layer}", state)
            layer += 1
        return state

    def embedded(self) -> str:
        """Add word, position and (always the first) segment vectors."""
        words = self.constant("words", self.weights["embeddings.word_embeddings.weight"])
        segment = self.weights["embeddings.token_type_embeddings.weight"][0]
        positions = self.weights["embeddings.position_embeddings.weight"]
        places = self.constant("places", positions + segment)
        start, length = self.whole("start", [0]), self.node("Shape", "ids")
        placed = self.node("Slice", places, start, length)
        summed = self.node("Add", self.node("Gather", words, "ids"), placed)
        return self.normalised("embeddings.LayerNorm", summed)

    def layer(self, name: str, state: str) -> str:
        """Add one layer of the encoder."""
        attended = self.node("Add", self.attention(f"{name}.attention", state), state)
        state = self.normalised(f"{name}.attention.output.LayerNorm", attended)
        inner = self.node("Gelu", self.linear(state, *self.dense(f"{name}.intermediate.dense")))
        outer = self.linear(inner, *self.dense(f"{name}.output.dense"))
        return self.normalised(f"{name}.output.LayerNorm", self.node("Add", outer, state))

    def attention(self, name: str, state: str) -> str:
        """Add multi-head self-attention; one product computes queries, keys and values."""
        parts = [self.dense(f"{name}.self.{part}") for part in ("query", "key", "value")]
        dimension = len(parts[0][1])
        size = dimension // self.heads
        scale = np.float32(1 / math.sqrt(size))
        parts[0] = (parts[0][0] * scale, parts[0][1] * scale)
        joined = self.linear(
            state,
            np.concatenate([matrix for matrix, _ in parts], axis=1),
            np.concatenate([bias for _, bias in parts]),
        )
        # (tokens, 3 * dimension) -> three of (heads, tokens, size)
        apart = self.node("Reshape", joined, self.whole("apart", [0, 3, self.heads, size]))
        apart = self.node("Transpose", apart, perm=[1, 2, 0, 3])
        query, key, value = (
            self.node("Gather", apart, self.whole(f"part_{part}", part)) for part in range(3)
        )
        scores = self.node("MatMul", query, self.node("Transpose", key, perm=[0, 2, 1]))
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), value)
        mixed = self.node("Transpose", mixed, perm=[1, 0, 2])
        together = self.node("Reshape", mixed, self.whole("together", [0, dimension]))
        return self.linear(together, *self.dense(f"{name}.output.dense"))

    def linear(self, state: str, matrix: Matrix, bias: Matrix) -> str:
        """Add a product with a matrix, and a bias."""
        place = len(self.nodes)
        added = self.constant(f"bias_{place}", bias)
        if self.precision == "float32":
            product = self.node("MatMul", state, self.constant(f"matrix_{place}", matrix))
            return self.node("Add", product, added)
        from onnx import TensorProto, helper

        steps = np.maximum(np.abs(matrix).max(axis=0), np.finfo(np.float32).tiny) / _LEVELS
        rounded = self.constant(f"matrix_{place}", np.rint(matrix / steps).astype(np.int8))
        names = [f"{part}_{place}" for part in ("rounded", "step", "zero")]
        self.nodes.append(helper.make_node("DynamicQuantizeLinear", [state], names))
        product = self.node("MatMulInteger", names[0], rounded, names[2])
        product = self.node("Cast", product, to=TensorProto.FLOAT)
        step = self.node("Mul", names[1], self.constant(f"steps_{place}", steps))
        return self.node("Add", self.node("Mul", product, step), added)

    def normalised(self, name: str, state: str) -> str:
        """Add a layer normalisation."""
        scale = self.constant(f"{name}.scale", self.weights[f"{name}.weight"])
        shift = self.constant(f"{name}.shift", self.weights[f"{name}.bias"])
        return self.node("LayerNormalization", state, scale, shift, axis=-1, epsilon=self.epsilon)

    def dense(self, name: str) -> tuple[Matrix, Matrix]:
        """Return a layer's matrix, of shape (inputs, outputs), and its bias."""
        return self.weights[f"{name}.weight"].T, self.weights[f"{name}.bias"]

    def node(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add an operation and return the name of its value."""
        from onnx import helper

        name = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def whole(self, name: str, values: int | list[int]) -> str:
        """Add a constant of whole numbers and return its name."""
        return self.constant(name, np.array(values, dtype=np.int64))

    def constant(self, name: str, values: npt.NDArray[Any]) -> str:
        """Add a constant and return its name; a known name is the same array."""
        from onnx import numpy_helper

        if name not in self.constants:
            laid_out = np.asarray(values, order="C")
            self.constants[name] = numpy_helper.from_array(laid_out, name)
        return name
