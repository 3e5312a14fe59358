"""One training loop for every method: its settings, optimisers, history and steps."""

from gfsvi.training.history import Fit as Fit
from gfsvi.training.history import History as History
from gfsvi.training.loop import maximize as maximize
from gfsvi.training.optimizers import LBFGS as LBFGS
from gfsvi.training.optimizers import Adam as Adam
from gfsvi.training.optimizers import FullBatchUpTo as FullBatchUpTo
from gfsvi.training.optimizers import Optax as Optax
from gfsvi.training.settings import Progress as Progress
from gfsvi.training.settings import Training as Training
