"""Settings of the whole suite.

`--hypothesis-profile=find` only looks for a counterexample, and does not make it smaller: for planted bugs.
"""

from __future__ import annotations

from hypothesis import Phase, settings

settings.register_profile("find", phases=[Phase.explicit, Phase.generate], database=None)
