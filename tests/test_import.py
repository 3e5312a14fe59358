import subprocess
import sys

SCRIPT = """
import jax
before = dict(jax.config.values)
import gfsvi, gfsvi.methods, gfsvi.kernels, gfsvi.networks, gfsvi.likelihoods, gfsvi.metrics
after = dict(jax.config.values)
changed = {name for name in before if before[name] != after[name]}
print(sorted(changed))
"""


def test_importing_changes_no_jax_setting():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
