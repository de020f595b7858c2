"""The tables of the papers, measured again: what `memfence bench` runs, and how it writes them down.

Every row is one or a few `memfence` commands in processes of their own, so that it can be repeated by hand and its
memory is its own.
"""
