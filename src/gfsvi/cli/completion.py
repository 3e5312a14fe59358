"""`gfsvi completion`: scripts for shells, written from the parser itself."""

import argparse
import shlex
from collections.abc import Iterator
from typing import NamedTuple

SHELLS = ("bash", "zsh", "fish")
_OF_FILES = ("table", "model", "experiment", "folder", "output", "report", "candidates", "measured")
"""Arguments whose values are names of files."""


class Argument(NamedTuple):
    """An option, or an argument without a name."""

    flags: tuple[str, ...]
    help: str
    takes_value: bool
    names: tuple[str, ...]
    is_file: bool


class Command(NamedTuple):
    """A command, the words that lead to it, and what may follow them."""

    words: tuple[str, ...]
    help: str
    arguments: tuple[Argument, ...]
    commands: tuple[str, ...]

    @property
    def options(self) -> list[Argument]:
        """The arguments with names."""
        return [argument for argument in self.arguments if argument.flags]

    @property
    def next_words(self) -> list[str]:
        """What may come next, other than names of files: commands, values and options."""
        values = [name for one in self.arguments if not one.flags for name in one.names]
        flags = [flag for one in self.options for flag in one.flags]
        return [*self.commands, *values, *flags]


def run(shell: str, parser: argparse.ArgumentParser) -> int:
    """Print the script for one shell."""
    commands = list(commands_of(parser))
    print(_fish(commands) if shell == "fish" else _bash(commands, for_zsh=shell == "zsh"))
    return 0


def commands_of(
    parser: argparse.ArgumentParser, words: tuple[str, ...] = (), help: str = ""
) -> Iterator[Command]:
    """The command of a parser and all commands below it."""
    below = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    arguments = tuple(_argument(action) for action in parser._actions if action not in below)
    names = tuple(name for action in below for name in action.choices)
    yield Command(words, help, arguments, names)
    for action in below:
        told = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, inner in action.choices.items():
            yield from commands_of(inner, (*words, name), told.get(name, ""))


def _argument(action: argparse.Action) -> Argument:
    return Argument(
        tuple(action.option_strings),
        "" if action.help in (None, argparse.SUPPRESS) else str(action.help),
        action.nargs != 0,
        tuple(getattr(action, "suggestions", tuple)()),
        action.dest in _OF_FILES,
    )


def _bash(commands: list[Command], *, for_zsh: bool) -> str:
    """One function that looks at the words before the cursor; zsh runs it by bashcompinit."""
    lines = ["autoload -U +X bashcompinit && bashcompinit"] if for_zsh else []
    lines += [
        "_gfsvi() {",
        '    local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
        '    local place="" word names="" files=""',
        '    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
        '        case "$place $word" in',
        *(
            f"            {_quoted(command)}) place={_quoted(command)} ;;"
            for command in commands[1:]
        ),
        "        esac",
        "    done",
        '    case "$place" in',
    ]
    for command in commands:
        lines += [f"        {_quoted(command)})", *_bash_values(command), "            ;;"]
    lines += [
        "    esac",
        '    COMPREPLY=($(compgen -W "$names" -- "$current"))',
        '    if [ -n "$files" ]; then COMPREPLY+=($(compgen -f -- "$current")); fi',
        "}",
        "complete -o filenames -F _gfsvi gfsvi",
    ]
    return "\n".join(lines)


def _quoted(command: Command) -> str:
    return "'" + "".join(f" {word}" for word in command.words) + "'"


def _bash_values(command: Command) -> Iterator[str]:
    yield '            case "$before" in'
    for option in command.options:
        if option.takes_value:
            values = f"names={shlex.quote(' '.join(option.names))}"
            files = "; files=1" if option.is_file else ""
            yield f"                {'|'.join(option.flags)}) {values}{files} ;;"
    takes_file = any(argument.is_file and not argument.flags for argument in command.arguments)
    files = "; files=1" if takes_file else ""
    yield f"                *) names={shlex.quote(' '.join(command.next_words))}{files} ;;"
    yield "            esac"


def _fish(commands: list[Command]) -> str:
    lines = ["complete -c gfsvi -f"]
    for command in commands:
        place = _fish_place(command)
        for name in command.commands:
            told = next(c.help for c in commands if c.words == (*command.words, name))
            lines.append(f"complete -c gfsvi -n {place} -a {name} -d {_fish_text(told)}")
        for argument in command.arguments:
            lines.append(f"complete -c gfsvi -n {place} {_fish_argument(argument)}")
    return "\n".join(lines)


def _fish_place(command: Command) -> str:
    """The condition that these commands, and none below, have been written."""
    seen = [f"__fish_seen_subcommand_from {word}" for word in command.words]
    if command.commands:
        seen.append(f"not __fish_seen_subcommand_from {' '.join(command.commands)}")
    return f'"{"; and ".join(seen)}"'


def _fish_argument(argument: Argument) -> str:
    parts = [
        f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in argument.flags
    ]
    if argument.flags and argument.takes_value:
        parts.append("-r")
    if argument.names:
        parts.append(f"-a {_fish_text(' '.join(argument.names))}")
    if argument.is_file:
        parts.append("-F")
    return " ".join([*parts, f"-d {_fish_text(argument.help)}"])


def _fish_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
