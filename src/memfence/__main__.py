"""`python -m memfence` is `memfence`."""

from memfence.cli.main import run

run()
