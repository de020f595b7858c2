"""What is asked and what may be spent on it."""
