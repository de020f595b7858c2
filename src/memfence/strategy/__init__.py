"""Which engines answer a task, and in which order: `portfolio` is a list one can read."""
