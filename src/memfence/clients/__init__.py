"""Clients of an object: named in a few lines, made here, run one after the other, and compared with what threads see.

May touch questions and what comes before; prints nothing.
"""
