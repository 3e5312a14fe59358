"""Several processes that fit one model: on this machine, on machines by hand, or on a cluster."""

import argparse
import socket
from collections.abc import Sequence

from gfsvi.cli.watching import LocalProcess, Process, watched
from gfsvi.numerics.groups import Alone, Group, JaxProcesses, check_size

LOOPBACK = "127.0.0.1"


def is_shared(arguments: argparse.Namespace) -> bool:
    """Whether several processes fit the model."""
    return (
        (arguments.processes or 1) > 1
        or arguments.coordinator is not None
        or arguments.ray is not None
    )


def check_arguments(arguments: argparse.Namespace) -> None:
    """Raise unless the options of processes belong together."""
    given = [arguments.coordinator, arguments.num_processes, arguments.process_id]
    if any(part is not None for part in given) and any(part is None for part in given):
        raise ValueError(
            "--coordinator, --num-processes and --process-id expect each other; got only some of "
            "them. Give all three, or --processes for processes on this machine."
        )
    for name in ("processes", "ray"):
        if arguments.coordinator is not None and getattr(arguments, name) is not None:
            raise ValueError(
                f"--{name} expects no --coordinator; got both. Give one of them: --processes and "
                "--ray start processes, --coordinator is for machines that you start yourself."
            )
    check_size(arguments.num_processes or arguments.processes or 1)
    if arguments.time_budget is not None:
        raise ValueError(
            "expected no --time-budget for several processes, which could stop at different "
            "moments; leave it out."
        )


def group_of(arguments: argparse.Namespace) -> Group:
    """The processes that this one belongs to."""
    if arguments.coordinator is None:
        return Alone()
    return JaxProcesses(arguments.coordinator, arguments.num_processes, arguments.process_id)


def watch(arguments: argparse.Namespace, command: Sequence[str]) -> int:
    """Start the processes, and end all of them if one is lost.

    Args:
        arguments: The arguments, parsed.
        command: The same as words.
    """
    return watched(_started(arguments, command))


def _started(arguments: argparse.Namespace, command: Sequence[str]) -> Sequence[Process]:
    if arguments.coordinator is not None:
        return [LocalProcess(command)]
    words = without(without(command, "--processes"), "--ray")
    if arguments.ray is not None:
        from gfsvi.cli.ray_processes import processes_on

        return processes_on(arguments.ray, arguments.processes, words)
    coordinator = f"{LOOPBACK}:{free_port(LOOPBACK)}"
    return [LocalProcess(one) for one in commands(words, coordinator, arguments.processes)]


def commands(words: Sequence[str], coordinator: str, size: int) -> list[list[str]]:
    """The command of each of so many processes, of which the first one listens at an address."""
    shared = [*words, "--coordinator", coordinator, "--num-processes", str(size)]
    return [[*shared, "--process-id", str(rank)] for rank in range(size)]


def free_port(host: str) -> int:
    """A port of this machine that nothing listens at."""
    with socket.socket() as listening:
        listening.bind((host, 0))
        return listening.getsockname()[1]


def without(words: Sequence[str], option: str) -> list[str]:
    """The words of a command without an option and its value."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == option:
            next(rest, None)
        elif not word.startswith(f"{option}="):
            kept.append(word)
    return kept
