"""Settings of the whole suite.

Generated programs are the same ones in every run, so that a red suite is red again. `--hypothesis-profile=random` draws
new ones (`make test-all` does); `--hypothesis-profile=find` only looks for a counterexample, and does not make it
smaller: for planted bugs.
"""

from __future__ import annotations

from hypothesis import Phase, settings

settings.register_profile("steady", derandomize=True)
settings.register_profile("random", derandomize=False)
settings.register_profile("find", phases=[Phase.explicit, Phase.generate], database=None)
settings.load_profile("steady")
