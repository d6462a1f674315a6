"""Building, components and experiments."""

from __future__ import annotations

from typing import Final

# Test sets made by models

MIN_PASSAGE_WORDS: Final = 20  # A shorter passage contains no statement worth a question.
MAX_PASSAGE_CHARACTERS: Final = 10_000
"""A longer passage does not fit into the prompts (Know Your RAG uses the same limit)."""
MAX_QUESTION_WORDS: Final = 60  # A longer question is a retelling of the passage.
MAX_GOLD_PASSAGES: Final = 3
"""Gold passages in a prompt that labels or rates a query; they must fit into the context."""
MAX_TURNS: Final = 8
"""Turns of a synthetic conversation: in longer ones users repeat themselves and agents invent."""
BUILD_CONVERSATIONS: Final = 8
"""Concurrent conversations: the most that a spent budget can leave unfinished."""
GENERATION_ROUNDS: Final = 3  # Rounds in a row without a further query that end a generation.
GENERATION_BATCH: Final = 10
"""Queries per batch of writing and checks: the most that a spent budget can leave unfinished."""
LANGUAGE_SAMPLE: Final = 200  # Passages whose language decides that of the queries.
TOPICS: Final = 50  # Most groups of passages whose coverage is reported.
BUILD_BATCH: Final = 50
"""Items per batch of calling steps: the most that a spent budget can leave unfinished."""
WRITER_TOKENS: Final = 300
"""A reply that contains a list of statements or a question with its answer."""
RATING_TOKENS: Final = 48  # A label or rating without a reason.
LABEL_TOKENS: Final = 128  # Labels without a reason; a query may have several.
EXPLAINED_LABEL_TOKENS: Final = 300  # Labels with a reason.
MAX_SHORTFALL_REASONS: Final = 4
"""Reasons in the sentence on missing queries of a label, the most frequent first."""
SHOWN_PASSAGE_IDS: Final = 3  # Passage ids in a message of `data chunk` or a cause of a change.
MTRAG_CONTEXTS: Final = 10  # Passages per ranking that MTRAGEval accepts.

# Components and experiments

MAX_JSON_STARTS: Final = 64
"""Opening braces of a judge's reply that are tried as JSON: many would take quadratic time."""
MAX_TRANSLATION_RATIO: Final = 4
"""Characters of a translation per character of the text; a longer one is an answer."""
DENSE_TRANSLATION_RATIO: Final = 8
"""The same for a text in a script without spaces, such as Chinese."""
TRANSLATION_MARGIN: Final = 60
"""Characters on top of that: a short query in one script may be long in another."""
CHECKED_TRANSLATION: Final = 50
"""Characters from which the language of a translation is checked: shorter texts are ambiguous."""
TRANSLATION_BATCH: Final = 64  # Rows translated at once: the most that a spent budget can waste.
MILVUS_RANKING: Final = 16_384  # Length of a ranking in passages; Milvus refuses longer ones.
ELASTIC_RANKING: Final = 10_000
"""Length of a ranking in passages; Elasticsearch refuses longer ones unless it is configured."""
MAX_PLANNED_QUERIES: Final = 1e9  # Queries that a comparison may recommend; more: no difference.
HISTORY_RUNS: Final = 50  # Runs of an experiment in a history; each takes as long as a passport.
SHOWN_HISTORY_CHANGES: Final = 3  # Changes of a run that a history shows in the terminal.
MAX_LOOKS: Final = 20  # Planned looks of a gate; more looks save hardly any calls.
EFFECT_CHART_ROWS: Final = 40
"""Sources, levels or systems in a chart of effects or of sensitivity; the tables have all."""
MAX_EFFECT_CELLS: Final = 500
"""Combinations of levels that are analysed together: their scores are one table in memory."""

MAX_SPEC_CHARACTERS: Final = 20_000
"""Maximum length of a spec in characters: longer ones belong into a mapping of the file."""
MAX_SPEC_DEPTH: Final = 20
"""Maximum nesting of brackets in a spec: deeper ones are mistakes, or an attack on the stack."""
OWN_CODE_SECONDS: Final = 60.0
"""Time without a value of your own component after which a warning names the item."""
MAX_FIRST_FAILURES: Final = 10
"""Items for which your own component may raise before any succeeds: it is taken as broken then."""
MAX_SAMPLED_TEXTS: Final = 100
"""Queries, and passages, of which a plan reads the tokens: enough to know their language."""
LANGUAGE_TEXTS: Final = 500  # Passages, at equal distances, whose languages a run detects.
MAX_SAMPLED_CHARACTERS: Final = 2000
"""Characters of such a text that are read: a whole book would take seconds."""
MAX_PLAN_TREE_STEPS: Final = 60
"""Steps up to which a plan is shown as a tree: a longer one is shown as counts per kind of step."""
PLAN_TITLE_CHARACTERS: Final = 72
"""Characters of a step's title in a plan: the state stays on the same line of a terminal."""
MAX_REPEATS: Final = 100
"""Answers to a query, and verdicts on an answer: more are a mistake in the file."""
SEED_DISTANCE: Final = MAX_REPEATS * MAX_REPEATS
"""Distance between the seeds of two samples: the repeats of one sample have the seeds between."""
MAX_SWEEP_SYSTEMS: Final = 10_000
"""Systems that the lists of one experiment file may spread to: more are a mistake in the file."""
MOST_SWEEP_SYSTEMS: Final = 100_000
"""The largest `max_systems`: each system is an object in memory, with its checks and its steps."""

PUBLISHED_N_TOLERANCE: Final = 0.1
"""Share by which the number of queries may differ from the published one with a warning only."""
MIN_DIGEST_DIGITS: Final = 12  # Digits of a SHA-256 that are enough to pin files.
MAX_ATTACKS: Final = 10_000  # Attacks in a file of your own: a query gets one of them.
MAX_FALSE_FACT_CHARACTERS: Final = 500  # Of a wrong answer that a planted passage states.
MODEL_HEADER_BYTES: Final = 100_000_000  # Part of a model file's header, read for its size.
PROBED_CITATIONS: Final = 10  # Passages that the probe of citations cites in every sentence.
MAX_CHOSEN_BATCH: Final = 16
"""Examples per step that a training chooses by itself: larger batches need a larger rate."""
MIN_CHOSEN_STEPS: Final = 50
"""Steps that a chosen batch leaves to a training in epochs: a small data set is still learned."""
MAX_TIMED_EXAMPLES: Final = 4
"""Examples of the step that a plan of a training times: enough for seconds per example."""
MAX_WORKER_DEATHS: Final = 3  # Processes that may die on one block before its step fails.
CLUSTER_SECONDS: Final = 10  # Time to wait for the scheduler of a cluster.
