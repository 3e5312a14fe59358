"""Speed and memory, measured; never asserted in tests."""
