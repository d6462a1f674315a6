"""Printed text: messages, reports and the terminal."""

from __future__ import annotations

from typing import Final

# Error messages

MAX_MESSAGE_CHARACTERS: Final = 1000  # A message; its long values are shortened first.
MAX_WORD_CHARACTERS: Final = 120
"""A word of a longer message, such as a value without spaces; most paths are shorter."""
MAX_VALUE_CHARACTERS: Final = 60  # A value of a data file; its file and line show the rest.
MAX_NAME_CHARACTERS: Final = 24  # A name in a list of columns, of which a message has twenty.
MAX_LISTED_VALUES: Final = 5
"""Values in a message that are wrong in the same way; it ends with the number of the others."""

MAX_SPEC_EXCERPT: Final = 100  # Characters of a long spec on each side of an error in it.
MAX_SERVER_ERROR_CHARACTERS: Final = 500
"""A server's own error text; some return a whole HTML page."""
MAX_EXCERPT_CHARACTERS: Final = 120
"""The start of a response that is not a reply; enough to recognise a login page."""
MIN_SECRET_CHARACTERS: Final = 8
"""Secrets that are removed from everything that is written; a shorter value, such as the name of a
tenant, is part of many words."""
SECRET_HEAD_CHARACTERS: Final = 16
"""The beginning of a secret that is removed too: a message may have cut off the rest."""
MAX_KNOWN_FORMS: Final = 4_096  # Characters whose escaped forms are kept instead of made again.
MAX_LISTED_FILES: Final = 20
"""Files in a message about a folder or a repository without the expected file."""
MAX_CAUSE_CHARACTERS: Final = 300
"""The error text of another library within a message; some contain a whole log."""
MAX_REASON_CHARACTERS: Final = 80
"""A reason that is counted; longer ones differ in their end alone."""
MAX_SUGGESTED_IDS: Final = 3  # Query ids suggested for an unknown one.
MAX_LOG_LINES: Final = 3  # Last lines of a server that did not start; one names the cause.

# Data doctor

MAX_EXAMPLES: Final = 5  # Examples per finding; `rows` in `--json` has all ids.
PLACEHOLDER_CHARACTERS: Final = 160
"""A text that may be a placeholder, such as "page not found"; a longer one is about the words."""
CACHED_PASSAGE_RUNS: Final = 1_000
"""Passages whose runs of words are kept for the next query; 1,000 take about 20 MB."""
SEARCHED_QUERIES: Final = 2_000  # Queries of the doctor's searches, drawn at equal distances.
MAX_EXAMPLE_CHARACTERS: Final = 120  # An example, on one line of a terminal.
MAX_EXAMPLE_IDS: Final = 4  # Ids in one example: duplicates of a text, or gold passages of a query.
EXAMPLE_ANSWER_CHARACTERS: Final = 40
"""A gold answer in an example, which also names its query and passage."""
EXAMPLE_QUERY_CHARACTERS: Final = 70  # A query in an example, which also names its passage.
EXAMPLE_MARGIN_CHARACTERS: Final = 20  # Text on each side of a damaged character.
MAX_SHOWN_FAULTS: Final = 3  # Faults in the error for a folder without a readable query.
MAX_DISTRIBUTION_VALUES: Final = 8
"""Values of a distribution in one sentence, the most frequent first."""
MAX_CATEGORY_VALUES: Final = 20
"""Values of a label that is checked for balance; a label with more is an id, not a category."""

# Reports and terminal

REPORT_QUERIES: Final = 500
"""Queries with their own page in a report; a browser opens a larger file slowly."""
SHOWN_HOPS: Final = 20
"""Hops, and numbers of search calls, with a row of their own; few systems search more often."""
RISK_POINTS: Final = 100  # Points of a curve of risk against coverage in JSON and in a chart.
REPORT_OPEN_ROWS: Final = 24  # Rows of a table that is open at first in a report.
REPORT_OPEN_CELLS: Final = 120  # Cells of a table by label that is open at first in a report.
REPORT_CONVERSATIONS: Final = 50  # Conversations in a report, the worst first.
SHOWN_RANKS: Final = 10  # Passages of a ranking on a query's page and in the terminal.
STORED_RANKS: Final = 5  # Passages of a ranking whose texts are stored for reports.
LANGUAGE_RANKS: Final = 10  # Passages of a ranking whose languages are counted, as in nDCG@10.
STORED_PASSAGE_CHARACTERS: Final = 600  # Such a text: a report contains thousands of them.
SHOWN_FAILURES: Final = 5  # Reasons of failures in the terminal, the most frequent first.
STORED_REASONS: Final = 1000
"""Reasons of failures in a step's manifest, the most frequent first; the others are one entry."""
REASON_CHARACTERS: Final = 400  # Characters of such a reason in the terminal.
REPORT_LABEL_VALUES: Final = 24
"""Values of a label that a report breaks metrics down by; with more, groups are tiny."""
SCAN_LABEL_VALUES: Final = 12
"""Values of a label in a weight scan, which needs more queries per value."""
MAX_REGEX_SECONDS: Final = 1.0
"""Search of a regex, from a row of the data, in one answer; some patterns take for ever."""
MAX_LABEL_CHARACTERS: Final = 120  # A label shown beside a conversation; a longer one is a text.
MAX_RANKED_SYSTEMS: Final = 16
"""Systems of which all pairs are compared; if there are more, each is compared with the best."""
SHOWN_FLIPPED_QUERIES: Final = 2
"""Flipped queries with their texts in the terminal, per direction; JSON and HTML have all."""
SHOWN_FLIPPED_PAIRS: Final = 3  # Pairs of systems whose flipped queries the terminal shows.
REPORT_FLIPPED_QUERIES: Final = 500  # Flipped queries on the page of a comparison; JSON has all.
REPORT_TEXT_CHARACTERS: Final = 4000
"""A query, gold answer or answer on that page; a longer one is cut, with a note."""
MCP_ANSWER_CHARACTERS: Final = 200_000
"""An answer to an assistant; about 50,000 tokens, which its context may not have."""
HELD_SCORES: Final = 300_000
"""Scores that a table over experiments keeps in memory, about 60 MB; others are read again."""
MANY_CELLS: Final = 500
"""Cells of a table over experiments above which a note warns of strict corrections."""
BOARD_RESAMPLES: Final = 2000
"""Resamples for the interval of a correlation in a cell of such a table."""
KENDALL_RESAMPLES: Final = 200  # The same for Kendall's tau, each of a millisecond or more.
SHOWN_AXES: Final = 24  # Axes, or values of one, that an error lists.
SHOWN_CHECK_GROUPS: Final = 12  # Groups of a label in the check of a judge; the rest are joined.
SHOWN_CHECK_LABELS: Final = 6  # Labels in the check of a judge, if none is asked for.
SHOWN_LEADERS: Final = 3
"""Systems named on the card of a lead; the table lists the others that share the first group."""
MAX_GAIN_SENTENCES: Final = 5
"""Systems with a sentence on context gain in the summary; the leaderboard contains all."""
STORED_LABEL_VALUES: Final = 50
"""Values of a label counted in the description of a data set, the most frequent first."""
SHOWN_LABEL_VALUES: Final = 8  # Values of a label in one line of `ragstone data show`.
SHOWN_VALUES_OF_MANY: Final = 3
"""The same for a label with more than `STORED_LABEL_VALUES` values, such as an id."""
SHOWN_TEXT_CHARACTERS: Final = 160
"""A passage or query in `ragstone data show`: two lines of a terminal."""
SHOWN_QUERIES: Final = 5  # Queries that `print` shows of a data set.
SHOWN_CELL_CHARACTERS: Final = 60  # A text in that table.
SHOWN_LOST_JUDGEMENTS: Final = 5
"""Lost judgements in `ragstone data chunk`; the file cutting.json contains all."""
SHOWN_REJECTION_REASONS: Final = 10
"""Reasons in `ragstone data generate`; the file items.jsonl contains all."""
SHOWN_DIFFERENCES: Final = 20
"""Numbers of one cause, or of one category, that `verify` and `diff` print; JSON has all."""
SHOWN_DIFFERING_CHARACTERS: Final = 24
"""Characters of a value that differs: enough to distinguish digests."""
SHOWN_COMMON_CHARACTERS: Final = 10
"""Characters shown before the difference of two long values that begin alike."""
TRACKED_CHARACTERS: Final = 500  # Characters of a parameter that every MLflow keeps.
TRACKER_SECONDS: Final = 20  # For a tracker to be reached before a run.
TRACKED_BATCH: Final = 100  # Parameters or numbers of one request: the most that MLflow takes.
SHOWN_DIFFERING_ANSWERS: Final = 20
"""Answers per metric in `ragstone score --explain`; `--json` prints all."""
HELP_COLUMNS: Final = 100  # Width of help texts; longer lines are hard to read.
PROGRESS_DELAY_SECONDS: Final = 2.0  # Time before progress shows; a faster step needs no bar.
PROGRESS_LINE_SECONDS: Final = 10.0  # Time between two progress lines in a log file.
