"""What the environment is made of, and what is known about it."""
