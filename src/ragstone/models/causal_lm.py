"""Loading a causal language model and its tokenizer with transformers."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

from ragstone.core import limits
from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.locate import TRANSFORMERS_LM


def load_causal_lm(path: Path, name: str, device: str, dtype: str) -> tuple[Any, Any]:
    """Return the tokenizer and the model of a GGUF file or of a folder.

    Args:
        path: a GGUF file, or a folder as transformers saves it.
        name: the model's name in errors.
        device: the kind of device that the model is moved to.
        dtype: number type of the weights.

    Raises:
        MissingDependency: a package is not installed.
        ModelFileError: transformers cannot load the model.
        ConfigError: the model has no chat template.
    """
    TRANSFORMERS_LM.require()
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = path.parent if path.is_file() else path
    given: dict[str, Any] = {"gguf_file": path.name} if path.is_file() else {}
    given["local_files_only"] = True
    try:
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(folder, **given)
            given["dtype"] = getattr(torch, dtype)
            model = AutoModelForCausalLM.from_pretrained(folder, **given).to(device)
    except (OSError, ValueError, KeyError, RuntimeError, AssertionError) as error:
        raise ModelFileError(
            f"transformers cannot load the model {name!r} from {path} on {device!r}: "
            f"{' '.join(str(error).split())[: limits.MAX_CAUSE_CHARACTERS]}"
        ) from error
    if not tokenizer.chat_template:
        raise ConfigError(
            f"the model {name!r} has no chat template, so it cannot be sent chat messages; "
            "use an instruction-tuned model, or put a chat_template.jinja into its folder"
        )
    return tokenizer, model


@contextmanager
def quiet() -> Iterator[None]:
    """Load without the progress bars and warnings of transformers."""
    from transformers.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        # The progress bar of GGUF files has no switch.
        with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(before)
