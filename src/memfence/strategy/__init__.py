"""Which engines answer a question, and in which order."""
