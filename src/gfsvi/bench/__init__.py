"""Experiments: data sets x methods x folds, run once each, recorded and reported."""
