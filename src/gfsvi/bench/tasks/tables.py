"""Tables as people have them, by methods with their defaults, peers outside of the library too."""

from gfsvi.bench.data.raw_tables import raw_table
from gfsvi.bench.experiment import Run
from gfsvi.bench.outside.calling import predicted_by_peer
from gfsvi.bench.outside.peers import PEERS
from gfsvi.bench.own_fits import predicted_by_us
from gfsvi.bench.tabular import scores
from gfsvi.bench.task import AbstractTask, Arrays


class Tables(AbstractTask):
    """Scores and fit times on raw tables, for numbers and for labels."""

    peers = tuple(PEERS)

    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> dict[str, float]:
        fold, seed = raw_table(run.dataset).fold(run.fold), run.fold + 1000 * run.seed
        peer = PEERS.get(run.settings["method"])
        if peer is None:
            return scores(predicted_by_us(run.settings, fold, seed), fold)
        return scores(predicted_by_peer(peer, fold, seed), fold)

    def datasets(self, run: Run) -> tuple[str, ...]:
        """None: a table is read as it is written, not as arrays."""
        return ()
