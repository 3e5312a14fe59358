"""As many digits of a prediction as its uncertainty supports."""

import numpy as np

SIGNIFICANT = 6
"""Digits of a standard deviation that are written."""
DECIMALS = 6
"""Decimals of probabilities and other numbers between 0 and 1."""


def beside(values: np.ndarray, std: np.ndarray) -> np.ndarray:
    """Values rounded to the last digit that is written of their standard deviations."""
    usable = np.isfinite(std) & (std > 0)
    exponent = np.floor(np.log10(np.where(usable, std, 1.0)))
    # Doubles have about 16 digits, and powers of ten are exact up to 22.
    decimals = np.clip(SIGNIFICANT - 1 - exponent, -22, 22)
    up, down = 10.0 ** np.maximum(decimals, 0), 10.0 ** np.maximum(-decimals, 0)
    with np.errstate(over="ignore"):
        rounded = np.round(values / down * up) / up * down
    return np.where(usable & np.isfinite(rounded), rounded, values)


def significant(values: np.ndarray) -> np.ndarray:
    """Values rounded to their own significant digits."""
    return beside(values, np.abs(values))


def shares(probabilities: np.ndarray) -> np.ndarray:
    """Probabilities (row, class) rounded so that each row still sums to one."""
    rounded = np.round(probabilities, DECIMALS)
    rows, largest = np.arange(len(rounded)), probabilities.argmax(axis=1)
    rounded[rows, largest] += 1 - rounded.sum(axis=1)
    rounded[rows, largest] = np.round(rounded[rows, largest], DECIMALS)
    return rounded
