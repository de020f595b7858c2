"""`python -m memfence` is `memfence`."""

from memfence.cli.start import run

run()
