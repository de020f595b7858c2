"""What the endings of files tell, for the command line."""

from __future__ import annotations

from memfence.frontends.endings import is_part_of_program

__all__ = ["is_part_of_program"]
