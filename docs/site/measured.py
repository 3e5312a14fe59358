"""Tables of pages, from what benchmarks have recorded."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "results"


def table(name: str) -> Iterator[str]:
    """The table of the benchmark of this name."""
    yield TABLES[name](json.loads((RESULTS / f"{name}.json").read_text()))


def _rows(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _updates(measured: dict[str, Any]) -> str:
    timed, streams = measured["one by one"], measured["streams"]
    one, all_of_it = (timed[key]["median"] for key in ("condition_on_ms", "partial_fit_ms"))
    table = _rows(
        ("rows in this order", "fitted to", "then learned", "signal to fit again"),
        (
            (
                name,
                str(found["fitted"]),
                str(found["learned"]),
                "none" if found["signal_after"] is None else f"after {found['signal_after']} rows",
            )
            for name, found in streams.items()
        ),
    )
    return (
        f"{table}\n\nAt {timed['points']} measurement points, `condition_on` takes {one:.1f} ms a "
        f"row and `partial_fit`, which watches as well, {all_of_it:.1f} ms (medians of "
        f"{timed['rows']} rows). Predictions after learning them one by one and at once differ by "
        f"{timed['difference']:.0e} standard deviations of the target."
    )


def _post_hoc(measured: dict[str, Any]) -> str:
    kinds = ("laplace-torch", "ours", "ours, mean of the posterior")
    images = "Fashion-MNIST"
    compared = measured["tables"] | ({images: measured[images]} if images in measured else {})
    rows = (
        (
            name,
            *(f"{found['log_predictive_density'][kind]:.3f}" for kind in kinds),
            f"{found['better_folds']} of {found['folds']}",
            *(f"{found['seconds'][kind]:.1f} s" for kind in kinds[:2]),
        )
        for name, found in compared.items()
    )
    head = ("data", *kinds, "better", "laplace-torch takes", "ours takes")
    costs = ((name, f"{seconds:.1f} s") for name, seconds in measured["seconds"].items())
    return (
        f"{_rows(head, rows)}\n\nSeconds of the processor for a posterior with two hidden layers "
        f"of 50 and 500 rows, the choice of the prior and compilation included:\n\n"
        f"{_rows(('network of', 'seconds'), costs)}"
    )


def _conformal(measured: dict[str, Any]) -> str:
    ways = {"split": "split", "left_out": "left out", "own": "the model's own", "mapie": "MAPIE"}
    rows = (
        (
            name,
            *(
                f"{100 * found[way]['coverage']:.1f} ± {100 * found[way]['error']:.1f} %"
                for way in ways
            ),
            *(f"{found[way]['width']:.2f}" for way in ways),
        )
        for name, found in measured.items()
    )
    head = ("table", *ways.values(), *(f"width, {words}" for words in ways.values()))
    return _rows(head, rows)


def _serve(measured: dict[str, Any]) -> str:
    rows = (
        (
            name,
            f"{found['per_second']:.0f}",
            *(f"{found[key]:.0f} ms" for key in ("p50_ms", "p95_ms", "p99_ms")),
            str(found["failed"]),
        )
        for name, found in measured["requests"].items()
    )
    head = ("requests", "per second", "median", "95 %", "99 %", "failed")
    cost = measured["processor_ms_per_request"]
    return (
        f"{_rows(head, rows)}\n\nThe server uses {cost:.1f} ms of a processor per request. The "
        f"load of the machine was {measured['load']:.0f} on {measured['processors']} processors, "
        "which is what the slowest requests waited for."
    )


def _stopwatch(measured: dict[str, list[dict[str, Any]]]) -> str:
    """One column per state that was measured; waits that a state does not have are empty."""
    columns = {
        label: {one["wait"]: one["seconds"] for one in waits} for label, waits in measured.items()
    }
    names = dict.fromkeys(name for waits in columns.values() for name in waits)
    rows = (
        (
            "importing JAX and Equinox, to compare by" if name == "unit" else f"`{name}`",
            *(f"{waits[name]:.1f} s" if name in waits else "" for waits in columns.values()),
        )
        for name in names
    )
    return _rows(("wait", *columns), rows)


TABLES: dict[str, Callable[[Any], str]] = {
    "updates": _updates,
    "post_hoc": _post_hoc,
    "conformal": _conformal,
    "serve": _serve,
    "stopwatch": _stopwatch,
}
