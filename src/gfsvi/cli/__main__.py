"""`python -m gfsvi.cli` is `gfsvi`."""

import sys

from gfsvi.cli.main import main

sys.exit(main())
