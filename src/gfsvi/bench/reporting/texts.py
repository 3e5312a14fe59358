"""Sentences and names that the forms of a report share."""

from gfsvi.bench.experiment import Experiment
from gfsvi.bench.reporting.summary import Cell, Table, below_published
from gfsvi.bench.running.records import OK, Record

METRIC_NAMES = {
    "coverage_99": "Coverage of 99 % intervals",
    "crps": "CRPS",
    "ece": "Expected calibration error",
    "expected_log_likelihood": "Expected log-likelihood",
    "milliseconds_a_step": "Milliseconds per step",
    "mse": "Mean squared error",
    "num_for_99_percent": "Eigenvalues for 99 percent of their sum",
    "ood_accuracy": "Out-of-distribution accuracy",
    "share_seen_at_50": "Share of the divergence seen with 50 points",
    "std_in_gap": "Standard deviation in the gap",
    "wasserstein2": "Squared Wasserstein-2 distance",
}
RANKING = (
    "Bold: the best cell, and all whose error bars overlap with it. Ranks follow the same rule and "
    "are averaged over the data sets on which every ranked method has all planned runs. Cells with "
    "fewer runs are marked, and are neither bold nor ranked."
)
NO_RANKING = "One run per cell: there are no standard errors, hence neither bold cells nor ranks."
BRACKETS = "In brackets: the paper's value, and by how many of its standard errors ours is better."


def metric_name(metric: str) -> str:
    """A metric's name for readers."""
    return METRIC_NAMES.get(metric, metric.replace("_", " ").capitalize())


def direction(table: Table) -> str | None:
    """Which values of a table are better; None if neither."""
    return {1: "higher is better", -1: "lower is better", 0: None}[table.sign]


def note(experiment: Experiment, tables: list[Table]) -> str:
    """How to read the tables of an experiment."""
    if max(map(experiment.runs_of, experiment.datasets)) > 1:
        sentences = [f"Mean ± standard error over {_runs_of(experiment)}.", RANKING]
        sentences[1:1] = _fewer_folds(experiment)
    else:
        sentences = [NO_RANKING]
    if any(table.published for table in tables):
        sentences.append(BRACKETS)
    return " ".join(sentences)


def _runs_of(experiment: Experiment) -> str:
    num_folds, num_seeds = len(experiment.folds), len(experiment.seeds)
    if num_seeds == 1:
        return f"{num_folds} folds"
    return f"{num_seeds} seeds" if num_folds == 1 else f"{num_folds} folds x {num_seeds} seeds"


def _fewer_folds(experiment: Experiment) -> list[str]:
    return [
        f"Only {number} folds of {', '.join(d for d, n in fewer if n == number)}."
        for fewer in [experiment.fewer_folds.items()]
        for number in sorted({n for _, n in fewer})
    ]


def run_name(record: Record, experiment: Experiment) -> str:
    """A run by data set, method and whichever of fold and seed the experiment varies."""
    words = [record["dataset"], record["method"]]
    if experiment.folds != (0,):
        words.append(f"fold {record['fold']}")
    if experiment.seeds != (0,):
        words.append(f"seed {record['seed']}")
    return " ".join(words)


def missing_runs(cell: Cell, planned: int) -> str | None:
    """How many of its runs a cell has, unless it has all that are planned."""
    return f"{cell.count} of {planned} runs" if cell.count < planned else None


FAR = 2.0
"""Cells that are this many of the paper's standard errors below its values are listed."""


def worse_than_published(tables: list[Table]) -> list[str]:
    """One line per metric that has cells far below the paper's values."""
    lines = []
    for table in tables:
        found = below_published(table, FAR) if table.sign else []
        if found:
            cells = ", ".join(f"{m} on {d} ({difference:+.1f})" for m, d, difference in found)
            lines.append(f"{metric_name(table.metric)}: {cells}.")
    return lines


def failures(experiment: Experiment, records: list[Record]) -> list[str]:
    """One line per failed run."""
    failed = [record for record in records if record["status"] != OK]
    return [f"{run_name(record, experiment)}: {record.get('error')}" for record in failed]


def overview(experiment: Experiment, records: list[Record]) -> list[str]:
    """What was run, with which versions, and which data sets are incomplete."""
    num_ok = sum(record["status"] == OK for record in records)
    lines = [f"{num_ok} of {len(experiment.runs)} runs, {len(records) - num_ok} failed."]
    partial = {f"{n}: {what}" for r in records for n, what in r.get("partial", {}).items()}
    if partial:
        lines.append(f"Partial data: {'; '.join(sorted(partial))}.")
    environments = {
        f"gfsvi {r['version']}, JAX {e['jax']}, NumPy {e['numpy']}, Python {e['python']}, "
        f"{e['machine']} with {e['cores']} cores"
        for r in records
        if (e := r.get("environment"))
    }
    return [*lines, *(f"Made with {text}." for text in sorted(environments))]
