"""Carrying out the runs of an experiment: on this machine or a cluster, once each."""
