"""The methods outside of the library that tables are compared with."""

import sys
from pathlib import Path
from typing import NamedTuple

from gfsvi.bench.outside.environment import Environment

SCRIPTS = Path(__file__).parent / "scripts"
ENVIRONMENT = Environment(
    "table-peers",
    packages=(
        *("catboost==1.2.10", "ngboost==0.5.11", "pytabkit==1.7.3", "torch==2.13.0"),
        *("numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.9.1", "pandas==2.3.3"),
        *("autograd==1.9.1", "autograd-gamma==0.5.0", "formulaic==1.2.2", "lifelines==0.30.3"),
        *("lightning-utilities==0.15.3", "pytorch-lightning==2.6.6", "torchmetrics==1.9.0"),
        *("joblib==1.6.0", "threadpoolctl==3.8.0", "narwhals==2.28.0", "cloudpickle==3.1.2"),
        *("filelock==4.2.10", "fsspec==2026.9.0", "jinja2==3.1.6", "networkx==3.6.1"),
        *("mpmath==1.3.0", "sympy==1.14.0", "tqdm==4.70.1", "typing-extensions==4.16.0"),
        *("matplotlib==3.11.2", "plotly==7.1.0", "graphviz==0.21", "pyyaml==6.0.3"),
        *("psutil==7.2.2", "packaging==26.3", "python-dateutil==4.0.0", "pytz==2026.6"),
    ),
)


class Peer(NamedTuple):
    """A script that answers a fold, and whether it needs packages that are not ours."""

    script: str
    is_foreign: bool = True

    @property
    def command(self) -> tuple[str, str]:
        """The interpreter and the script, to which the folder of a fold is added."""
        python = str(ENVIRONMENT.python) if self.is_foreign else sys.executable
        return python, str(SCRIPTS / self.script)

    @property
    def is_ready(self) -> bool:
        """Whether what it needs is installed."""
        return ENVIRONMENT.is_ready if self.is_foreign else True


PEERS = {
    "catboost": Peer("fit_catboost.py"),
    "ngboost": Peer("fit_ngboost.py"),
    "realmlp": Peer("fit_realmlp.py"),
    "torch_ensemble": Peer("fit_deep_ensemble.py"),
    "sklearn_gp": Peer("fit_gaussian_process.py", is_foreign=False),
}
"""By the names that they have in experiments."""
