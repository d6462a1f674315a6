"""Every bound of the package: on input, model calls, memory, left-over files and printed text.

A bound is a limit that a user can reach, or one that protects memory, time or the screen. Constants
that tune an algorithm are beside the algorithm, and the defaults of a component's own parameters
(`top_k`, `max_tokens`) are in the component. Code reads a bound as `limits.NAME` when it applies,
so that a test can lower it, or as the default of an argument.
"""

from __future__ import annotations

from typing import Final

# Input

MAX_LINE_BYTES: Final = 64 * 2**20
"""A line of a data set: a whole book fits, and a file without line breaks does not fill memory."""
MAX_DOCUMENT_BYTES: Final = 2**30
"""An uncompressed file that is read as a whole: parsed JSON takes several times its size."""
MAX_NESTING_LEVELS: Final = 100
"""Lists and objects within each other, in JSON and YAML: deeper ones overflow the stack."""
MAX_YAML_BYTES: Final = 2**20  # A YAML file; PyYAML needs several seconds per megabyte.
MAX_PROMPT_CHARACTERS: Final = 100_000  # A text of a prompt, which is sent with every query.
MAX_NAMED_CHARACTERS: Final = 60
"""A value in the name of a system; a longer one is shown by its number."""
MAX_YAML_COLLECTIONS: Final = 20_000
"""Lists and mappings in a YAML file with aliases expanded: nested aliases multiply."""
MAX_TRACE_SPANS: Final = 50_000
"""Spans of one trace, which are in memory together; an agent in a loop writes without end."""
MAX_OTLP_BYTES: Final = 20 * 2**20
"""A request of traces over HTTP, unpacked: as OpenTelemetry's collector."""
OTLP_CONCURRENT_REQUESTS: Final = 4
"""Requests of traces that are in memory at once; the others wait."""
OTLP_REQUEST_SECONDS: Final = 30.0
"""Time for a request of traces to arrive; an exporter gives up after ten."""

# Documents, parsed in a process of their own

MAX_PARSED_FILE_BYTES: Final = 50 * 2**20
"""A file of a folder of documents; a manual of 400 pages with figures has about 10 MB."""
MAX_HTML_BYTES: Final = 10 * 2**20
"""An HTML page: one of 50 MB takes its parser 17 seconds and 2 GB."""
MAX_UNPACKED_BYTES: Final = 200 * 2**20
"""The texts inside of a presentation, unpacked: a small archive may contain gigabytes."""
MAX_PAGES: Final = 5000  # Pages of a PDF; about a minute of parsing.
MAX_TEXT_CHARACTERS: Final = 20_000_000  # Text of one file: seven times the Bible.
MAX_HEADING_CHARACTERS: Final = 200  # A heading; a longer one is a paragraph in large type.
MAX_GUESSED_HEADING_CHARACTERS: Final = 80
"""A line of an encyclopedia's plain text that may be a heading; a longer one is a paragraph."""
PARSE_SECONDS: Final = 60.0  # Parsing of a file; some malformed files keep a parser busy.
PARSE_BYTES: Final = 2 * 2**30
"""Memory of a process that parses, on Linux: 4 KB of PDF may ask for more than that."""

# Model calls: number and time

MAX_CONCURRENT_CALLS: Final = 64
"""Calls at once to one endpoint; more rarely gain throughput, and each uses a connection."""
MAX_QUEUED_SHARE: Final = 0.1  # Client's delay in a latency; more tells of this machine only.
MIN_QUEUED_SECONDS: Final = 0.002  # Client's delay that withholds no latency; clocks add as much.
INITIAL_CONCURRENT_CALLS: Final = 8
"""Calls at once before the server's latency is known; few enough for a small server."""
MAX_ATTEMPTS: Final = 6  # Attempts per call: their doubling waits bridge a server's restart.
ATTEMPT_TIMEOUT_SECONDS: Final = 120.0
"""One attempt at a remote server; longer than any usual reply of a few hundred tokens."""
CALL_DEADLINE_SECONDS: Final = 900.0
"""One call with all attempts and waits: a server that does not recover must not block the run."""
FIRST_RETRY_SECONDS: Final = 0.5  # Wait before the second attempt; a brief fault costs little time.
MAX_RETRY_SECONDS: Final = 30.0
"""Wait between two attempts; a recovered server is noticed within half a minute."""
MAX_CONSECUTIVE_FAILURES: Final = 25
"""Failed calls in a row that stop a run: the rest would fail too, and may cost money."""
MAX_DOUBLINGS: Final = 30
"""Doublings of a wait; 2**30 exceeds every maximum, and a larger power could overflow."""
SERVER_REST_SECONDS: Final = 5.0
"""Time for which other servers of a pool are preferred after a first failure."""
MAX_SERVER_REST_SECONDS: Final = 300.0
"""The same after repeated failures; a repaired server gets calls again within five minutes."""
CONNECT_TIMEOUT_SECONDS: Final = 30.0
"""Opening a connection; a reachable server accepts within seconds."""
CHECK_TIMEOUT_SECONDS: Final = 10.0
"""Opening the connection that checks an endpoint before a run; the user waits for it."""
DNS_CACHE_SECONDS: Final = 300
"""Age of a cached address; a server that moves is found again within five minutes."""
STALLED_LOOP_SECONDS: Final = 300.0
"""Silence of the event loop that counts as a hang; its heartbeat comes every second."""
CLOSE_TIMEOUT_SECONDS: Final = 30.0
"""Waiting for open connections at the end; the program must end even if a server hangs."""

# Model calls: size and storage

MAX_RESPONSE_BYTES: Final = 32 * 2**20
"""A response body; a server that sends without end must not fill the memory."""
REPLY_TOKENS: Final = 512
"""Tokens of a reply if the caller sets no maximum; a looping model would otherwise never stop."""
ANTHROPIC_REPLY_TOKENS: Final = 1024  # The same for Anthropic's protocol, which requires a maximum.
MAX_UNCOMMITTED_REPLIES: Final = 4096
"""Replies that wait for the disk; beyond, no call starts, so that a crash loses little."""
MAX_STEPS: Final = 1000
"""Steps that your own system reports with an answer: more are a loop that does not end."""
BATCH_WAIT_SECONDS: Final = 0.01
"""Waiting for further queries of a batch of your own function; a call takes longer."""
LOG_LOCK_SECONDS: Final = 60.0
"""Waiting for another process that writes the same call log; a commit takes milliseconds."""
LEASE_HEARTBEAT_SECONDS: Final = 2.0
"""Time between two heartbeats of a process that makes calls; each is one small transaction."""
LEASE_EXPIRY_SECONDS: Final = 10.0
"""Silence after which other processes make the calls of a process: several missed heartbeats."""
SHARED_LIMIT_SECONDS: Final = 1.0  # Between exchanges of limits; a pause reaches others by then.
LEASE_POLL_SECONDS: Final = 0.2
"""Time between two reads of the calls of other processes; shorter than most calls."""
MAX_KEYS_PER_QUERY: Final = 500
"""Keys in one SQL statement; older versions of SQLite allow 999 values."""
MAX_BATCH_REQUESTS: Final = 50_000
"""Calls in one file for a batch endpoint: the limit of OpenAI's, and of most others."""
MAX_BATCH_BYTES: Final = 100 * 2**20  # Size of such a file; providers accept 100 MB or more.
MAX_BATCH_RESULT_BYTES: Final = 2**30
"""Size of the results of a batch, which are in memory once; 20 KB per call."""
MAX_BATCH_PAGES: Final = 100
"""Pages of a provider's list of batches that are searched for one whose id was not recorded."""
MAX_BATCH_POLL_SECONDS: Final = 60.0  # Wait between two looks at a batch; it may take hours.
MAX_SAMPLED_REPLIES: Final = 200
"""Replies of other experiments behind an estimate; more do not make it better."""
MAX_SAMPLED_ROWS: Final = 20_000
"""Latest rows of the call log that are searched for them; a whole log could take seconds."""

# Error messages

MAX_VALUE_CHARACTERS: Final = 60  # A value of a data file; its file and line show the rest.
MAX_LISTED_VALUES: Final = 5
"""Values in a message that are wrong in the same way; it ends with the number of the others."""

MAX_SERVER_ERROR_CHARACTERS: Final = 500
"""A server's own error text; some return a whole HTML page."""
MAX_EXCERPT_CHARACTERS: Final = 120
"""The start of a response that is not a reply; enough to recognise a login page."""
MIN_SECRET_CHARACTERS: Final = 8
"""Values of environment variables that are removed from a response if it repeats them; a shorter
value, such as the name of a tenant, is part of many words."""
MAX_LISTED_FILES: Final = 20
"""Files in a message about a folder or a repository without the expected file."""
MAX_CAUSE_CHARACTERS: Final = 300
"""The error text of another library within a message; some contain a whole log."""
MAX_REASON_CHARACTERS: Final = 80
"""A reason that is counted; longer ones differ in their end alone."""
MAX_SUGGESTED_IDS: Final = 3  # Query ids suggested for an unknown one.
MAX_LOG_LINES: Final = 3  # Last lines of a server that did not start; one names the cause.

# Memory

TABLE_BATCH_ROWS: Final = 20_000
"""Rows held as Python objects before they become Arrow; 20,000 passages take about 30 MB."""
TABLE_BATCH_CHARACTERS: Final = 2**26
"""Text held as Python objects before it becomes Arrow; a row may be a whole book."""
TABLE_PIECE_BYTES: Final = 2**28
"""A piece of an Arrow table; a column has at most 2 GB of text, and joining copies a piece."""
BLOCK_QUERIES: Final = 1000  # Queries that a step holds as objects at a time.
MODEL_BLOCK_QUERIES: Final = 8000  # The same if each is a model call: a block waits for its last.
ROW_GROUP_ROWS: Final = 2**17  # Rows of a Parquet file written together, if a block has as many.
WHOLE_DIGEST_ROWS: Final = 2**17  # Rows of a result that is hashed whole; a longer one in blocks.
WHOLE_DIGEST_CHARACTERS: Final = 2**24  # The same for the characters of its texts.
SCORED_CHARACTERS: Final = 2**20  # Characters of answers scored at once; longer ones go alone.
CACHED_CUTS: Final = 4096  # Short texts cut into words, which several metrics of a batch share.
PARQUET_BATCH_ROWS: Final = 8192  # Rows of a Parquet file in memory at a time.
CACHED_INDEXES: Final = 2  # Indexes of one kind in memory; rankings of one corpus share one.
CACHED_SCORES: Final = 65_536
"""Pairs of texts whose BERTScore is cached: P, R and F1 share one run of the model."""
ENCODER_BATCH_TOKENS: Final = 4096  # Tokens, padding included, in one pass of BERTScore's model.
ENCODED_TEXTS: Final = 64  # Texts encoded at a time: 134 MB for 512 tokens of 1,024 numbers.
HELD_STATES: Final = 2**25  # Numbers of token vectors kept for later pairs: 134 MB.
KNN_SCORES: Final = 2**22
"""Scores per matrix product of an exact search: 16 MB, which may fit into a processor's cache."""
APPROXIMATE_FROM: Final = 50_000  # Passages from which `ann` has an index; fewer need none.
MEASURED_QUERIES: Final = 500  # Queries searched exactly as well, to measure the recall of `ann`.
MAXSIM_SCORES: Final = 64_000_000  # Scores in memory during late interaction: 256 MB.
MAXSIM_TOKEN_PRODUCTS: Final = 16_000_000  # Products of tokens in memory there: 64 MB.
INDEX_PART_PASSAGES: Final = 16_384  # Sparse vectors that are inverted together: 200 MB.
FREQUENT_TERM_BYTES: Final = 64_000_000  # Weights of frequent terms, one per document, for speed.
RESAMPLED_COUNTS: Final = 4_000_000  # Counts of a bootstrap in memory: 32 MB.
CACHED_CHARACTERS: Final = 65_536  # Characters whose properties are cached: all in common use.
CACHED_GOLD_BLOCKS: Final = 16  # Blocks of gold answers whose tokens are kept, about 1 MB each.
MAX_BUCKET_TEXTS: Final = 60
"""Texts of a MinHash bucket compared pairwise; the number of pairs grows with the square."""

# Local models

MODEL_START_SECONDS: Final = 300.0
"""Loading a model in a server; a large model from a slow disk takes minutes."""
MODEL_STOP_SECONDS: Final = 10.0
"""Waiting for a model's thread at the end; it may be inside a long batch."""
CONTEXT_TOKENS: Final = 4096
"""Prompt and reply of a local model; the memory of each worker grows with it."""
LEAST_PROMPT_PART: Final = 32
"""Tokens of a prompt that the cache keeps as a part; each part costs about as much as a token."""
UNKNOWN_CONTEXT_TOKENS: Final = 2**20
"""Context of a model whose configuration names none; so large that no prompt is refused."""
MAX_QUEUED_BATCHES: Final = 2
"""Batches at a model in this process: one runs, one waits; a longer queue only times out."""

# Files left behind

ABANDONED_STEP_SECONDS: Final = 24 * 3600
"""Age of an unfinished step that is removed; no process writes that long without a change."""
KEPT_ORPHAN_DAYS: Final = 1.0
"""Age up to which `store prune` leaves a step that no record names: its run may still go on."""
MAX_EARLIER_RECORDS: Final = 400
"""Earlier records of an experiment that a store keeps, such as one a day for a year."""
ABANDONED_DOWNLOAD_SECONDS: Final = 3600
"""Age of a partial model file that is removed; it is written in one go."""
LOW_DISK_BYTES: Final = 2 * 2**30
"""Free disk space below which `ragstone doctor` warns: embeddings and models may not fit."""

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
