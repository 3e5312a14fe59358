"""Experiments: data sets x methods x folds, each run once, recorded and reported."""
