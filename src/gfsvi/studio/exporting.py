"""What is seen as Python code, as a command line and as the TOML of an experiment."""

import csv
import dataclasses
import io
import json
import re
import shlex
from pathlib import PurePath

import numpy as np

from gfsvi.kernels import Known
from gfsvi.numerics.printing import DIGITS
from gfsvi.studio.building import kernel_as_written, kernel_of
from gfsvi.studio.field_code import field_python
from gfsvi.studio.workspace import Column, Scale, Workspace

MIN_ROWS = 10
"""That a fit to a table expects."""
HIDDEN = (100, 100)
"""The widths that `gfsvi fit` uses."""
POINTS = "points.csv"
_LINE = 88
_NEEDS_DATA = f"# Open a table or click points first: a fit needs {MIN_ROWS} rows to learn from."


def exported(workspace: Workspace) -> dict[str, str]:
    """The three forms, and the points as a table if they were clicked."""
    if workspace.kind == "field":
        return {"python": field_python(workspace), "command": _FIELDS, "toml": _FIELDS}
    has_rows = len(workspace.x) >= MIN_ROWS
    found = {
        "python": _python_of_fit(workspace) if has_rows else _python_of_prior(workspace),
        "command": command(workspace) if has_rows else _NEEDS_DATA,
        "toml": toml(workspace) if has_rows else _NEEDS_DATA,
    }
    if workspace.source == "points" and has_rows:
        found["points"] = points_table(workspace)
    return found


_FIELDS = "# Fields are fitted in Python: rows are (x1, x2, component)."


def kernel_code(workspace: Workspace) -> str:
    """The kernel as a user would write it, on several lines if it is long."""
    code = _code(workspace)
    inner = code.removeprefix("Known(").removesuffix(")")
    if len(code) <= _LINE or len(workspace.terms) == 1:
        return code
    return "Known(\n    " + inner.replace(") + ", ")\n    + ").replace(" * ", "\n    * ") + "\n)"


def _code(workspace: Workspace) -> str:
    """The kernel on one line, in double quotes where no name makes that hard."""
    code = kernel_as_written(workspace).code(DIGITS + 4)
    return code if '"' in code or "\\" in code else code.replace("'", '"')


def command(workspace: Workspace) -> str:
    """The command line that fits the table under this prior."""
    name = _file_name(workspace)
    words = ["gfsvi", "fit", name, "--target", workspace.target]
    words += ["--kernel", _code(workspace)]
    stem = PurePath(name).stem or "model"
    words += ["--likelihood", "normal", "--hold-out", "none"]
    words += ["--output", f"{stem}.gfsvi", "--report", f"{stem}.html"]
    text = shlex.join(words)
    if workspace.hidden != HIDDEN:
        widths = ", ".join(map(str, workspace.hidden))
        text += f"\n# The command uses the default network; for widths {widths} use Python."
    return text


def toml(workspace: Workspace) -> str:
    """An experiment that compares the network with the exact process under this prior."""
    kernel = Known(kernel_of(workspace)).code(DIGITS + 4)
    data = quoted(f"{_file_name(workspace)}:{workspace.target}")
    return f"""\
# gfsvi bench run prior.toml --output results
title = "A prior from the studio"
task = "regression"
datasets = [{data}]
folds = 5

[settings]
# On the standardised scale: features by number, distances in standard deviations.
kernel = {quoted(kernel)}
network = {{ hidden = {list(workspace.hidden)} }}

[methods.gfsvi]
[methods.exact_gp]

[report]
metrics = ["log_predictive_density", "mse"]
"""


def quoted(text: str) -> str:
    """A text in Python and TOML; every escape of JSON is one of both."""
    return json.dumps(text, ensure_ascii=False)


def _python_of_fit(workspace: Workspace) -> str:
    code = kernel_code(workspace)
    name = _file_name(workspace)
    stem = PurePath(name).stem or "model"
    hidden = f"    hidden={workspace.hidden!r},\n" if workspace.hidden != HIDDEN else ""
    return f"""\
import pandas as pd

from gfsvi import GFSVIRegressor
from gfsvi.kernels import {", ".join(_names(code))}

# Known: the fit uses this prior as it is. Length scales in the units of the columns, variances in
# those of the standardised target. Leave out Known(...) to let the data change them.
kernel = {code}

{_table(workspace)}
regressor = GFSVIRegressor(
    kernel=kernel,
    likelihood="normal",  # whose noise is learned
    held_out="none",  # all rows, as in the studio
{hidden}    random_state=0,
)
regressor.fit_table(table, target={quoted(workspace.target)})
regressor.save({quoted(f"{stem}.gfsvi")})
regressor.report({quoted(f"{stem}.html")})
"""


def _table(workspace: Workspace) -> str:
    if workspace.source == "points":
        columns = {column.name: _cells(column, workspace) for column in workspace.columns}
        columns[workspace.target] = [float(f"{value:.6g}") for value in workspace.y]
        cells = "".join(
            f"        {quoted(name)}: {values!r},\n" for name, values in columns.items()
        )
        return f"table = pd.DataFrame(\n    {{\n{cells}    }}\n)"
    name = _file_name(workspace)
    reader = "read_parquet" if PurePath(name).suffix in (".parquet", ".pq") else "read_csv"
    return f"table = pd.{reader}({quoted(name)})"


def _python_of_prior(workspace: Workspace) -> str:
    column = workspace.columns[0]
    code = kernel_code(_on_its_only_column(workspace))
    return f"""\
import matplotlib.pyplot as plt
import numpy as np

from gfsvi.kernels import {", ".join(_names(code))}
from gfsvi.plots import plot_prior

kernel = {code}
{_axis(column, workspace)}
axes = plot_prior(kernel, x)  # around a mean of zero
axes.set(xlabel={quoted(column.name)}, ylabel={quoted(workspace.target)})
plt.savefig("prior.png")
"""


def _on_its_only_column(workspace: Workspace) -> Workspace:
    """The same prior in the units of the axes, whose names `plot_prior` does not know."""
    terms = tuple(
        dataclasses.replace(
            term, factors=tuple(dataclasses.replace(f, columns=()) for f in term.factors)
        )
        for term in workspace.terms
    )
    features = tuple(f._replace(spread=1.0) for f in workspace.scale.features)
    scale = Scale(features, np.zeros(len(features)), workspace.scale.target_centre, 1.0)
    return dataclasses.replace(workspace, terms=terms, scale=scale)


def _axis(column: Column, workspace: Workspace) -> str:
    low, high = workspace.view.low, workspace.view.high
    if column.kind != "date":
        return f"x = np.linspace({low:.6g}, {high:.6g}, 300)"
    days = np.array([np.floor(low), np.ceil(high)]).astype("timedelta64[D]")
    first, last = np.datetime64(column.first or "2000-01-01", "D") + days
    return f'x = np.arange("{first}", "{last}", dtype="datetime64[D]")'


def _cells(column: Column, workspace: Workspace) -> list[object]:
    values = workspace.x[:, column.features[0]]
    if column.kind != "date":
        return [float(f"{value:.6g}") for value in values]
    moments = np.round(values * 86_400).astype("timedelta64[s]")
    return [str(np.datetime64(column.first or "2000-01-01", "s") + passed) for passed in moments]


def points_table(workspace: Workspace) -> str:
    """The points that were clicked, as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(column.name for column in workspace.columns), workspace.target])
    cells = [_cells(column, workspace) for column in workspace.columns]
    writer.writerows(zip(*cells, (f"{value:.6g}" for value in workspace.y), strict=True))
    return text.getvalue()


def _file_name(workspace: Workspace) -> str:
    """The name of the table without any folder, which the browser does not tell."""
    if workspace.source == "points":
        return POINTS
    return PurePath(workspace.table_name.replace("\\", "/")).name or "table.csv"


def _names(code: str) -> list[str]:
    """The kernels that a code uses."""
    without_texts = re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", "", code)
    found = set(re.findall(r"\b([A-Z]\w*)\(", without_texts))
    return sorted(found, key=lambda name: (not name.isupper(), name))
