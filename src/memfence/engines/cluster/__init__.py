"""Searches that the machines of a cluster share: every state belongs to the machine that its hash names.

`part` and `cycle_part` are what each of the machines does; `rounds`, `search` and `cycle_search` what this one does
meanwhile: it hands messages around, watches limits, keeps `checkpoints`, and starts again where a machine is lost.
"""
