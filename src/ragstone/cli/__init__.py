"""The command line; interruptions are heard before the commands are imported."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ragstone.core.lazy import attach

if TYPE_CHECKING:
    from ragstone.cli.commands import COMMANDS as COMMANDS
    from ragstone.cli.commands import LazyGroup as LazyGroup
    from ragstone.cli.commands import root as root

__getattr__, __dir__, __all__ = attach(__name__, {"commands": ["COMMANDS", "LazyGroup", "root"]})


def main() -> None:
    """Run the command line as a program."""
    from ragstone.cli.interrupts import EXIT_CODE, Interrupts
    from ragstone.cli.late_collection import collect_late
    from ragstone.cli.streams import open_streams

    interrupts = None
    try:
        collect_late()
        open_streams()
        interrupts = Interrupts()
        interrupts.install()
        from ragstone.cli.commands import run
        from ragstone.core.redacted_stream import redact_streams

        redact_streams()
        code = run(lambda: interrupts.heard)
    except KeyboardInterrupt:
        code = interrupts.stopped() if interrupts else EXIT_CODE
    except (OSError, MemoryError, RuntimeError) as error:
        from ragstone.cli.system_errors import end_of

        code = end_of(error)
    sys.exit(code)
