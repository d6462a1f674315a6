"""Every bound of the package: on input, model calls, memory, left-over files and printed text.

A bound is a limit that a user can reach, or one that protects memory, time or the screen. Constants
that tune an algorithm are beside the algorithm, and the defaults of a component's own parameters
(`top_k`, `max_tokens`) are in the component. Code reads a bound as `limits.NAME` when it applies,
so that a test can lower it, or as the default of an argument.
"""

from ragstone.core.limits.calls import *
from ragstone.core.limits.input import *
from ragstone.core.limits.memory import *
from ragstone.core.limits.output import *
from ragstone.core.limits.work import *
