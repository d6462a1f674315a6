"""Weights & Biases: runs on its server, or in a folder if it is offline."""

from __future__ import annotations

import os
from typing import Any, Final

from ragstone.core import limits
from ragstone.core.environment import require, resolved
from ragstone.core.likely_secrets import likely_secrets
from ragstone.core.redaction import remember
from ragstone.errors import ConfigError
from ragstone.results.trackers.tracked_run import TrackedRun

_REFERRING: Final = {"base_url": "WANDB_BASE_URL", "api_key": "WANDB_API_KEY"}
"""Setting -> variable that may contain a reference to a secret."""


class WeightsAndBiases:
    """The server that `wandb login` names; with `WANDB_MODE=offline`, the folder `wandb`.

    Code, console output, Git data and figures of this machine are not sent.

    Raises:
        MissingDependency: wandb is not installed.
        ConfigError: no key of the server is known.
    """

    def __init__(self) -> None:
        require("--track wandb", "wandb", "wandb")
        given = _resolved_settings()
        import wandb

        self.settings = wandb.Settings(
            silent=True,
            console="off",
            disable_git=True,
            disable_code=True,
            x_disable_meta=True,
            x_disable_stats=True,
            **given,
        )
        mode = os.environ.get("WANDB_MODE") or wandb.setup(settings=self.settings).settings.mode
        if mode in ("offline", "disabled"):
            return
        try:
            wandb.Api(
                {"base_url": given["base_url"]} if "base_url" in given else None,
                timeout=limits.TRACKER_SECONDS,
                api_key=given.get("api_key"),
            )
        except wandb.errors.Error:
            raise ConfigError(
                "Weights & Biases cannot be reached or has no key; run wandb login, or set "
                "WANDB_MODE=offline"
            ) from None

    def log(self, run: TrackedRun) -> str:
        """Keep a run in the project of its name; a run of equal results is written again."""
        import wandb

        project = run.experiment
        place = wandb.init(
            project=project, name=run.name, settings=self.settings, id=run.key, resume="allow"
        )
        for name, value in run.parameters.items():
            place.config[name] = value
        for name, number in run.numbers.items():
            place.summary[name] = number
        kept = wandb.Artifact(f"{run.key}-results", "results")
        for path in run.files:
            kept.add_file(str(path))
        place.log_artifact(kept)
        where = place.settings.sync_dir if place.offline else place.url
        place.finish()
        return f"Weights & Biases run {run.key} of project {project!r}: {where}"


def _resolved_settings() -> dict[str, Any]:
    """Return the settings whose variables contain references; their values are not shown.

    Such a variable is removed from the environment: wandb would read it as it is written.
    """
    found = dict[str, Any]()
    for setting, variable in _REFERRING.items():
        written = os.environ.get(variable, "")
        value: str = resolved(written, variable)
        remember(one.value for one in likely_secrets({setting: value}))
        if value != written:
            found[setting] = value
            del os.environ[variable]
    return found
