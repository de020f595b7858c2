"""Compiled programs that run: building them with the runtime, starting them, and reading what the runtime reports.

The exploration itself happens in the process of the program (`runtime/`). Nothing here judges: `questions/run.py` does.
"""
