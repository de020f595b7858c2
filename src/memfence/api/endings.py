"""What the endings of files tell, for the command line."""

from __future__ import annotations

from memfence.frontends.catalogue import LANGUAGES
from memfence.frontends.endings import is_part_of_program

__all__ = ["HEADERS_OF_PROGRAMS", "PARTS_OF_PROGRAMS", "is_part_of_program"]

HEADERS_OF_PROGRAMS = frozenset(ending for language in LANGUAGES for ending in language.headers)
PARTS_OF_PROGRAMS = HEADERS_OF_PROGRAMS | {ending for language in LANGUAGES for ending in language.suffixes}
