"""Herd's cat language: memory models as texts that say which executions are allowed."""
