"""A model card: what a model is, what it was made of and what not to use it for, in Markdown."""

import html
from collections.abc import Iterator, Mapping

from gfsvi.auto.description import described
from gfsvi.auto.fitted import Fitted
from gfsvi.auto.targets import limits_in_words
from gfsvi.tables.columns import AbstractColumn, Categories, Date, Dropped
from gfsvi.version import __version__

_ROWS = {
    "target": "Target",
    "rows": "Rows",
    "method": "Method",
    "predicts with": "Predicts with",
    "kernel": "Prior",
    "likelihood": "Scatter of observations",
}


def card(fitted: Fitted, name: str, scores: Mapping[str, float] | None = None) -> str:
    """The card of a model.

    Args:
        fitted: The model.
        name: What to call it.
        scores: What `Fitted.evaluate` found on rows that the model has not seen, if anything.
    """
    parts = [
        *_header(fitted, name),
        *_columns(fitted),
        *_scores(scores),
        *_cautions(fitted),
        *_use(fitted),
    ]
    return "\n".join(parts) + "\n"


def _header(fitted: Fitted, name: str) -> Iterator[str]:
    words = described(fitted)
    yield f"# {_plain(name)}\n"
    yield f"A Bayesian neural network for {fitted.task}, fitted with gfsvi {__version__}.\n"
    yield "| | |\n|---|---|"
    for key, title in _ROWS.items():
        if key in words:
            yield f"| {title} | {_plain(words[key])} |"
    if fitted.conformal != "none":
        kind = "rows set aside" if fitted.conformal == "split" else "training rows left out"
        yield f"| Promised coverage | {100 * fitted.level:g} % of intervals or sets, by {kind} |"
    if fitted.updates is not None:
        learned, forgotten = fitted.updates.num_learned, fitted.updates.num_forgotten
        yield f"| Since the fit | {learned} rows learned, {forgotten} forgotten |"
    yield ""


def _columns(fitted: Fitted) -> Iterator[str]:
    yield "## Inputs\n"
    if fitted.preparation is None:
        yield f"Numbers, in this order: {_plain(', '.join(fitted.feature_names))}.\n"
        return
    yield "| Column | How it is used |\n|---|---|"
    for column in fitted.preparation.columns:
        yield f"| {_plain(column.name)} | {_plain(_used(column))} |"
    yield ""
    for note in fitted.preparation.notes:
        yield f"- {_plain(note)}"
    yield ""


def _used(column: AbstractColumn) -> str:
    if isinstance(column, Dropped):
        return f"not at all: {column.reason}"
    if isinstance(column, Categories):
        shown = ", ".join(column.levels[:5]) + (", …" if len(column.levels) > 5 else "")
        return f"{len(column.levels)} categories: {shown}"
    return "dates" if isinstance(column, Date) else "numbers"


def _scores(scores: Mapping[str, float] | None) -> Iterator[str]:
    yield "## Scores\n"
    if scores is None:
        yield "None are recorded; `gfsvi card MODEL --table ROWS` adds those of rows that the "
        yield "model has not seen.\n"
        return
    yield "| Score | Model | Guess that ignores the inputs |\n|---|---|---|"
    for name in scores:
        if not name.endswith("_baseline"):
            guess = scores.get(f"{name}_baseline")
            beside = "" if guess is None else f"{guess:.4g}"
            yield f"| {name.replace('_', ' ')} | {scores[name]:.4g} | {beside} |"
    yield ""


def _cautions(fitted: Fitted) -> Iterator[str]:
    yield "## What to know before trusting it\n"
    for found in fitted.diagnostics:
        sentences = " ".join(f"{text.rstrip('.')}." for text in (found.message, found.remedy))
        yield f"- **{_plain(found.title)}** ({found.severity}). {_plain(sentences)}"
    limits = limits_in_words(fitted.posterior.likelihood, fitted.target)
    if limits is not None:
        yield f"- {_plain(limits)}"
    yield (
        "- Predictions are for rows like those of the fit. `novelty`, from 0 to 1, says how unlike "
        "them a row is; intervals widen as it grows, and above 0.5 they say little more than the "
        "prior does."
    )
    yield (
        "- It predicts and does not explain causes: changing an input in the world need not change "
        "the target as the model says.\n"
    )


def _use(fitted: Fitted) -> Iterator[str]:
    yield "## Use\n"
    yield "```bash\ngfsvi predict MODEL rows.csv --output predictions.csv\n```\n"
    answers = "predicted, p_<class>, entropy, mutual_information, novelty"
    if fitted.task == "regression":
        answers = "mean, std, lower, upper, epistemic_std, aleatoric_std, novelty"
    yield f"One row of predictions per row, with the columns {answers}."


def _plain(text: str) -> str:
    """Text that is neither markup nor the end of a cell."""
    return html.escape(" ".join(str(text).split()), quote=False).replace("|", "\\|")
