"""Annotation: projects in which people label, rate, compare, review and write conversations.

- Project: `schemes`, `tasks` with `own_schemes/`, `items`, `project`, `create`, items `from_*`.
- Database: `keeping` keeps `events` for ever; labels are `derived` from them. `database` reads
  both through `connections` and `tables`; `migrations`, `backup` and `check` treat it as a whole.
- Server: `app` serves the `pages` of a `site`; `sessions` and `people` decide each one's rights;
  `writer` and `posted` keep and answer events; `failures` explains errors.
- Work: `work` counts finished items per person, `assignment` chooses the next, `active` draws them.
- Questions: `item_questions` lists the questions to a person, `blind` hides systems, `done` checks.
- Conversations: `conversation` is the state, `conversation_calls` has requests, `agents` answer;
  `goals`, `review`, `edit_score`, `conversation_import` and `conversation_export`.
- Numbers: `live_numbers` of `label_columns`; `disagreements` and `quality`.
- Exchange: `rating_export`, `export_forms`, `import_labels`. `terminal` shows the same tasks.
"""

from importlib.util import find_spec

from ragstone.errors import MissingDependency

if find_spec("sqlalchemy") is None:
    raise MissingDependency("ragstone annotate", "sqlalchemy", "annotate")
