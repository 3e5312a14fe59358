"""Parameters of a fit that no fit can have, reported before anything is computed."""

import math
import numbers
from collections.abc import Callable, Sequence
from os import PathLike

import numpy as np

from gfsvi.auto.parameters import Parameters
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.storage.fields import LARGEST, described

Check = Callable[[object], bool]


def check_parameters(parameters: Parameters, prior_scale: object = 1.0) -> None:
    """Raise `ValueError` for the first parameter that has no meaning, saying what it may be."""
    given = vars(parameters) | {"prior_scale": prior_scale}
    for name, (may_be_none, check, expected) in _EXPECTED.items():
        value = given[name]
        if not (may_be_none and value is None) and not check(value):
            remedy = ", or leave it out" if may_be_none else ""
            raise ValueError(
                f"{name} expects {expected}; got {described(value)}. Change it{remedy}."
            )


def _is_whole(least: int, most: int) -> Check:
    def check(value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            return False
        return least <= int(value) <= most

    return check


def _is_real(is_within: Callable[[float], bool]) -> Check:
    def check(value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        return math.isfinite(number) and is_within(number)

    return check


def _is_one_of(*names: str) -> Check:
    return lambda value: isinstance(value, str) and value in names


def _are_widths(value: object) -> bool:
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    if isinstance(value, str) or not isinstance(value, Sequence):
        return False
    return all(map(_is_whole(1, LARGEST["hidden"]), value))


def _is_likelihood(value: object) -> bool:
    return isinstance(value, str | AbstractLikelihood)


def _is_mean(value: object) -> bool:
    if isinstance(value, str):
        return value in ("auto", "trees")
    return not isinstance(value, type) and all(hasattr(value, n) for n in ("fit", "predict"))


def _is_path(value: object) -> bool:
    return isinstance(value, str | PathLike)


_MANY = 2**31 - 1
_WIDTHS = f"the widths of hidden layers, each from 1 to {LARGEST['hidden']:,}, such as (50, 50)"
_POINTS = f"a whole number from 1 to {LARGEST['num_points']:,}"
_EXPECTED: dict[str, tuple[bool, Check, str]] = {
    "likelihood": (False, _is_likelihood, "a likelihood or the name of one"),
    "hidden": (True, _are_widths, _WIDTHS),
    "num_points": (True, _is_whole(1, LARGEST["num_points"]), _POINTS),
    "gamma": (True, _is_real(lambda gamma: gamma > 0), "a positive number"),
    "num_steps": (True, _is_whole(1, _MANY), "a whole number from 1"),
    "batch_size": (True, _is_whole(1, _MANY), "a whole number from 1"),
    "validation_fraction": (True, _is_real(lambda share: 0 <= share < 1), "a share from 0 to 1"),
    "members": (False, _is_whole(1, 100), "a whole number from 1 to 100"),
    "prior_mean": (True, _is_mean, "'auto', 'trees', None or a regressor with fit and predict"),
    "conformal": (False, _is_one_of("none", "split", "left_out"), "'none', 'split' or 'left_out'"),
    "time_budget": (True, _is_real(lambda seconds: seconds > 0), "a positive number of seconds"),
    "checkpoint": (True, _is_path, "the name of a file"),
    "watch": (True, callable, "a function of the phase and its progress"),
    "random_state": (False, _is_whole(0, 2**32 - 1), "a seed from 0 to 4294967295"),
    "prior_scale": (False, _is_real(lambda scale: scale > 0), "a positive number"),
}
"""For each parameter whether it may be None, the check, and what is expected in words."""
