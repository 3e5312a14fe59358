"""Files: atomic writes, model files that never run code, and checkpoints."""
