"""The verbs of memfence for Python and for the command line: the same calls, the same words, the same results.

A verb takes a path, a text or a loaded program, and its options as keywords. One file per verb; `inputs` reads what all
of them take. Nothing here prints or exits.
"""

from __future__ import annotations

from importlib import import_module

from memfence.tasks.shown import write_by

write_by(lambda result, form: import_module("memfence.report.described").written(result, form))
