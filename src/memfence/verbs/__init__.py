"""The verbs and their options as tables: what can be said, what it means where, and the one place that refuses it.

The command line, its help and manual page, and the keywords of the Python API are made of these tables.
"""
