"""Searches that the machines of a cluster share: every state belongs to the machine that its hash names.

`part` is what each of the machines does, `search` what this one does meanwhile: it hands messages around, watches
limits, keeps `checkpoints`, and starts again from there where a machine is lost.
"""
