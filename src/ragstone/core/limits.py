"""Every bound of the product in one place: value, unit and reason."""

from __future__ import annotations

from typing import Final

SPEC_CHARACTERS: Final = 20_000
"""Maximum length of a spec in characters: longer ones belong into a mapping of the file."""
SPEC_DEPTH: Final = 20
"""Maximum nesting of brackets in a spec: deeper ones are mistakes, or an attack on the stack."""
COMPONENT_FAILURES: Final = 10
"""Items for which your own component may raise before any succeeds: it is taken as broken then."""
