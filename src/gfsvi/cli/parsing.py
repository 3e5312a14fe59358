"""A parser that answers in one sentence, and the values that options take."""

import argparse
import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

BAD_INPUT = 2
_CHOICES = re.compile(r"(?:argument \S+: )?invalid choice: '(.*)' \(choose from (.*)\)")


class Parser(argparse.ArgumentParser):
    """A parser with one-sentence errors and without abbreviated options."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, allow_abbrev=False, **options)

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        if args is not None:
            self._check_options(args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        message = re.sub(r"-\w/(?=--)", "", message)  # the long name of an option says more
        missing = message.removeprefix("the following arguments are required: ")
        if missing != message:
            message = f"expected a value for {missing}; got none"
        if choice := _CHOICES.fullmatch(message):
            known = [name.strip(" '") for name in choice[2].split(",")]
            message = not_among(known, choice[1])
        message = message.removeprefix("argument ").rstrip(".")
        see = " See" if message.endswith("?") else "; see"
        self.exit(BAD_INPUT, f"gfsvi: {message}{see} `{self.prog} --help`.\n")

    def _check_options(self, words: Sequence[str]) -> None:
        """End with the nearest name if an option is unknown, before others are missed."""
        known = self._option_string_actions
        has_commands = any(isinstance(a, argparse._SubParsersAction) for a in self._actions)
        for word in words:
            if word == "--" or (has_commands and not word.startswith("-")):
                return
            name = word.partition("=")[0] if word.startswith("--") else word[:2]
            if re.match(r"--?[a-zA-Z]", word) and name not in known:
                options = [option for option in known if option.startswith("--")]
                self.error(not_among(options, word if name == word[:2] else name))


def suggest(action: argparse.Action, names: Callable[[], Iterable[str]]) -> None:
    """Let shells complete the value of an argument with these names; others are accepted, too."""
    action.suggestions = names  # pyright: ignore[reportAttributeAccessIssue]


def not_among(known: Sequence[str], given: str) -> str:
    """Say what was expected, what came, and the nearest name, if one is near."""
    by_word = {name.strip("-"): name for name in known}
    near = difflib.get_close_matches(given.strip("-").lower(), by_word, n=1, cutoff=0.5)
    question = f". Did you mean {by_word[near[0]]!r}?" if near else ""
    return f"expected one of {', '.join(known)}; got {given!r}{question}"


def one_of(*names: str) -> Callable[[str], str]:
    """One of these names."""

    def check(text: str) -> str:
        if text not in names:
            raise argparse.ArgumentTypeError(not_among(names, text))
        return text

    return check


def whole_number(text: str) -> int:
    """A number that can be a seed."""
    if not text.isdecimal() or int(text) >= 2**31:
        raise argparse.ArgumentTypeError(
            f"expected a whole number from 0 to 2147483647; got {text!r}"
        )
    return int(text)


def positive(text: str) -> int:
    """A whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1; got {text!r}")
    return int(text)


def seconds(text: str) -> float:
    """A positive number of seconds."""
    number = _number(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a positive number of seconds; got {text!r}")
    return number


def level(text: str) -> float:
    """A probability between 0 and 1."""
    number = _number(text)
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"expected a level between 0 and 1; got {text!r}")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number; got {text!r}") from None
