"""Uncertainty for a network that somebody else has trained."""

from gfsvi.post_hoc.posterior import posterior_of as posterior_of
