"""The compiled kernel gives the values of the plain path, and reads no byte beyond its buffers."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import SharedData
from tests.fakes.multilingual_pairs import blocks
from tools.kernel import compile_kernel, compiler

from ragstone.components.metrics.answer_batch import AnswerBatch, kept_gold
from ragstone.components.metrics.compiled_tokens import CompiledOverlap
from ragstone.components.metrics.match import Match
from ragstone.components.metrics.parse import parse_metric
from ragstone.core import token_kernel
from ragstone.core.fingerprint import cache_key_parts

EIGHT = ("EM", "Match", "F1", "Precision", "Recall", "ROUGE-1", "ROUGE-2", "ROUGE-L")
VARIANTS = ("F1(variant=squad)", "Precision(variant=bergen)", "ROUGE-1(variant=mtrag)",
            "ROUGE-2(variant=mtrag)", "ROUGE-L(variant=mtrag)")  # fmt: skip
"""The published variants whose tokens the kernel compares."""


def require_compiler() -> None:
    """Skip a test if there is no C compiler."""
    if compiler() is None:
        pytest.skip("no C compiler; install gcc or clang")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the kernel, compiled without a warning."""
    require_compiler()
    made = tmp_path_factory.mktemp("kernel") / "kernel.so"
    compile_kernel(made, ["-Wall", "-Wextra", "-Werror"])
    return made


@pytest.fixture
def kernel(library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Load the compiled kernel; `RAGSTONE_KERNEL` then decides, once the cache is cleared."""
    monkeypatch.setattr(token_kernel, "LIBRARY", library)
    monkeypatch.delenv("RAGSTONE_KERNEL", raising=False)
    forget()
    assert token_kernel.is_loaded()
    yield monkeypatch
    monkeypatch.undo()
    forget()


def forget() -> None:
    """Look for the kernel again at the next call, and forget cut gold answers."""
    token_kernel.reload()
    kept_gold.cache_clear()


def copied(pairs: AnswerBatch) -> AnswerBatch:
    """Return the pairs without what was computed from them."""
    return pairs.take(range(len(pairs)))


def scored(pairs: AnswerBatch, names: Iterable[str]) -> dict[str, list[float]]:
    """Return metric -> values."""
    metrics = {name: parse_metric(name) for name in names}
    return {n: m.scored(pairs).values.tolist() for n, m in metrics.items()}  # type: ignore[arg-type]


def differing(kernel: pytest.MonkeyPatch, many: Iterable[AnswerBatch]) -> tuple[int, list[object]]:
    """Return the number of pairs, and the pairs with a metric of two values."""
    count, found = 0, list[object]()
    for number, pairs in enumerate(many):
        names = (*EIGHT, *VARIANTS) if number % 4 == 0 else EIGHT
        kernel.delenv("RAGSTONE_KERNEL", raising=False)
        forget()
        fast = scored(pairs, names)
        assert isinstance(pairs.words, CompiledOverlap)
        kernel.setenv("RAGSTONE_KERNEL", "off")
        forget()
        again = copied(pairs)
        plain = scored(again, names)
        assert not isinstance(again.words, CompiledOverlap)
        count += len(pairs)
        for name in names:
            pairs_of_values = enumerate(zip(fast[name], plain[name], strict=True))
            wrong = [i for i, (ours, theirs) in pairs_of_values if ours != theirs]
            found += [(name, pairs.answers[i], pairs.gold[i], pairs.languages[i]) for i in wrong]
    return count, found


def test_all_values_are_those_of_the_plain_path(kernel: pytest.MonkeyPatch) -> None:
    """Over 100,000 made pairs of many scripts, the eight metrics and published variants agree."""
    count, found = differing(kernel, blocks(100_000, seed=24))

    assert count == 100_000
    assert found[:3] == []


def test_long_texts_agree(kernel: pytest.MonkeyPatch) -> None:
    """Gold answers of thousands of words, repeated words, and an answer of 300,000 characters."""
    long = "the cat sat on a mat in 1,000 Größen " * 8_000
    words = [f"w{i % 900}" for i in range(7_000)]
    many = AnswerBatch(
        [long, " ".join(words), "a b " * 3_000, ""],
        [(long[9:90_000], "mat"), (" ".join(words[::-1]), "w1"), ("a b " * 70, "b a"), ("x",)],
        [""] * 4, [None] * 4, [""] * 4,
    )  # fmt: skip

    assert differing(kernel, [many]) == (4, [])


def test_real_texts_agree(kernel: pytest.MonkeyPatch, shared_data: SharedData) -> None:
    """Passages of an encyclopedia, each against the next one and its own first words."""
    with gzip.open(shared_data("nq_singlehop") / "corpus.jsonl.gz") as file:
        texts = [str(json.loads(line)["text"]) for line in islice(file, 1_025)]
    gold = [(after, " ".join(own.split()[:4])) for own, after in pairwise(texts)]
    size = len(gold)
    many = AnswerBatch(texts[:-1], gold, [""] * size, [None] * size, [""] * size)

    assert differing(kernel, [many]) == (1_024, [])


def test_a_lone_surrogate_is_refused_alike(kernel: pytest.MonkeyPatch) -> None:
    """Half a character cannot be encoded: both paths raise the same error."""
    pairs = AnswerBatch(["a\ud800"], [("a",)], [""], [None], [""])
    for setting in ("on", "off"):
        kernel.setenv("RAGSTONE_KERNEL", setting)
        forget()
        with pytest.raises(UnicodeEncodeError):
            scored(copied(pairs), ["F1"])


def test_keys_know_nothing_of_the_kernel(kernel: pytest.MonkeyPatch) -> None:
    """The cache key of a metric is the same with and without it."""
    with_kernel = cache_key_parts(Match())
    kernel.setenv("RAGSTONE_KERNEL", "off")
    forget()

    assert cache_key_parts(Match()) == with_kernel


SANITIZED = """
import sys, random
from pathlib import Path
import numpy as np, pytest
from ragstone.core import token_kernel
token_kernel.LIBRARY = Path(sys.argv[1])
assert token_kernel.is_loaded()
from tests.components.metrics import test_compiled_tokens as here
here.fuzz()
with pytest.MonkeyPatch.context() as patch:
    count, found = here.differing(patch, here.blocks(1_500, seed=7))
assert count == 1_500 and not found, found[:3]
print("clean")
"""


def fuzz() -> None:
    """Call the kernel with bytes that are not text, and with codes that often repeat."""
    from ragstone.components.metrics import compiled_tokens as compiled
    from ragstone.components.metrics.fast_tokens import CLASSES
    from ragstone.text.fold_many import PLAIN

    draw = np.random.default_rng(3)
    known, table = compiled._function_words(), compiled._characters()
    for _ in range(300):
        size = int(draw.integers(0, 60))
        drawn = draw.integers(0, draw.choice([256, 3, 64]), size) + draw.choice([0, 0xC0])
        stream = bytes((drawn % 256).astype(np.uint8)) + b"\0"
        texts = stream.count(0)
        folded = token_kernel.fold(stream, texts, PLAIN, CLASSES, table)
        assert folded.stream.count(0) == texts
        kinds = draw.integers(0, 3, texts).astype(np.uint8)
        for one in (stream, folded.stream):
            assert token_kernel.cut(one, CLASSES, known, kinds).piece_counts.sum() <= len(one)
        said, wanted = (draw.integers(0, 9, 5).astype(np.int64) for _ in range(2))
        codes = [draw.integers(1, 5, counts.sum()).astype(np.uint64) for counts in (said, wanted)]
        owner = np.sort(draw.integers(0, 5, 5)).astype(np.int64)
        found = token_kernel.overlap(codes[0], said, codes[1], wanted, owner)
        assert (found.longest <= found.shared).all()
        assert (found.bigrams <= found.shared).all()


def test_no_byte_beyond_a_buffer_is_touched(tmp_path: Path) -> None:
    """Built with the address and undefined-behaviour sanitizers, it runs clean on hostile input."""
    require_compiler()
    made = tmp_path / "kernel.so"
    flags = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    try:
        compile_kernel(made, flags)
    except subprocess.CalledProcessError:
        pytest.skip("the C compiler has no sanitizers")
    command = [*(compiler() or ()), "-print-file-name=libasan.so"]
    asan = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(asan).is_file():
        pytest.skip("the C compiler has no sanitizers")
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", SANITIZED, str(made)],
        cwd=root,
        env={
            **os.environ,
            "LD_PRELOAD": asan,
            "ASAN_OPTIONS": "detect_leaks=0",
            "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("clean\n", 0), done.stderr[-3000:]
