"""What many answers share with their gold answers: counts, sequences and order, over token codes.

Each gold answer has a *lane*. Of an answer's tokens only those that its gold answers have can
matter; they are found by a table of bits and a search, and everything after that is about the few.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from ragstone.components.metrics.fast_tokens import where
from ragstone.components.metrics.precision_recall import lcs_length
from ragstone.components.metrics.ranking_batch import within

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.components.metrics.fast_tokens import Codes, Flags, Ints, Tokens

    Floats = npt.NDArray[np.float64]

_BITS: Final = 16
_SPREAD: Final = np.uint64(0xD1342543DE82EF95)
_PAIR: Final = np.uint64(0x9E3779B97F4A7C15)
WIDTH: Final = 64
"""Tokens of a gold answer that one machine word can follow; longer ones go one by one."""


@dataclass(frozen=True)
class Hits:
    """Tokens of answers that a lane's gold answer has, lane by lane, in the answer's order."""

    lane: Ints
    place: Ints
    """Place of the token in the answer."""
    mask: Codes
    """Bit i is set where the token is the gold answer's i-th (the first `WIDTH` alone)."""


@dataclass(frozen=True)
class Groups:
    """The different tokens of each lane, sorted by identity."""

    identity: Ints
    lane: Ints
    times: Ints
    mask: Codes
    """Bit i is set where the token is the gold answer's i-th."""


@dataclass(frozen=True)
class TokenOverlap:
    """Answers against the lanes of their gold answers."""

    answers: Tokens
    gold: Tokens
    lane_pair: Ints
    """The pair of each lane."""

    @cached_property
    def _gold_keys(self) -> tuple[Codes, Ints]:
        """The different tokens of each pair's gold answers, and which one each gold token is."""
        known, identity = np.unique(_keys(self.gold, self.lane_pair), return_inverse=True)
        return known, identity

    @cached_property
    def _found(self) -> tuple[Ints, Ints]:
        """Position among the answers' tokens, and identity, of those that gold answers have."""
        return _look_up(
            _keys(self.answers, np.arange(len(self.answers.counts))), self._gold_keys[0]
        )

    @cached_property
    def _groups(self) -> Groups:
        """Gold tokens by identity and lane."""
        place = np.minimum(self.gold.places(np.arange(len(self.gold.code))), WIDTH - 1)
        return _grouped(self._gold_keys[1], self.gold.owner, self._lanes, place)

    @cached_property
    def shared(self) -> Ints:
        """Tokens that answer and gold answer share, each as often as both have it; per lane."""
        return _overlap(self._groups, self._found[1], self._lanes)

    @cached_property
    def shared_bigrams(self) -> Ints:
        """The same of pairs of neighbouring tokens."""
        known, gold = self._gold_keys
        position, identity = self._found
        first = np.flatnonzero(self.gold.owner[1:] == self.gold.owner[:-1])
        owner = self.answers.owner[position]
        near = np.flatnonzero((np.diff(position) == 1) & (owner[1:] == owner[:-1]))
        bigrams, which = np.unique(gold[first] * len(known) + gold[first + 1], return_inverse=True)
        said = identity[near] * len(known) + identity[near + 1]
        found = np.minimum(np.searchsorted(bigrams, said), max(len(bigrams) - 1, 0))
        found = found[bigrams[found] == said] if len(bigrams) else found[:0]
        lanes = self.gold.owner[first]
        return _overlap(_grouped(which, lanes, self._lanes, first * 0), found, self._lanes)

    @property
    def _lanes(self) -> int:
        return len(self.lane_pair)

    def hits(self, lanes: Flags) -> Hits:
        """Return the answers' tokens that some lanes' gold answers have."""
        position, said = self._found
        chosen = np.flatnonzero(lanes[self._groups.lane])
        identity, lane = self._groups.identity[chosen], self._groups.lane[chosen]
        size = np.bincount(identity, minlength=len(self._gold_keys[0]))
        times = size[said]
        token = np.repeat(np.arange(len(said)), times)
        which = (np.cumsum(size) - size)[said][token] + within(token, times)
        order = _stable_order(lane[which], self._lanes)
        place = self.answers.places(position)[token[order]]
        return Hits(lane[which[order]], place, self._groups.mask[chosen][which[order]])

    @cached_property
    def longest_common(self) -> Ints:
        """Length of the longest common subsequence, per lane."""
        length = np.minimum(self.shared, 1)
        several = (self.shared > 1) & (self.gold.counts <= WIDTH)
        open_ = np.full(self._lanes, ~np.uint64(0))
        for lane, _, mask in _steps(self.hits(several), self._lanes):
            hit = open_[lane] & mask
            open_[lane] = (open_[lane] + hit) | (open_[lane] - hit)
        length[several] = np.bitwise_count(~open_[several])
        for long in where((self.shared > 1) & ~several):
            length[long] = self._long_common(long)
        return length

    def _long_common(self, lane: int) -> int:
        return lcs_length(self.answers.of(int(self.lane_pair[lane])), self.gold.of(lane))

    @cached_property
    def contained(self) -> Flags:
        """Whether the gold answer stands in the answer without a gap, per lane."""
        whole = (self.shared == self.gold.counts) & (self.gold.counts > 0)
        found: Flags = whole & (self.gold.counts == 1)
        several = whole & (self.gold.counts > 1) & (self.gold.counts <= WIDTH)
        last = np.uint64(1) << np.minimum(self.gold.counts - 1, WIDTH - 1).astype(np.uint64)
        run, before = np.zeros(self._lanes, np.uint64), np.full(self._lanes, -2)
        for lane, place, mask in _steps(self.hits(several), self._lanes):
            next_to = np.where(place == before[lane] + 1, run[lane], np.uint64(0))
            run[lane] = ((next_to << np.uint64(1)) | np.uint64(1)) & mask
            before[lane] = place
            found[lane] |= (run[lane] & last[lane]) != 0
        for long in where(whole & (self.gold.counts > WIDTH)):
            found[long] = self._long_contained(long)
        return found

    def _long_contained(self, lane: int) -> bool:
        said, wanted = self.answers.of(int(self.lane_pair[lane])), self.gold.of(lane)
        return any(
            said[start : start + len(wanted)] == wanted
            for start in range(len(said) - len(wanted) + 1)
        )

    @cached_property
    def equal(self) -> Flags:
        """Whether answer and gold answer have the same tokens in the same order, per lane."""
        same: Flags = self.gold.counts == self.answers.counts[self.lane_pair]
        return self.contained & same


def _keys(tokens: Tokens, pair: Ints) -> Codes:
    """Return one key per token and pair; spread so that the upper bits can serve as a table."""
    salt = np.repeat(pair.astype(np.uint64) * _PAIR, tokens.counts)
    salt ^= tokens.code
    salt *= _SPREAD
    return salt


def _look_up(keys: Codes, known: Codes) -> tuple[Ints, Ints]:
    """Return the positions of the keys that are known, and which one each of them is.

    A table over the upper bits of a key says which known key it may be; known keys that lost their
    place to another go into a table over other bits, and so on until each has had its place.
    """
    positions, identities = [np.arange(0)], [np.arange(0)]
    at, wanted = np.arange(0), keys
    left, held = np.arange(len(known)), known
    while len(left):
        table = np.full(1 << _BITS, -1, np.int32)
        table[_slots(held)] = left
        maybe = table[_slots(wanted)]
        likely = np.flatnonzero(maybe >= 0)
        which = maybe[likely].astype(np.int64)
        at = at[likely] if len(positions) > 1 else likely
        sure = known[which] == keys[at]
        positions.append(at[sure])
        identities.append(which[sure])
        at = at[~sure]
        left = left[table[_slots(held)] != left]
        wanted, held = _mixed(keys[at], len(positions)), _mixed(known[left], len(positions))
    order = np.argsort(found := np.concatenate(positions), kind="stable")
    return found[order], np.concatenate(identities)[order]


def _slots(keys: Codes) -> Ints:
    found: Ints = (keys >> np.uint64(64 - _BITS)).view(np.int64)
    return found


def _mixed(keys: Codes, times: int) -> Codes:
    """Return keys whose upper bits are others each time, and still depend on all bits."""
    for _ in range(times):
        keys = (keys ^ (keys >> np.uint64(32))) * _SPREAD
    return keys


def _grouped(identity: Ints, lane: Ints, lanes: int, place: Ints) -> Groups:
    """Return the different (identity, lane), in that order, with how often and where they stand."""
    key = identity * lanes + lane
    order = np.argsort(key)
    key = key[order]
    new = np.ones(len(key), np.bool_)
    new[1:] = key[1:] != key[:-1]
    starts = np.flatnonzero(new)
    bit = np.uint64(1) << place[order].astype(np.uint64)
    mask = np.bitwise_or.reduceat(bit, starts) if len(starts) else bit
    times = np.diff(np.append(starts, len(key)))
    return Groups(key[starts] // max(lanes, 1), key[starts] % max(lanes, 1), times, mask)


def _overlap(groups: Groups, said: Ints, lanes: int) -> Ints:
    """Return, per lane, the sum over different tokens of the smaller of the two counts."""
    heard = np.bincount(said, minlength=int(groups.identity.max(initial=0)) + 1)
    both = np.minimum(groups.times, heard[groups.identity])
    return np.bincount(groups.lane, weights=both, minlength=lanes).astype(np.int64)


def _stable_order(values: Ints, above: int) -> Ints:
    """Return the order that sorts the values, equal ones as they stand; small ones by radix."""
    narrow = values.astype(np.uint16) if above <= 1 << 16 else values
    return np.argsort(narrow, kind="stable")


def _steps(hits: Hits, lanes: int) -> Iterator[tuple[Ints, Ints, Codes]]:
    """Yield (lane, place, mask) of every lane's first hit, then of every lane's second, ..."""
    step = within(hits.lane, np.bincount(hits.lane, minlength=lanes))
    sizes = np.bincount(step)
    order = _stable_order(step, len(sizes))
    lane, place, mask = hits.lane[order], hits.place[order], hits.mask[order]
    stop = 0
    for size in sizes.tolist():
        start, stop = stop, stop + size
        yield lane[start:stop], place[start:stop], mask[start:stop]
