"""Walks: runs that somebody chooses step by step. The rules are those of `models/`; nothing here decides a verdict."""
