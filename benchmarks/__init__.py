"""Benchmarks of speed, memory and accuracy; tests never assert their results."""
