"""Model calls: number, time, size and storage."""

from __future__ import annotations

from typing import Final

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
