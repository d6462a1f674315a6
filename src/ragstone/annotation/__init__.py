"""Annotation: projects in which people label, rate, compare, review and write conversations.

An item is what a person sees at once. A scheme is the list of questions about it. Everything that
happens is an event, which is kept for ever; labels, progress and exports are derived from events.
"""

from importlib.util import find_spec

from ragstone.errors import MissingDependency

if find_spec("sqlalchemy") is None:
    raise MissingDependency("ragstone annotate", "sqlalchemy", "annotate")
