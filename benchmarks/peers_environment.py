"""An environment for the libraries that ours is compared with, apart from the project's own."""

from pathlib import Path

from gfsvi.bench.outside.environment import Environment

ENVIRONMENT = Environment(
    "peers",
    packages=(
        *("torch==2.13.0", "gpytorch==1.15.2", "linear-operator==0.6.1"),
        *("numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.9.1", "joblib==1.6.0"),
        *("jaxtyping==0.3.11", "filelock==4.2.10", "fsspec==2026.9.0", "jinja2==3.1.6"),
        *("mpmath==1.3.0", "networkx==3.6.1", "opt-einsum==3.4.0", "sympy==1.14.0"),
        *("tqdm==4.70.1", "typing-extensions==4.16.0", "cloudpickle==3.1.2"),
        *("markupsafe==3.0.4", "narwhals==2.28.0", "threadpoolctl==3.8.0", "wadler-lindig==0.1.8"),
    ),
    # laplace-torch and what it imports; of what it asks for, torchvision is left out.
    alone=(
        *("laplace-torch==0.3", "curvlinops-for-pytorch==3.0.1", "backpack-for-pytorch==1.7.1"),
        *("asdfghjkl==0.1a4", "einconv==0.1.0", "einops==0.8.2", "lightning-utilities==0.15.3"),
        *("torchmetrics==1.9.0", "unfoldNd==0.2.3", "packaging==26.3"),
    ),
)


def python_of_peers() -> Path:
    """The interpreter of the environment, which is made if it is missing or has other versions."""
    return ENVIRONMENT.install()
