"""Mutation testing of the mathematics: faults of one place each, and the tests that notice them."""
