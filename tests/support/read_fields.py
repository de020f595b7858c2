"""Which fields of options are read while something runs: an option that nobody reads is ignored."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from memfence.program.load_options import COptions, LoadOptions
from memfence.questions.explore import ExploreOptions
from memfence.questions.run_result import RunOptions
from memfence.tasks.options import CheckOptions

COPYING = ("dataclasses.py", "records.py", "values.py", "<string>")
"""Who reads every field, to compare or to copy it."""


@contextmanager
def fields_read() -> Iterator[set[str]]:
    """The names of the fields that were read, of options of every kind."""
    read: set[str] = set()

    def seen(self: Any, name: str) -> Any:
        if not sys._getframe(1).f_code.co_filename.endswith(COPYING):
            read.add(name)
        return object.__getattribute__(self, name)

    with (
        mock.patch.object(CheckOptions, "__getattribute__", seen),
        mock.patch.object(LoadOptions, "__getattribute__", seen),
        mock.patch.object(COptions, "__getattribute__", seen),
        mock.patch.object(ExploreOptions, "__getattribute__", seen),
        mock.patch.object(RunOptions, "__getattribute__", seen),
    ):
        yield read
