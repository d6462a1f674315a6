"""Every bound of the product in one place: value, unit and reason."""

from __future__ import annotations

from typing import Final

SPEC_CHARACTERS: Final = 20_000
"""Maximum length of a spec in characters: longer ones belong into a mapping of the file."""
SPEC_DEPTH: Final = 20
"""Maximum nesting of brackets in a spec: deeper ones are mistakes, or an attack on the stack."""
COMPONENT_FAILURES: Final = 10
"""Items for which your own component may raise before any succeeds: it is taken as broken then."""
PLAN_STEPS: Final = 60
"""Steps up to which a plan is shown as a tree: a longer one is shown as counts per kind of step."""
PLAN_WIDTH: Final = 72
"""Characters of a step's title in a plan: the state stays on the same line of a terminal."""
SWEEP_SYSTEMS: Final = 10_000
"""Systems that the lists of one experiment file may spread to: more are a mistake in the file."""
