"""Which rows to measure next: acquisition functions, the space of rows, and the search in it."""

from gfsvi.acquisition.base import AbstractAcquisition as AbstractAcquisition
from gfsvi.acquisition.confidence import Confidence as Confidence
from gfsvi.acquisition.improvement import Improvement as Improvement
from gfsvi.acquisition.information import Information as Information
from gfsvi.acquisition.pool import Pool as Pool
from gfsvi.acquisition.space import Space as Space
from gfsvi.acquisition.suggestions import Suggestions as Suggestions
from gfsvi.acquisition.suggestions import suggest as suggest
from gfsvi.acquisition.thompson import Thompson as Thompson
from gfsvi.acquisition.uncertainty import Uncertainty as Uncertainty
