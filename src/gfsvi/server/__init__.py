"""An HTTP server that predicts rows by a saved model: JSON in, JSON out."""

from gfsvi.server.application import Limits as Limits
from gfsvi.server.application import application as application
