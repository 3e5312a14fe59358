"""Rows at random, the same ones however the table is divided among processes."""

from typing import NamedTuple

import numpy as np

_INCREMENT = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
EVERY = 2.0**64


class Place(NamedTuple):
    """Where rows are in a table: part by part, row by row."""

    part: np.ndarray
    row: np.ndarray

    def __len__(self) -> int:
        return len(self.row)

    @classmethod
    def of_piece(cls, part: int, first: int, count: int) -> "Place":
        """The places of consecutive rows."""
        return cls(np.full(count, part), np.arange(first, first + count))


def random_numbers(seed: int, place: Place) -> np.ndarray:
    """A random number from 0 to 1 for each place, by SplitMix64 of Steele et al. (2014)."""
    with np.errstate(over="ignore"):
        state = _mixed(np.uint64(seed) + place.part.astype(np.uint64) * _FACTORS[1])
        return _mixed(state + place.row.astype(np.uint64)) / EVERY


def _mixed(state: np.ndarray) -> np.ndarray:
    state = state + _INCREMENT
    state = (state ^ (state >> np.uint64(30))) * _FACTORS[0]
    state = (state ^ (state >> np.uint64(27))) * _FACTORS[1]
    return state ^ (state >> np.uint64(31))


class HeldOut(NamedTuple):
    """Rows that are not trained on: those with small random numbers, or those at the end.

    Args:
        seed: Of the random numbers.
        below: Rows with smaller numbers are held out.
        after: Rows from this part and row on are held out; None for none of them.
    """

    seed: int
    below: float
    after: tuple[int, int] | None = None

    def of(self, place: Place) -> np.ndarray:
        """Which rows are held out."""
        if self.after is None:
            return random_numbers(self.seed, place) < self.below
        part, row = self.after
        return (place.part > part) | ((place.part == part) & (place.row >= row))


def end_of(num_rows: np.ndarray, count: int) -> tuple[int, int]:
    """The part and row from which on there are `count` rows, given the rows of each part."""
    before = np.concatenate([[0], np.cumsum(num_rows)])
    first = max(0, int(before[-1]) - count)
    part = int(np.searchsorted(before, first, side="right")) - 1
    return part, first - int(before[part])
