"""The curves of the benchmark of optimisation."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.recording import Record

STYLES = {"gfsvi": "-", "SingleTaskGP": "--", "deep ensemble": "-.", "random": ":"}


def draw(records: list[Record], path: Path) -> None:
    """Mean regrets with standard errors, a panel per problem."""
    names = list(dict.fromkeys(record["problem"] for record in records))
    figure, axes = plt.subplots(1, len(names), figsize=(3.2 * len(names), 3), squeeze=False)
    for axis, name in zip(axes[0], names, strict=True):
        for method, style in STYLES.items():
            chosen = [r for r in records if (r["problem"], r["method"]) == (name, method)]
            if not chosen:
                continue
            regrets = np.array([record["regret"] for record in chosen])
            mean, error = regrets.mean(axis=0), regrets.std(axis=0) / len(regrets) ** 0.5
            rows = chosen[0]["start"] + chosen[0]["batch"] * np.arange(len(mean))
            axis.plot(rows, mean, style, label=method)
            axis.fill_between(rows, mean - error, mean + error, alpha=0.15, linewidth=0)
            last = f"{mean[-1]:.3g} +- {error[-1]:.2g}"
            told = np.mean([record["seconds_a_suggestion"] for record in chosen])
            print(f"{name} {method} ({len(chosen)} seeds): {last}, {told:.2f} s a suggestion")
        axis.set_title(name)
        axis.set_xlabel("rows measured")
    axes[0, 0].set_ylabel("regret")
    axes[0, 0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
