"""Settings of the whole suite.

Generated programs are the same ones in every run, so that a red suite is red again. `--hypothesis-profile=random` draws
new ones (`make test-all` does); `--hypothesis-profile=find` only looks for a counterexample, and does not make it
smaller: for planted bugs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, settings

settings.register_profile("steady", derandomize=True)
settings.register_profile("random", derandomize=False)
settings.register_profile("find", phases=[Phase.explicit, Phase.generate], database=None)
settings.load_profile("steady")


@pytest.fixture(scope="session", autouse=True)
def own_cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Commands that tests run remember nothing of the user's, and leave nothing there."""
    folder = tmp_path_factory.mktemp("cache")
    os.environ["MEMFENCE_CACHE"] = str(folder)
    return folder


@pytest.fixture(autouse=True)
def nothing_is_remembered() -> Iterator[None]:
    """A command that a test runs in this process switches the cache on; for the next test it is off."""
    yield
    from memfence import cache_folder

    cache_folder.switch(on=False)
