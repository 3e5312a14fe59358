"""League of players of a strategy game."""

from gfsvi.bench.data.table_file import AbstractTableFile


class Skillcraft(AbstractTableFile):
    """League of players of a strategy game.

    Gaps written as question marks, and an identifier.
    """

    target = "LeagueIndex"
    shape = (3395, 19)
    sha256 = "9201edfe8fa842a9a5a53ed2952a2d630cb42b2e7dca6ce982e99455f82abc8b"
