"""What experiments measure."""
